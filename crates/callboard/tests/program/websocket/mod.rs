//! `/v1/responses` over a WebSocket, as a client meets it.

mod access;
mod bad_messages;
mod character;
mod client;
mod closing;
mod connection_cache;
mod requests;
