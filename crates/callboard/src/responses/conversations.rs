//! Conversations as their owners see them: nobody else's is there.

use callboard_core::wire::ApiError;
use serde_json::Value;

use crate::store::{Conversation, ItemPage, Store, StoreError};

/// Items are read so many at a time.
const PAGE: i64 = 1000;

/// A conversation of this owner.
pub async fn owned_conversation(store: &Store, id: &str, owner: &str) -> Result<Conversation, ApiError> {
    let conversation = store.conversation(id).await?.filter(|conversation| conversation.owner == owner);
    conversation.ok_or_else(|| ApiError::conversation_not_found(id))
}

/// All items of a conversation, oldest first.
pub async fn items_of(store: &Store, conversation: &str) -> Result<Vec<Value>, StoreError> {
    let mut items = Vec::new();
    let mut after = None;
    loop {
        let page = store.items(conversation, ItemPage { after, descending: false, limit: PAGE }).await?;
        let Some(last) = page.last() else { return Ok(items) };
        after = Some(last.position);
        let whole = page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
        for item in page {
            items.push(
                serde_json::from_str(&item.body).map_err(|error| StoreError::Damaged(format!("an item: {error}")))?,
            );
        }
        if whole {
            return Ok(items);
        }
    }
}
