//! Writes a response as one object, or as a stream of events: numbered without gaps, with the finished object in the last one.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::object::ResponseObject;
use super::stream_event::StreamEvent;
use crate::contract::Report;
use crate::turn::Event;
use crate::wire::reply_writer::write_contract_comment;
use crate::wire::{ApiError, ReplyEnd, ReplyWriter};

/// How events are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// As server-sent events.
    ServerSent,
    /// Each as one line of JSON, which is one message of a WebSocket.
    Lines,
}

/// Writes one response, as events or as one object.
pub struct ResponseWriter {
    object: ResponseObject,
    /// None for one object.
    framing: Option<Framing>,
    next: u64,
    events: Vec<StreamEvent>,
    /// Whether the usage is estimated.
    estimated: bool,
}

#[derive(Serialize)]
struct Numbered<'a> {
    #[serde(flatten)]
    event: &'a StreamEvent,
    sequence_number: u64,
}

impl ResponseWriter {
    /// A writer for a new response: events where a framing is given, else one object.
    #[must_use]
    pub fn new(object: ResponseObject, framing: Option<Framing>) -> Self {
        Self { object, framing, next: 0, events: Vec::new(), estimated: false }
    }

    fn write(&mut self, out: &mut String) {
        for event in self.events.drain(..) {
            let Some(framing) = self.framing else { continue };
            let numbered = Numbered { event: &event, sequence_number: self.next };
            let Ok(text) = serde_json::to_string(&numbered) else { continue };
            self.next += 1;
            let _ = match framing {
                Framing::ServerSent => write!(out, "event: {}\ndata: {text}\n\n", kind_of(&text)),
                Framing::Lines => writeln!(out, "{text}"),
            };
        }
    }
}

impl ReplyWriter for ResponseWriter {
    fn start(&mut self, out: &mut String) {
        if self.framing.is_some() {
            let response = self.object.to_text();
            self.events.push(StreamEvent::Created { response: response.clone() });
            self.events.push(StreamEvent::InProgress { response });
            self.write(out);
        }
    }

    fn event(&mut self, event: Event, out: &mut String) {
        self.object.stream_event(event, &mut self.events);
        self.write(out);
    }

    fn record(&mut self, event: Event) {
        self.object.event(event);
    }

    /// Ends all open items. The object is final and can be stored before [`Self::finish`] writes the last event.
    fn complete(&mut self, end: ReplyEnd<'_>, out: &mut String) {
        self.estimated = end.usage.estimated;
        self.object.stream_settling(&end, &mut self.events);
        self.write(out);
    }

    fn finish(&mut self, report: &Report, out: &mut String) {
        let Some(framing) = self.framing else { return };
        if framing == Framing::ServerSent {
            if self.estimated {
                out.push_str(": callboard-usage estimated\n\n");
            }
            let _ = write!(out, ": callboard-contract {report}\n\n");
        }
        self.events.push(self.object.last_stream_event());
        self.write(out);
        write_end(framing, out);
    }

    /// Server-sent events have the error before the failed object. A WebSocket has not: clients would take it for an error of the
    /// next response.
    fn fail(&mut self, error: &ApiError, report: &Report, out: &mut String) {
        self.object.fail(error);
        let Some(framing) = self.framing else { return };
        if framing == Framing::ServerSent {
            write_contract_comment(report, out);
            self.events.push(error_event(error));
        }
        self.events.push(StreamEvent::Failed { response: self.object.to_text() });
        self.write(out);
        write_end(framing, out);
    }

    fn cancel(&mut self) {
        self.object.cancel();
    }

    fn take_body(&mut self) -> String {
        Box::<str>::from(self.object.to_text()).into_string()
    }

    fn response(&self) -> Option<&ResponseObject> {
        Some(&self.object)
    }
}

/// Server-sent events end with a mark; on a WebSocket it would be taken for an event of the next response.
fn write_end(framing: Framing, out: &mut String) {
    if framing == Framing::ServerSent {
        out.push_str("data: [DONE]\n\n");
    }
}

/// The kind of an event, which is the first field of its text.
fn kind_of(text: &str) -> &str {
    text.strip_prefix("{\"type\":\"").and_then(|rest| rest.split('"').next()).unwrap_or("message")
}

/// Some clients of a stream read the error at the top, as the types say, and some inside, as it is sent in practice.
fn error_event(error: &ApiError) -> StreamEvent {
    let body: Value = serde_json::from_str(&error.to_json()).unwrap_or_default();
    let inner = body.get("error").cloned().unwrap_or_else(|| json!({"message": error.message}));
    let (code, message, param) = (error.code.clone(), error.message.clone(), error.param.clone());
    StreamEvent::Error { code, message, param, error: inner }
}
