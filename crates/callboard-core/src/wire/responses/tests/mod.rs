//! Tests that need the whole wire: requests of every kind in, streams and objects out.

mod client_and_character_tools;
mod messages;
mod reply_cases;
mod sequences;
mod streamed_arguments;
mod streams;

pub(super) use reply_cases::chat_json;
