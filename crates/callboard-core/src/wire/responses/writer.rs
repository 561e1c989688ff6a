//! A response as a stream: every event with its number, without gaps, and the finished object in the last one.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::object::ResponseObject;
use super::stream_event::StreamEvent;
use crate::contract::Report;
use crate::turn::Event;
use crate::wire::reply_writer::write_contract_comment;
use crate::wire::{ApiError, ReplyEnd};

/// How events are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// As server-sent events.
    ServerSent,
    /// Each as one line of JSON, which is one message of a WebSocket.
    Lines,
}

/// Writes the events of one response.
pub struct EventWriter {
    object: ResponseObject,
    framing: Framing,
    next: u64,
    events: Vec<StreamEvent>,
    /// Whether the usage is estimated.
    estimated: bool,
}

#[derive(Serialize)]
struct Numbered<'a> {
    #[serde(flatten)]
    notice: &'a StreamEvent,
    sequence_number: u64,
}

impl EventWriter {
    /// A writer for a response that has not begun.
    #[must_use]
    pub fn new(object: ResponseObject, framing: Framing) -> Self {
        Self { object, framing, next: 0, events: Vec::new(), estimated: false }
    }

    /// Writes that the response has begun.
    pub fn begin(&mut self, out: &mut String) {
        let response = self.object.to_text();
        self.events.push(StreamEvent::Created { response: response.clone() });
        self.events.push(StreamEvent::InProgress { response });
        self.write(out);
    }

    /// Writes one event of the turn.
    pub fn event(&mut self, event: Event, out: &mut String) {
        self.object.stream_event(event, &mut self.events);
        self.write(out);
    }

    /// Ends all open items. The object is final and can be stored before [`Self::finish`] writes the last event.
    pub fn settle(&mut self, end: &ReplyEnd<'_>, out: &mut String) {
        self.estimated = end.usage.estimated;
        self.object.stream_settling(end, &mut self.events);
        self.write(out);
    }

    /// Writes the last event of a response that is settled, and before it what was done to keep the contract.
    pub fn finish(&mut self, report: &Report, out: &mut String) {
        if self.framing == Framing::ServerSent {
            if self.estimated {
                out.push_str(": callboard-usage estimated\n\n");
            }
            let _ = write!(out, ": callboard-contract {report}\n\n");
        }
        self.events.push(self.object.last_stream_event());
        self.write(out);
    }

    /// Writes that the response failed: the object so far, preceded by the error in a stream of server-sent events. Not on a
    /// WebSocket, where clients would take the error for one of the next response.
    pub fn fail(&mut self, error: &ApiError, report: &Report, out: &mut String) {
        self.object.fail(error);
        if self.framing == Framing::ServerSent {
            write_contract_comment(report, out);
            self.events.push(error_event(error));
        }
        self.events.push(StreamEvent::Failed { response: self.object.to_text() });
        self.write(out);
    }

    /// The response so far.
    #[must_use]
    pub fn object(&self) -> &ResponseObject {
        &self.object
    }

    pub(super) fn object_mut(&mut self) -> &mut ResponseObject {
        &mut self.object
    }

    fn write(&mut self, out: &mut String) {
        for notice in self.events.drain(..) {
            let numbered = Numbered { notice: &notice, sequence_number: self.next };
            let Ok(text) = serde_json::to_string(&numbered) else { continue };
            self.next += 1;
            let _ = match self.framing {
                Framing::ServerSent => write!(out, "event: {}\ndata: {text}\n\n", kind_of(&text)),
                Framing::Lines => writeln!(out, "{text}"),
            };
        }
    }
}

/// The kind of an event is the first thing its text says.
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
