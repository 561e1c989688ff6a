//! Calls by constrained decoding, for servers that can force the form of an answer and do not force calls.
//!
//! A call is made in two requests. The first asks which tool is to be called, its answer constrained to the names on offer and,
//! where a call is not required, `none`. The second asks for the arguments of that tool, constrained to its schema; without a tool
//! it asks for an answer in words, which streams as any other. What comes back is read and checked like every reply.

mod answer;
mod choice;
mod grammar_schema;
mod plan;
mod refusal;
mod wording;

pub use answer::{arguments_request, text_request};
pub use choice::{ToolDecision, choice_request, read_decision};
pub use plan::{Plan, ToolQuestion, plan};
pub use refusal::is_refused;
