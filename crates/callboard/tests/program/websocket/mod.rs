//! `/v1/responses` over a WebSocket, from a client's view.

mod access;
mod bad_messages;
mod character;
pub(super) mod client;
mod closing;
mod connection_cache;
mod limits;
mod requests;
