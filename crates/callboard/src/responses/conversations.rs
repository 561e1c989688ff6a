//! Conversations as their owners see them: nobody else's is there.

use callboard_core::wire::ApiError;
use callboard_core::wire::responses::PageQuery;
use serde_json::Value;

use super::TURN_WAIT;
use super::pairs::fitting;
use crate::store::{Conversation, Item, ItemPage, Store, StoreError, Turn};

/// Items are read so many at a time.
const PAGE: i64 = 1000;

/// A conversation of this owner.
pub async fn owned_conversation(store: &Store, id: &str, owner: &str) -> Result<Conversation, ApiError> {
    let conversation = store.conversation(id).await?.filter(|conversation| conversation.owner == owner);
    conversation.ok_or_else(|| ApiError::conversation_not_found(id))
}

/// All items of a conversation, oldest first.
pub async fn items_of(store: &Store, conversation: &str) -> Result<Vec<Value>, StoreError> {
    rest_of(store, conversation, None).await
}

/// The items of a conversation that a page may show, and one more if there are so many.
pub async fn items_behind(store: &Store, conversation: &str, page: &PageQuery) -> Result<Vec<Value>, ApiError> {
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

/// Claims the next turn of a conversation, and reads all its items that fit together.
pub(super) async fn begin_turn(store: &Store, conversation: &str) -> Result<(Turn, Vec<Value>), StoreError> {
    let (turn, first) = store.begin_turn_with_items(conversation, TURN_WAIT, PAGE).await?;
    let last = first.last().map(|item| item.position).filter(|_| is_full(&first));
    let mut items = first.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    if last.is_some() {
        items.extend(rest_of(store, conversation, last).await?);
    }
    Ok((turn, fitting(items)))
}

fn is_full(page: &[Item]) -> bool {
    usize::try_from(PAGE).is_ok_and(|most| page.len() >= most)
}

fn value(item: &Item) -> Result<Value, StoreError> {
    serde_json::from_str(&item.body).map_err(|error| StoreError::Damaged(format!("an item: {error}")))
}

async fn rest_of(store: &Store, conversation: &str, mut after: Option<i64>) -> Result<Vec<Value>, StoreError> {
    let mut items = Vec::new();
    loop {
        let page = store.items(conversation, ItemPage { after, descending: false, limit: PAGE }).await?;
        for item in &page {
            items.push(value(item)?);
        }
        match page.last() {
            Some(last) if is_full(&page) => after = Some(last.position),
            _ => return Ok(items),
        }
    }
}
