//! `/v1/responses` over a WebSocket, as a client meets it.

mod character;
mod client;
mod doors;
mod exchanges;
mod leaving;
mod messages;
mod remembering;
