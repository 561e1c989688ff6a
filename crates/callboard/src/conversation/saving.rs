//! How a turn is saved, by the way its conversation is kept.

use std::sync::{Arc, Mutex, PoisonError};

use callboard_core::turn::Event;
use callboard_core::wire::responses::ResponseObject;
use futures_util::future::BoxFuture;

use super::chat_history::ChatHistory;
use super::connection_cache::ConnectionResponse;
use super::response_saving::ResponseSaving;
use crate::store::{CharacterMemory, StoreError};

/// The outcome of saving.
pub type SaveFuture = BoxFuture<'static, Result<(), StoreError>>;

/// Holds the memory at the end of the last turn, for a conversation that lives in this process only.
#[derive(Debug, Clone, Default)]
pub struct MemorySlot(Arc<Mutex<Option<Arc<CharacterMemory>>>>);

impl MemorySlot {
    fn put(&self, memory: Option<Arc<CharacterMemory>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = memory;
    }

    /// Takes it; none where no turn was saved since.
    pub fn take(&self) -> Option<CharacterMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map(Arc::unwrap_or_clone)
    }
}

/// Where a turn is saved.
pub enum Saving {
    /// Nowhere.
    Nothing,
    /// In this process.
    InMemory(MemorySlot),
    /// As a snapshot that the client's next history leads to.
    ChatHistory(Box<ChatHistory>),
    /// As a response, with its conversation if it has one.
    Response(Box<ResponseSaving>),
}

/// A turn that has ended.
pub struct FinishedTurn<'a> {
    /// The character's part, if a character answered.
    pub memory: Option<Arc<CharacterMemory>>,
    /// The response object, on wires that store one.
    pub response: Option<&'a ResponseObject>,
}

impl Saving {
    /// Whether the memory keeps messages; otherwise items are stored.
    pub fn keeps_messages(&self) -> bool {
        matches!(self, Self::ChatHistory(_) | Self::InMemory(_))
    }

    /// The conversation that a turn of Chat Completions belongs to.
    pub fn chat_conversation(&self) -> Option<&str> {
        match self {
            Self::ChatHistory(history) => Some(history.conversation()),
            _ => None,
        }
    }

    /// Takes note of an event that is sent.
    pub fn observe(&mut self, event: &Event) {
        let Self::ChatHistory(history) = self else { return };
        match event {
            Event::Text(text) => history.sent_text(text),
            Event::Call(call) => history.sent_call(call.id.as_str()),
            Event::CallBegins { id, .. } => history.sent_call(id.as_str()),
            _ => {}
        }
    }

    /// Saves a complete turn.
    pub fn complete(self, turn: &FinishedTurn<'_>) -> SaveFuture {
        match (self, turn.response) {
            (Self::ChatHistory(history), _) => Box::pin(history.save(turn.memory.clone())),
            (Self::InMemory(slot), _) => {
                slot.put(turn.memory.clone());
                Box::pin(std::future::ready(Ok(())))
            }
            (Self::Response(saving), Some(response)) => saving.save(response, turn.memory.as_ref()),
            _ => Box::pin(std::future::ready(Ok(()))),
        }
    }

    /// Saves a turn that failed after the client had seen something of it.
    pub async fn failed(self, turn: &FinishedTurn<'_>) -> Result<(), StoreError> {
        match (self, turn.response) {
            (Self::Response(saving), Some(response)) => saving.save_failed(response, turn.memory.as_ref()).await,
            (saving, _) => saving.abandoned(turn),
        }
    }

    /// Saves a turn whose client is gone, without waiting.
    pub fn abandoned(self, turn: &FinishedTurn<'_>) -> Result<(), StoreError> {
        match (self, turn.response) {
            (Self::ChatHistory(history), _) => history.save_interrupted(turn.memory.clone()),
            (Self::InMemory(slot), _) => {
                slot.put(turn.memory.clone());
                Ok(())
            }
            (Self::Response(saving), Some(response)) => saving.save_unawaited(response, turn.memory.as_ref()),
            _ => Ok(()),
        }
    }

    /// What a later request on the same connection may continue from.
    pub fn connection_response(&self, turn: &FinishedTurn<'_>) -> Option<ConnectionResponse> {
        match (self, turn.response) {
            (Self::Response(saving), Some(response)) => saving.connection_response(response, turn.memory.as_ref()),
            _ => None,
        }
    }
}
