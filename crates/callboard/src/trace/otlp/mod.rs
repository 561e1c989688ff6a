//! Traces for OpenTelemetry collectors: OTLP over HTTP in its JSON form, with the semantic conventions for generative AI.
//!
//! The form is small and fixed, so it is written here; a client library for it would bring more code than it saves. A slow or
//! missing collector does not slow turns down: traces that find no room in the outbox are dropped and counted.

mod chat_messages;
mod collector_settings;
mod export;
mod outbox;
mod server_address;
mod span;
mod turn_spans;

pub use collector_settings::{Collector, CollectorError};
pub use export::{export, export_rest};
pub use outbox::Outbox;
pub use turn_spans::request;
