//! Traces: the steps of one turn with their times, and the counts over all turns. A request that is passed through and a tool that is
//! run by hand have a trace too.
//!
//! A session records [`TraceEvent`]s while it runs. When its [`TraceRecorder`] is dropped, the trace is counted for `/metrics`
//! and queued for the store and for a collector where one is set. Nothing here makes a turn wait. Messages, arguments and
//! results are recorded only where the settings allow it.

mod bad_call;
mod call_summary;
mod content;
mod context;
mod counted_model_names;
#[cfg(test)]
mod documented_fields;
mod event;
mod golden_page;
mod listed_call;
mod millis;
pub mod otlp;
mod recorded_reply;
mod recorder;
mod sse_lines;
mod store_queue;
mod tool_call;
mod trace_parent;
mod trace_sink;
mod turn_counts;
mod turn_metrics;
mod turn_trace;
mod upstream_request;

pub use bad_call::{BadCall, RecordedCall};
pub use call_summary::{CallFigures, CallSummary};
pub use content::{RecordedInput, RecordedOutput};
pub use context::TraceContext;
pub use event::TraceEvent;
pub use golden_page::{CharacterFile, GoldenPage, NotReproducible, RecordedTurn, golden_page};
pub use listed_call::{ListedCall, ListedTurn};
pub use millis::Millis;
pub use recorder::TraceRecorder;
pub use tool_call::{RunBy, ToolCall, ToolTiming};
pub use trace_parent::TraceParent;
pub use trace_sink::{ClientRequest, TraceRules, Traces, TurnStart};
pub use turn_counts::{TurnCount, TurnCounts};
pub use turn_metrics::describe_metrics;
pub use turn_trace::{ContractNote, PassedThrough, TOOL_ENDPOINT, TokenUsage, TraceError, TurnOutcome, TurnTrace};
pub use upstream_request::UpstreamRequest;
