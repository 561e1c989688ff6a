//! The contract: tools are checked when they arrive; calls are validated, repaired, or answered with a re-ask.
//!
//! A [`Call`] can only be constructed here, so every call outside this module is valid.

mod bad_call;
mod call_check;
mod call_rules;
mod check_budget;
pub mod coerce;
pub mod json;
mod reask;
mod report;
mod response_format;
mod schema;
mod strict_schema;
mod tool_cache;
mod tool_set;
mod violation;

pub use crate::dialect::resolve_name;
pub use bad_call::{BadCall, CallText};
pub use call_check::{Arguments, Call, CheckedArguments, RawCall, check_arguments};
pub use call_rules::CallRules;
pub use check_budget::CheckBudget;
pub use reask::{
    accepted_message, act_message, choice_message, format_message, history_call, text_only_message, tool_error_message,
    violation_message,
};
pub use report::{CallTally, ContractEvent, Outcome, Report};
pub use response_format::{JsonSchema, ResponseFormat};
pub use schema::SchemaLimits;
pub use tool_cache::ToolCache;
pub use tool_set::{Tool, ToolPlace, ToolSet, with_parameters};
pub use violation::{Violation, ViolationKind};
