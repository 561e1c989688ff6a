//! One span in OTLP's JSON form: ids as hexadecimal text, times as nanoseconds in text.

use serde_json::{Value, json};

use super::super::Millis;
use super::attributes::Attributes;
use crate::{hex, random};

/// What a span is to the one that holds it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// Which trace a span belongs to, and when that began.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) trace_id: String,
    pub(super) parent: Option<String>,
    pub(super) state: Option<String>,
    pub(super) started_at_ms: i64,
}

/// A span before it is written.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) start: Millis,
    pub(super) duration: Millis,
    pub(super) attributes: Attributes,
    pub(super) events: Vec<Value>,
    /// The kind of error that it ended with.
    pub(super) error: Option<String>,
}

impl Span {
    /// A span with an id of its own.
    pub(super) fn new(name: String, kind: Kind, start: Millis, duration: Millis) -> Self {
        let attributes = Attributes::default();
        Self { id: new_id(), name, kind, start, duration, attributes, events: Vec::new(), error: None }
    }

    /// The span as JSON.
    pub(super) fn into_value(self, frame: &Frame) -> Value {
        let end = Millis(self.start.0.saturating_add(self.duration.0));
        let attributes = self.attributes.some_text("error.type", self.error.as_deref());
        let mut span = json!({
            "traceId": frame.trace_id,
            "spanId": self.id,
            "name": self.name,
            "kind": self.kind as u8,
            "startTimeUnixNano": frame.nanos(self.start),
            "endTimeUnixNano": frame.nanos(end),
            "attributes": attributes.into_value(),
            "events": self.events,
            "status": if self.error.is_some() { json!({"code": 2}) } else { json!({}) },
        });
        for (name, value) in [("parentSpanId", &frame.parent), ("traceState", &frame.state)] {
            if let (Some(value), Some(object)) = (value, span.as_object_mut()) {
                object.insert(name.to_owned(), value.as_str().into());
            }
        }
        span
    }
}

impl Frame {
    /// Something that happened within a span.
    pub(super) fn event(&self, name: &str, at: Millis, attributes: Attributes) -> Value {
        json!({"name": name, "timeUnixNano": self.nanos(at), "attributes": attributes.into_value()})
    }

    fn nanos(&self, since: Millis) -> String {
        let started = u128::try_from(self.started_at_ms).unwrap_or_default() * 1_000_000;
        (started + since.0.as_nanos()).to_string()
    }
}

fn new_id() -> String {
    hex::encode(&random::bytes::<8>())
}
