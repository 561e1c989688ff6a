//! The Responses API, both ways: a client's request in, as the body of a chat request; the turn's events out, as a stream or
//! as one object. Models are always asked over Chat Completions.

mod body;
mod call_outputs;
mod character;
mod chat_request;
mod content;
mod conversation;
mod custom;
mod errors;
mod fields;
mod format;
mod ids;
mod input;
mod input_items;
mod item;
mod messages;
mod notice;
mod object;
mod output;
mod page;
mod reply;
mod request;
mod shown;
#[cfg(test)]
mod tests;
mod tool_choice;
mod tools;
mod writer;

pub use body::read_object;
pub use call_outputs::{check_call_outputs, drop_unpaired};
pub use conversation::{ConversationRequest, conversation_deleted, conversation_object, response_deleted};
pub use ids::NewId;
pub use input_items::id_prefix;
pub use object::{ItemText, ResponseObject, ResponseStamp};
pub use page::{PageQuery, whole_list};
pub use reply::ResponseWriter;
pub use request::ResponsesRequest;
pub use writer::{EventWriter, Framing};
