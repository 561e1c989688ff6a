//! Storage: conversations with their items, state and journal, responses, histories, traces, counts and what was found out about model
//! servers.
//!
//! SQLite in one file, or PostgreSQL for several processes. The database work runs on threads of the store, or on serving threads; a
//! handle can be used from any runtime. The store knows rows and JSON text; their meaning belongs to the caller, except for the journal,
//! whose rules are in `callboard_core::journal`. SQL is written once, for both databases.

mod address;
mod backoff;
mod changes;
mod character_memory;
mod conversation;
mod conversation_head;
mod conversation_list;
mod conversation_name;
mod daily_count;
mod error;
mod exclusive_turn;
mod handle;
mod item;
mod journal;
mod lease;
mod other_processes;
mod pending_writes;
mod per_thread;
mod postgres;
mod queue;
mod response;
mod response_deletion;
mod retention;
mod schema;
mod server_finding;
mod snapshot;
mod snapshot_chain;
mod sqlite;
mod statement;
mod trace;
mod turn_records;
mod turn_write;
mod write_health;

pub use address::Address;
pub use character_memory::CharacterMemory;
pub use conversation::{Conversation, NewConversation};
pub use conversation_head::ConversationHead;
pub use conversation_list::{ConversationPage, ListedConversation};
pub use conversation_name::{ClientName, NamedConversation};
pub use daily_count::Count;
pub use error::StoreError;
pub use exclusive_turn::Turn;
pub use handle::{Store, StoreSettings};
pub use item::{Item, ItemPage};
pub use journal::UndoFailure;
pub use response::{Exchange, Response, ResponseChain};
pub use retention::{Pruned, Retention};
pub use server_finding::{FindingChange, ServerFinding};
pub use snapshot::{ChainPosition, ConversationPlace, FoundSnapshot, NamedSnapshot, NewSnapshot, SnapshotName};
pub use trace::{Trace, TraceFilter, TracePage};
pub use turn_records::TurnRecords;
pub use turn_write::{NewItem, TurnWrite};
