//! Golden pages over the Responses API: the same scenarios, converted; whole, streamed and over a WebSocket.
//!
//! The request is converted, and the expected reply is derived from what the page expects of Chat Completions. [`exceptions`]
//! lists the pages that do not apply.

mod assembly;
mod check;
mod event_stream;
mod exceptions;
mod expected;
mod parts;
mod request;
mod stream_rules;
mod transport;

pub(crate) use check::{can_be_played, check_page};
pub(crate) use exceptions::{COUNT, exceptions, reason_against};
pub(super) use stream_rules::last_object;
