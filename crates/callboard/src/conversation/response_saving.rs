//! Saves a response: with its conversation, its items and the character's memory in one transaction, or not at all.

use std::sync::Arc;

use callboard_core::wire::responses::{ItemText, ResponseObject};
use serde_json::Value;

use super::connection_cache::ConnectionResponse;
use super::saving::SaveFuture;
use crate::clock;
use crate::store::{
    CharacterMemory, Exchange, NewItem, NewSnapshot, Response, Store, StoreError, Turn, TurnRecords, TurnWrite,
};

/// Where a response is saved.
pub enum SaveTarget {
    /// Nowhere: the client keeps its history itself.
    Nowhere,
    /// As a response that others may follow.
    Response {
        /// The one that it follows.
        previous: Option<String>,
    },
    /// In a conversation whose turn is claimed.
    Conversation(Box<Turn>),
}

/// All that is needed to save a response.
pub struct ResponseSaving {
    /// The store.
    pub store: Store,
    /// Where it is saved.
    pub target: SaveTarget,
    /// Whether it can be retrieved by its id.
    pub stored: bool,
    /// Whose it is.
    pub owner: String,
    /// The input as it is stored.
    pub input: Vec<Value>,
    /// The items before the input, for responses on a connection.
    pub context: Option<Vec<Value>>,
    /// Whether those items are stored nowhere else, so that they belong to the input of a stored response.
    pub context_unstored: bool,
}

/// The items of a response as they are stored.
struct StoredItems {
    input: Vec<NewItem>,
    output: Vec<NewItem>,
}

type Memory<'a> = Option<&'a Arc<CharacterMemory>>;

/// The key of a character's snapshot at the end of a response.
pub(super) fn snapshot_key(response: &str, character: &str) -> String {
    format!("{response}/{character}")
}

/// The character of such a key.
pub(super) fn character_of<'a>(key: &'a str, response: &str) -> Option<&'a str> {
    key.strip_prefix(response)?.strip_prefix('/')
}

impl ResponseSaving {
    /// Saves a complete response.
    pub(super) fn save(self, object: &ResponseObject, memory: Memory<'_>) -> SaveFuture {
        let items = self.items(object);
        let records = self.records(object, &items, memory);
        match self.target {
            SaveTarget::Conversation(turn) => {
                let write = turn_write(items, memory, records);
                Box::pin(async move { turn.finish(write).await.map(drop) })
            }
            _ => Box::pin(self.save_records(records)),
        }
    }

    async fn save_records(self, records: TurnRecords) -> Result<(), StoreError> {
        // Only a connection that has the context can save a response whose previous one was deleted.
        let has_context = self.context.as_ref().is_some_and(|context| !context.is_empty());
        match self.store.write_records(&records).await {
            Err(StoreError::BaseGone(_)) if has_context => {
                self.store.write_records(&self.without_previous(records)).await
            }
            saved => saved,
        }
    }

    /// Saves a response that failed. Its conversation stays as it was, so that the turn can be sent again; unless tools changed
    /// something.
    pub(super) async fn save_failed(self, object: &ResponseObject, memory: Memory<'_>) -> Result<(), StoreError> {
        let changed = memory.is_some_and(|memory| memory.record.changes().is_some());
        match self.conversation() {
            Some(id) if !changed => {
                if self.store.conversation(id).await?.is_none() {
                    return Ok(());
                }
                self.store.write_records(&self.records(object, &self.items(object), None)).await
            }
            _ => self.save(object, memory).await,
        }
    }

    /// Saves a response whose client is gone, without waiting.
    pub(super) fn save_unawaited(self, object: &ResponseObject, memory: Memory<'_>) -> Result<(), StoreError> {
        let items = self.items(object);
        let records = self.records(object, &items, memory);
        match self.target {
            SaveTarget::Conversation(turn) => turn.finish_in_background(turn_write(items, memory, records)),
            _ => self.store.write_records_in_background(&records),
        }
    }

    /// The response for later requests on the same connection.
    pub(super) fn connection_response(
        &self,
        object: &ResponseObject,
        memory: Memory<'_>,
    ) -> Option<ConnectionResponse> {
        let context = self.context.as_ref()?;
        let items = context.iter().chain(&self.input).cloned().chain(object.output_items()).collect();
        // A response of a conversation holds its own items only, so it cannot be followed outside of it.
        let stored = self.stored && self.conversation().is_none();
        let memory = memory.map(|memory| Arc::new(memory.committed()));
        Some(ConnectionResponse { id: object.id().to_owned(), items, memory, stored })
    }

    fn conversation(&self) -> Option<&str> {
        match &self.target {
            SaveTarget::Conversation(turn) => Some(&turn.head().conversation.id),
            _ => None,
        }
    }

    fn items(&self, object: &ResponseObject) -> StoredItems {
        let new_item = |ItemText { id, text }| NewItem { id, body: text };
        StoredItems {
            input: self.input.iter().map(NewItem::of).collect(),
            output: object.output_texts().into_iter().map(new_item).collect(),
        }
    }

    fn records(&self, object: &ResponseObject, items: &StoredItems, memory: Memory<'_>) -> TurnRecords {
        let (previous, snapshot) = match &self.target {
            SaveTarget::Response { previous } => (previous.clone(), memory.map(|memory| snapshot(object, memory))),
            _ => (None, None),
        };
        let response = self.stored.then(|| {
            let context: Vec<NewItem> = self.unstored_context().iter().map(NewItem::of).collect();
            let (input, output) = (array(context.iter().chain(&items.input)), array(&items.output));
            let body = object.to_text_without(&output);
            let (id, owner) = (object.id().to_owned(), self.owner.clone());
            let conversation = self.conversation().map(str::to_owned);
            let exchange = Exchange { id, owner, conversation, previous, input, output };
            Response { exchange, created_at: clock::milliseconds(), expires_at: None, body }
        });
        TurnRecords { response, snapshot, ..TurnRecords::default() }
    }

    fn unstored_context(&self) -> &[Value] {
        self.context.as_deref().filter(|_| self.context_unstored).unwrap_or_default()
    }

    /// Makes the context of a response whose previous one was deleted part of its input.
    fn without_previous(&self, mut records: TurnRecords) -> TurnRecords {
        if let Some(response) = &mut records.response {
            response.exchange.previous = None;
            let context = self.context.iter().flatten();
            let all: Vec<NewItem> = context.chain(&self.input).map(NewItem::of).collect();
            response.exchange.input = array(&all);
        }
        records
    }
}

fn snapshot(object: &ResponseObject, memory: &Arc<CharacterMemory>) -> NewSnapshot {
    NewSnapshot {
        key: snapshot_key(object.id(), &memory.character),
        at: clock::milliseconds(),
        memory: Arc::clone(memory),
        response: Some(object.id().to_owned()),
        ..NewSnapshot::default()
    }
}

fn turn_write(items: StoredItems, memory: Memory<'_>, records: TurnRecords) -> TurnWrite {
    let items = items.input.into_iter().chain(items.output).collect();
    TurnWrite { at: clock::milliseconds(), memory: memory.cloned(), items, records }
}

/// Items as a JSON array.
fn array<'a>(items: impl IntoIterator<Item = &'a NewItem>) -> String {
    let bodies: Vec<&str> = items.into_iter().map(|item| item.body.as_str()).collect();
    format!("[{}]", bodies.join(","))
}
