//! Traces: what happened in one turn, step by step, with its times, and the figures that turns add up to.
//!
//! A session records [`TraceEvent`]s while it runs. When its [`TraceRecorder`] is dropped, the trace is counted for `/metrics`
//! and queued for the store and for a collector where one is set. Nothing here makes a turn wait. Messages, arguments and
//! results are recorded only where the settings allow it.

mod caller;
mod content;
mod context;
#[cfg(test)]
mod documented;
mod event;
mod figures;
mod hex;
mod millis;
mod model_names;
pub mod otlp;
mod pending;
mod recorder;
mod tool_call;
mod traces;
mod turn_trace;
mod upstream_request;

pub use caller::Caller;
pub use content::{Input, Output};
pub use context::TraceContext;
pub use event::TraceEvent;
pub use figures::{Figure, Figures};
pub use millis::Millis;
pub use recorder::TraceRecorder;
pub use tool_call::{RunBy, ToolCall, ToolTiming};
pub use traces::{TraceRules, Traces, TurnAbout};
pub use turn_trace::{ContractNote, Outcome, TokenUsage, TraceError, TurnTrace};
pub use upstream_request::UpstreamRequest;
