//! Chat Completions, both ways: requests and replies of clients, and requests and replies of upstreams.

pub mod adapt;
mod chunk;
mod chunk_lists;
mod chunk_object;
mod completion;
mod field_checks;
mod message_checks;
mod old_form;
mod place;
mod plain_messages;
mod read_finish_reason;
mod repeated_event;
mod reply_chunk;
mod reply_content;
mod reply_fault;
mod reply_reader;
mod request;
mod request_from_parts;
mod stream_detector;
mod stream_progress;
mod tool_choice;
mod upstream_request;
mod writer;

pub use chunk::{ChunkWriter, Stamp};
pub use completion::Completion;
pub(in crate::wire) use message_checks::{MessageFacts, is_object};
pub use old_form::CallForm;
pub use plain_messages::PlainMessage;
pub use reply_fault::ReplyFault;
pub use reply_reader::ReplyReader;
pub use request::ChatRequest;
pub use request_from_parts::CharacterPart;
pub(in crate::wire) use request_from_parts::{ChatParts, ToolPart};
pub use upstream_request::message_text;
pub use writer::ChatWriter;
