//! Conversations of one owner; those of others do not exist.

use callboard_core::wire::ApiError;
use callboard_core::wire::responses::PageQuery;
use serde_json::Value;

use super::response_context::TURN_WAIT;
use crate::memory_budget::RequestMemory;
use crate::store::{Conversation, Item, ItemPage, Store, StoreError, Turn};

/// How the id of a conversation begins; names that clients choose do not.
const PREFIX: &str = "conv_";

/// Whether this is the id of a conversation, and not a name of the client's own.
pub(super) fn is_conversation_id(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// A conversation of this owner, by its id or by the name that the client gave it.
pub async fn owned_conversation(store: &Store, name: &str, owner: &str) -> Result<Conversation, ApiError> {
    let id = conversation_id(store, (name, owner), None).await?;
    let conversation = store.conversation(&id).await?.filter(|conversation| conversation.owner == owner);
    conversation.ok_or_else(|| ApiError::conversation_not_found(name))
}

/// The id of the conversation that an owner's name leads to. Several characters may have conversations of one name; an id leads to itself.
pub async fn conversation_id(
    store: &Store,
    (name, owner): (&str, &str),
    character: Option<&str>,
) -> Result<String, ApiError> {
    if is_conversation_id(name) {
        return Ok(name.to_owned());
    }
    let mut named = store.named_conversations(owner, name).await?;
    named.retain(|found| character.is_none_or(|character| character == found.character));
    match named.as_slice() {
        [] => Err(ApiError::conversation_not_found(name)),
        [only] => Ok(only.id.clone()),
        several => {
            let several = several.iter().map(|found| (found.id.as_str(), found.character.as_str()));
            Err(ApiError::conversation_name_ambiguous(name, several))
        }
    }
}

/// The items of a page, and one more if there are so many.
pub async fn items_after(store: &Store, conversation: &str, page: &PageQuery) -> Result<Vec<Value>, ApiError> {
    let after = match &page.after {
        None => None,
        Some(id) => {
            let item = store.item(conversation, id).await?;
            Some(item.ok_or_else(|| PageQuery::unknown_after(id))?.position)
        }
    };
    let limit = i64::try_from(page.limit.saturating_add(1)).unwrap_or(i64::MAX);
    let found = store.items(conversation, ItemPage { after, descending: page.newest_first, limit }).await?;
    Ok(found.iter().map(value).collect::<Result<_, _>>()?)
}

/// Claims the next turn of a conversation, and reads all its items, oldest first.
pub async fn begin_turn(
    store: &Store,
    conversation: &str,
    memory: &RequestMemory,
) -> Result<(Turn, Vec<Value>), ApiError> {
    let (turn, items) = store.begin_turn_with_items(conversation, TURN_WAIT).await?;
    memory.grow_for_json(items.as_bytes(), 0)?;
    Ok((turn, serde_json::from_str(&items).map_err(damaged)?))
}

fn value(item: &Item) -> Result<Value, StoreError> {
    serde_json::from_str(&item.body).map_err(damaged)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn damaged(error: serde_json::Error) -> StoreError {
    StoreError::Damaged(format!("an item: {error}"))
}
