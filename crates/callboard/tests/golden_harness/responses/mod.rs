//! Golden pages over the Responses API: the same scenarios in the words of another wire, whole, streamed and over a WebSocket.
//!
//! Nothing is written twice: the request is converted, and what is due is read from what the page expects of Chat
//! Completions. [`exceptions`] lists the pages that have no meaning here.

mod assembly;
mod event_stream;
mod exceptions;
mod expected;
mod form;
mod judge;
mod request;
mod said;
mod told;

pub(crate) use exceptions::{COUNT, exceptions, reason_against};
pub(crate) use judge::{can_be_played, judge};
