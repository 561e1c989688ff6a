//! One span in OTLP's JSON form: ids as hexadecimal text, times as nanoseconds in text, attributes as a list of keys whose
//! values name their type.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::{Millis, TurnTrace};

/// The side of an exchange that a span is on.
#[derive(Debug, Clone, Copy)]
pub(super) enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// A span before it is written.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start: Millis,
    pub(super) duration: Millis,
    pub(super) attributes: Attributes,
    pub(super) events: Vec<Value>,
    /// The type of the error that it ended with.
    pub(super) error: Option<String>,
}

impl Span {
    /// The span as JSON.
    pub(super) fn into_value(mut self, parent: Option<&str>, trace: &TurnTrace) -> Value {
        let end = Millis(self.start.0.saturating_add(self.duration.0));
        self.attributes.text("error.type", self.error.as_deref());
        let mut span = json!({
            "traceId": trace.context.trace_id,
            "spanId": self.id,
            "name": self.name,
            "kind": self.kind as u8,
            "startTimeUnixNano": nanos(trace, self.start),
            "endTimeUnixNano": nanos(trace, end),
            "attributes": self.attributes.0,
            "events": self.events,
            "status": if self.error.is_some() { json!({"code": 2}) } else { json!({}) },
        });
        for (name, value) in [("parentSpanId", parent), ("traceState", trace.context.state.as_deref())] {
            if let (Some(value), Some(object)) = (value, span.as_object_mut()) {
                object.insert(name.to_owned(), value.into());
            }
        }
        span
    }
}

/// An event within a span.
pub(super) fn event<'a>(
    trace: &TurnTrace,
    name: &str,
    at: Millis,
    texts: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Value {
    let mut attributes = Attributes::default();
    for (key, text) in texts {
        attributes.text(key, text);
    }
    json!({"name": name, "timeUnixNano": nanos(trace, at), "attributes": attributes.0})
}

fn nanos(trace: &TurnTrace, since: Millis) -> String {
    let started = u128::try_from(trace.started_at_ms).unwrap_or_default() * 1_000_000;
    (started + since.0.as_nanos()).to_string()
}

/// A list of attributes. Values that are `None` are left out.
#[derive(Debug, Default)]
pub(super) struct Attributes(pub(super) Vec<Value>);

impl Attributes {
    pub(super) fn text<'a>(&mut self, key: &str, value: impl Into<Option<&'a str>>) -> &mut Self {
        self.push(key, value.into().map(|value| json!({"stringValue": value})))
    }

    /// Adds a list of one text.
    pub(super) fn list_of(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        self.push(key, value.map(|value| json!({"arrayValue": {"values": [{"stringValue": value}]}})))
    }

    /// Adds a whole number. OTLP writes them as text, so that 64 bits survive.
    pub(super) fn number(&mut self, key: &str, value: impl Into<Option<u64>>) -> &mut Self {
        self.push(key, value.into().map(|value| json!({"intValue": value.to_string()})))
    }

    pub(super) fn seconds(&mut self, key: &str, value: Option<Duration>) -> &mut Self {
        self.push(key, value.map(|value| json!({"doubleValue": value.as_secs_f64()})))
    }

    pub(super) fn truth(&mut self, key: &str, value: bool) -> &mut Self {
        self.push(key, Some(json!({"boolValue": value})))
    }

    fn push(&mut self, key: &str, value: Option<Value>) -> &mut Self {
        self.0.extend(value.map(|value| json!({"key": key, "value": value})));
        self
    }
}
