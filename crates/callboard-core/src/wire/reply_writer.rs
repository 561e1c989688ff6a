//! What a wire has to implement to send replies: one writer, which serves whole and streamed replies alike.

use super::ApiError;
use super::responses::ResponseObject;
use crate::contract::Report;
use crate::model::{Finish, Usage};
use crate::turn::Event;

/// How a reply completed.
#[derive(Debug, Clone, Copy)]
pub struct ReplyEnd<'a> {
    /// Why the model stopped.
    pub finish: Finish,
    /// Tokens spent.
    pub usage: &'a Usage,
    /// Seconds since 1970.
    pub completed_at: u64,
}

/// Turns the events of one turn into the format of one wire. What is sent immediately is appended to `out`; a writer of a
/// whole reply appends nothing and gives the body at the end.
pub trait ReplyWriter {
    /// Writes what precedes all events.
    fn start(&mut self, _out: &mut String) {}

    /// Writes one event.
    fn event(&mut self, event: Event, out: &mut String);

    /// Takes an event that is not sent, because the client is gone or the turn failed.
    fn record(&mut self, _event: Event) {}

    /// Writes what follows the last event. After this the reply is stored, and only then [`Self::finish`] is sent.
    fn complete(&mut self, end: ReplyEnd<'_>, out: &mut String);

    /// Writes the end of a completed reply.
    fn finish(&mut self, report: &Report, out: &mut String);

    /// Writes the error that ends a stream.
    fn fail(&mut self, error: &ApiError, report: &Report, out: &mut String);

    /// Marks a reply whose client is gone.
    fn cancel(&mut self) {}

    /// Takes the body of a whole reply that is finished.
    fn take_body(&mut self) -> String;

    /// The response object, on wires that store one.
    fn response(&self) -> Option<&ResponseObject> {
        None
    }
}

/// Writes the contract's outcome as a comment of server-sent events, where there is something to report.
pub(super) fn write_contract_comment(report: &Report, out: &mut String) {
    if !report.is_clean() {
        out.push_str(&format!(": callboard-contract {report}\n\n"));
    }
}
