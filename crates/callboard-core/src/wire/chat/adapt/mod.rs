//! Requests in a form that the model server at hand takes.
//!
//! Servers and models refuse fields, roles and content shapes that others need. What one of them refuses is read from its
//! refusal (`learn`), remembered by the caller as a set of quirks, and left out or rewritten in the next request
//! (`adapt`); where there are no native tools, they go into the prompt. Histories are healed first. JSON in, JSON out:
//! nothing here asks a server or keeps a memory.

mod alternation;
mod apply;
mod call_ids;
mod content;
mod heal;
mod learn;
mod message;
mod prompt;
mod quirk;
mod response_format;
mod system;
#[cfg(test)]
mod tests;

pub use apply::adapt;
pub use heal::heal;
pub use learn::{Refusal, is_validation_error, learn, learn_all};
pub use prompt::Family;
pub use quirk::Quirk;
