//! Traces for OpenTelemetry collectors: OTLP over HTTP in its JSON form, with the semantic conventions for generative AI.
//!
//! The form is small and fixed, so it is written here; a client library for it would bring more code than it saves. A
//! collector that is slow or gone costs turns nothing: what finds no room in the outbox is dropped and counted.

mod attributes;
mod collector;
mod export;
mod messages;
mod outbox;
mod server_address;
mod span;
mod spans;

pub use collector::{Collector, CollectorError};
pub use export::{export, export_rest};
pub use outbox::Outbox;
pub use spans::request;
