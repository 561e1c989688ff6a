//! Chat Completions, both ways: a client's request in and its reply out; an upstream's request out and its reply in.

pub mod adapt;
mod ask;
mod chunk;
mod completion;
mod fields;
mod from_parts;
mod history;
mod loose;
mod messages;
mod reply;
mod reply_chunk;
mod reply_fault;
mod reply_finish;
mod reply_form;
mod request;
mod tool_choice;
mod writer;

pub use ask::message_text;
pub use chunk::{ChunkWriter, Stamp};
pub use completion::Completion;
pub use from_parts::CharacterPart;
pub(in crate::wire) use from_parts::{ChatParts, ToolPart};
pub use history::PlainMessage;
pub(in crate::wire) use messages::{MessageFacts, is_object};
pub use reply::ReplyReader;
pub use reply_fault::ReplyFault;
pub use request::ChatRequest;
pub use writer::ChatWriter;
