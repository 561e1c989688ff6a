//! The Responses API, both ways: a client's request becomes a chat request; the turn's events become a stream or one object.
//! Models are always called over Chat Completions.

mod annotations;
mod call_pairing;
mod character;
mod chat_item;
mod chat_messages;
mod chat_request;
mod compaction;
mod compaction_item;
mod content;
mod conversation_object;
mod custom_tool;
mod echoed_fields;
mod object;
mod output;
mod output_item;
mod page;
mod request;
mod stored_items;
mod stream_event;
#[cfg(test)]
mod tests;
mod text_format;
mod tool_choice;
mod tools;
mod typed_fields;
mod writer;

pub use super::body_object::read_object;
pub use call_pairing::{call_id_of, check_call_outputs, drop_unpaired};
pub use compaction::{CompactionRequest, CompactionStamp, CompactionWriter};
pub use conversation_object::{ConversationRequest, conversation_deleted, conversation_object, response_deleted};
pub use object::{ItemText, ResponseObject, ResponseStamp};
pub use page::{PageQuery, whole_list};
pub use request::ResponsesRequest;
pub use stored_items::{NewId, id_prefix};
pub use writer::{Framing, ResponseWriter};
