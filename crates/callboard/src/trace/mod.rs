//! Traces: what happened in one turn, step by step, with its times, and the figures that turns add up to.
//!
//! A session fills a [`TraceRecorder`] while it runs. At its end the trace is filed: counted for `/metrics`, noted for the
//! store, and queued for a collector where one is set. Nothing here makes a turn wait. What was said is recorded only where
//! the settings allow it.

mod caller;
mod content;
mod context;
#[cfg(test)]
mod documented;
mod figures;
mod millis;
mod model_names;
mod notebook;
pub mod otlp;
mod recorder;
mod tool_call;
mod traces;
mod turn_trace;
mod upstream_request;

pub use caller::Caller;
pub use content::{Input, Output};
pub use context::TraceContext;
pub use figures::{Figure, Figures};
pub use millis::Millis;
pub use recorder::{TraceRecorder, TurnAbout};
pub use tool_call::{RunBy, ToolCall, ToolTiming};
pub use traces::{TraceRules, Traces};
pub use turn_trace::{ContractNote, Outcome, TokenUsage, TraceError, TurnTrace};
pub use upstream_request::UpstreamRequest;
