//! `GET /v1/conversations`: the client's own conversations, newest first, page by page.

use axum::extract::{RawQuery, State};
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{PageQuery, conversation_object};
use http::HeaderMap;
use serde_json::{Map, Value, json};

use super::query::known_pairs;
use super::reply::{self, HttpResult};
use super::requester::Requester;
use super::router::Shared;
use crate::conversation::owned_conversation;
use crate::store::{ConversationPage, ListedConversation, Store};

const PARAMETERS: [&str; 4] = ["limit", "after", "order", "character"];

/// A page of conversations.
pub(super) async fn list(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> HttpResult {
    let (page, character) = read_query(&query.unwrap_or_default())?;
    let owner = Requester::of(&shared, &headers).owner;
    let before = match &page.after {
        None => None,
        Some(id) => Some(place_of(&shared.store, id, &owner).await?),
    };
    let limit = i64::try_from(page.limit.saturating_add(1)).unwrap_or(i64::MAX);
    let found = shared.store.conversations(&ConversationPage { owner, character, before, limit }).await?;
    let found: Vec<Value> = found.iter().map(listed).collect();
    Ok(reply::json(page.cut(&found).to_string()))
}

fn read_query(query: &str) -> Result<(PageQuery, Option<String>), BadRequest> {
    let pairs = known_pairs(query, &PARAMETERS)?;
    let page = PageQuery::read(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())))?;
    if !page.newest_first {
        return Err(BadRequest::invalid("order", "conversations are listed newest first; leave order out"));
    }
    let character = pairs.into_iter().rev().find(|(key, _)| key == "character").map(|(_, value)| value);
    Ok((page, character))
}

/// The place in the list behind which a page begins.
async fn place_of(store: &Store, id: &str, owner: &str) -> Result<(i64, String), ApiError> {
    match owned_conversation(store, id, owner).await {
        Ok(conversation) => Ok((conversation.created_at, conversation.id)),
        Err(error) if error.status == 404 => {
            let message = format!("after is {id:?}, which is not a conversation");
            Err(BadRequest::at("after", "conversation_not_found", message).into())
        }
        Err(error) => Err(error),
    }
}

/// The object of a conversation, with its character and the time of its last change.
fn listed(conversation: &ListedConversation) -> Value {
    let metadata: Map<String, Value> = serde_json::from_str(&conversation.metadata).unwrap_or_default();
    let seconds = |milliseconds: i64| u64::try_from(milliseconds / 1000).unwrap_or_default();
    let mut object = conversation_object(&conversation.id, seconds(conversation.created_at), &metadata);
    object["character"] = json!(conversation.character);
    object["updated_at"] = json!(seconds(conversation.updated_at));
    object
}
