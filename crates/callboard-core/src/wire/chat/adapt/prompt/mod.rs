//! Tools in the prompt, for servers and models without native tools.
//!
//! The tools and the rules for calls go into the system message, calls and results of the history become text, all in the
//! form that the model's family was trained on. What the model then writes is read by `dialect`.

mod calls;
mod family;
mod history;
mod instructions;
mod put_tools_in_prompt;
mod results;
#[cfg(test)]
mod round_trip;
mod tagged_calls;

pub use family::Family;
pub(super) use put_tools_in_prompt::{put_tools_in_prompt, rules, write_history};
