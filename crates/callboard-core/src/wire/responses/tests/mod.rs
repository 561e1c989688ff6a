//! Tests that need the whole wire: requests of every kind in, streams and objects out.

mod cases;
mod live;
mod messages;
mod mixing;
mod sequences;
mod streams;

pub(super) use cases::chat_json;
