//! A copy of a conversation up to one of its items, to continue it in another way: with the state that the character had there.

use std::collections::HashSet;
use std::sync::Arc;

use callboard_core::wire::ApiError;
use callboard_core::wire::responses::call_id_of;
use serde_json::Value;

use super::ids::new_conversation_id;
use super::owned_conversation::begin_turn;
use crate::clock;
use crate::memory_budget::RequestMemory;
use crate::store::{CharacterMemory, ConversationHead, NewConversation, NewItem, Store, StoreError, TurnWrite};

/// Copies what precedes an item, or everything, to a new conversation of the same owner; returns its id.
pub async fn fork(store: &Store, id: &str, before: Option<&str>, memory: &RequestMemory) -> Result<String, ApiError> {
    let (turn, mut items) = begin_turn(store, id, memory).await?;
    let place = match before {
        None => items.len(),
        Some(item) => place_of(&items, item).ok_or_else(|| ApiError::item_not_found(item, id))?,
    };
    let dropped = items.split_off(place);
    let head = turn.head();
    let (new, at) = (new_conversation_id(), clock::milliseconds());
    let part = part_before(store, head, &dropped).await?;
    let part = part.filter(|part| !items.is_empty() || !part.record.journal().is_empty());
    let items = items.iter().map(NewItem::of).collect();
    let write = TurnWrite { at, memory: part.map(Arc::new), items, ..TurnWrite::default() };
    let (owner, metadata) = (head.conversation.owner.clone(), head.conversation.metadata.clone());
    store.begin_with_turn(NewConversation { id: new.clone(), owner, at, metadata }, write).await?;
    Ok(new)
}

fn place_of(items: &[Value], id: &str) -> Option<usize> {
    items.iter().position(|item| id_of(item) == Some(id))
}

fn id_of(item: &Value) -> Option<&str> {
    item.get("id").and_then(Value::as_str)
}

/// The character's part before the first of these items that changed its state.
async fn part_before(
    store: &Store,
    head: &ConversationHead,
    dropped: &[Value],
) -> Result<Option<CharacterMemory>, StoreError> {
    let Some(part) = &head.memory else { return Ok(None) };
    let journal = store.journal(&head.conversation.id, 0, i64::MAX).await?;
    let calls: HashSet<String> = dropped.iter().filter_map(id_of).map(call_id_of).collect();
    let first = journal.iter().find(|entry| calls.contains(&entry.call.call_id)).map(|entry| entry.sequence);
    let record = part.record.clone().with_journal(journal);
    let record = match first {
        Some(sequence) => record.before(sequence).map_err(|error| StoreError::Damaged(error.to_string()))?,
        None => record,
    };
    Ok(Some(CharacterMemory { record: record.unstored(), ..part.clone() }))
}
