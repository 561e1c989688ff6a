//! Conversations: what a request continues from, and how its turn is saved for the next one.
//!
//! A chat request is found again by its history, a response by its id or its conversation. Knows no transport and no model server.

mod character_part;
mod chat_history;
mod chat_items;
mod chat_place;
mod chat_snapshots;
mod connection_cache;
mod fork;
mod history_key;
mod ids;
mod json_size;
mod owned_conversation;
mod response_chain;
mod response_context;
mod response_saving;
mod saving;
mod which_model_may_continue;

pub use character_part::{RECENT_CALLS, begin_calls, character_part};
pub use chat_history::{ChatHistory, ChatOwner, ChatSources, ResumedChat, resume_chat, resume_conversation};
pub use chat_snapshots::ChatSnapshots;
pub use connection_cache::{ConnectionCache, ConnectionResponse};
pub use fork::fork;
pub use history_key::HistoryKey;
pub use ids::{compaction_item_ids, item_ids, new_compaction_id, new_conversation_id, new_response_id, renew_taken};
pub use owned_conversation::{begin_turn, conversation_id, items_after, owned_conversation};
pub use response_context::{ContextQuery, ResponseContext, TURN_WAIT, input_of, load_context};
pub use response_saving::{ResponseSaving, SaveTarget};
pub use saving::{FinishedTurn, MemorySlot, SaveFuture, Saving};
