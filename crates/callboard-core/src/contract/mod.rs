//! The contract: tools are checked when they arrive, calls are validated, repaired, or phrased as a re-ask.
//!
//! A [`Call`] can only be made here, so a call that was not validated cannot exist elsewhere.

mod cache;
mod check;
pub mod coerce;
mod format;
pub mod json;
mod reask;
mod report;
mod rules;
mod strict;
mod tool_name;
mod tool_set;
mod violation;

pub use cache::ToolCache;
pub use check::{Arguments, Call, CheckedArguments, RawCall, check_arguments};
pub use format::ResponseFormat;
pub use reask::{accepted_words, choice_words, cleaned_call, format_words, stage_words, violation_words, words_only};
pub use report::{CallTally, ContractEvent, Outcome, Report};
pub use rules::CallRules;
pub use tool_name::resolve_name;
pub use tool_set::{SchemaLimits, Tool, ToolPlace, ToolSet};
pub use violation::{Violation, ViolationKind};
