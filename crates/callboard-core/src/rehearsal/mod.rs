//! The rehearsal model: a rule-based stand-in for an LLM, so that Callboard can be tried with nothing installed.
//!
//! It maps the body of a chat request to the body of a chat completion. It is pure and deterministic, knows no
//! tool and no domain, and makes no call when it is unsure. The caller assigns ids.

mod catalogue;
mod clauses;
mod context;
mod conversation;
mod counted_things;
mod example_phrases;
mod fill;
mod lexicon;
mod moments;
mod mood;
mod noun_phrases;
mod numbers;
mod own_or_other;
mod persona;
mod plan;
mod prepositions;
mod reply;
mod role;
mod stem;
mod synonyms;
mod text_sort;
#[cfg(test)]
mod trials;
mod unit_fit;
mod vocabulary;
mod word_form;
mod words;

pub use reply::{MODEL, reply};
