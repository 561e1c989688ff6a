//! The rehearsal model: rules that pick tools from the words said, so that everything can be tried with nothing installed.
//!
//! It takes the body of a chat request and gives the body of a chat completion. It is pure and deterministic, knows no
//! tool and no domain, and makes no call when it is unsure. Ids are the caller's to give.

mod catalogue;
mod chunks;
mod clauses;
mod context;
mod conversation;
mod cues;
mod fill;
mod lexicon;
mod moments;
mod mood;
mod numbers;
mod plan;
mod relay;
mod reply;
mod role;
mod side;
mod stem;
mod synonyms;
mod text_sort;
#[cfg(test)]
mod trials;
mod units;
mod vocabulary;
mod words;

pub use reply::{MODEL, reply};
