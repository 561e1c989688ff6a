//! Golden pages over the Responses API: the same scenarios in the words of another wire, whole, streamed and over a WebSocket.
//!
//! Nothing is written twice: the request is converted, and what is due is read from what the page expects of Chat
//! Completions. [`exceptions`] lists the pages that have no meaning here.

mod assembly;
mod check;
mod event_stream;
mod exceptions;
mod expected;
mod form;
mod parts;
mod request;
mod transport;

pub(crate) use check::{can_be_played, check_page};
pub(crate) use exceptions::{COUNT, exceptions, reason_against};
pub(super) use form::last_object;
