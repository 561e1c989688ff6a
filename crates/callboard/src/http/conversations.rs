//! `/v1/conversations`: made, changed, filled with items, listed and deleted, as OpenAI's clients expect it.

use axum::Router;
use axum::extract::{Path, RawQuery, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{
    ConversationRequest, PageQuery, check_call_outputs, conversation_deleted, conversation_object, whole_list,
};
use http::HeaderMap;
use serde_json::{Map, Value};

use super::body::read_body;
use super::reply::HttpResult;
use super::requester::Requester;
use super::router::Shared;
use super::{conversation_fork, conversation_list, query, reply, state_journal_undo};
use crate::clock;
use crate::conversation::{
    begin_turn, item_ids, items_after, new_conversation_id, new_response_id, owned_conversation, renew_taken,
};
use crate::memory_budget::RequestMemory;
use crate::store::{Conversation, NewConversation, NewItem, TurnWrite};

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/v1/conversations", post(create).get(conversation_list::list))
        .route("/v1/conversations/{id}", get(one).post(change).delete(delete))
        .route("/v1/conversations/{id}/items", get(list_items).post(add_items))
        .route("/v1/conversations/{id}/items/{item}", get(one_item).delete(delete_item))
        .route("/v1/conversations/{id}/state", get(state_journal_undo::state))
        .route("/v1/conversations/{id}/journal", get(state_journal_undo::list))
        .route("/v1/conversations/{id}/fork", post(conversation_fork::create))
        .route("/v1/conversations/{id}/undo", post(state_journal_undo::undo))
}

async fn create(State(shared): State<Shared>, request: Request) -> HttpResult {
    let owner = Requester::of(&shared, request.headers()).owner;
    let body = read_body(request, &shared).await?;
    let request = ConversationRequest::read_new(body.bytes)?;
    let (id, at) = (new_conversation_id(), clock::milliseconds());
    let metadata = Value::Object(request.metadata.clone().unwrap_or_default()).to_string();
    let items = request.stored_items(&mut item_ids(&new_response_id()));
    shared.store.check_history(&id, NewItem::bytes_of(&items))?;
    check_call_outputs(&items, &[])?;
    let new = NewConversation { id: id.clone(), owner: owner.clone(), at, metadata };
    shared.store.create_conversation(new).await?;
    append(&shared, &id, items, &body.memory).await?;
    Ok(object(&owned_conversation(&shared.store, &id, &owner).await?))
}

async fn one(State(shared): State<Shared>, Path(name): Path<String>, headers: HeaderMap) -> HttpResult {
    Ok(object(&owned(&shared, &name, &headers).await?))
}

async fn change(State(shared): State<Shared>, Path(name): Path<String>, request: Request) -> HttpResult {
    let headers = request.headers().clone();
    let body = read_body(request, &shared).await?;
    let request = ConversationRequest::read_change(body.bytes)?;
    let Conversation { id, owner, .. } = owned(&shared, &name, &headers).await?;
    let metadata = Value::Object(request.metadata.unwrap_or_default()).to_string();
    shared.store.set_metadata(&id, metadata, clock::milliseconds()).await?;
    Ok(object(&owned_conversation(&shared.store, &id, &owner).await?))
}

async fn delete(State(shared): State<Shared>, Path(name): Path<String>, headers: HeaderMap) -> HttpResult {
    let id = owned(&shared, &name, &headers).await?.id;
    // What was said in it may be on its way to the store.
    shared.app.traces.flush().await;
    shared.store.delete_conversation(&id).await?;
    Ok(reply::json(conversation_deleted(&id).to_string()))
}

async fn list_items(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> HttpResult {
    let pairs = query::pairs(query.as_deref().unwrap_or_default())?;
    let page = PageQuery::read(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())))?;
    let id = owned(&shared, &name, &headers).await?.id;
    let items = items_after(&shared.store, &id, &page).await?;
    Ok(reply::json(page.cut(&items).to_string()))
}

async fn add_items(State(shared): State<Shared>, Path(name): Path<String>, request: Request) -> HttpResult {
    let headers = request.headers().clone();
    let body = read_body(request, &shared).await?;
    let request = ConversationRequest::read_items(body.bytes)?;
    let id = owned(&shared, &name, &headers).await?.id;
    let items = request.stored_items(&mut item_ids(&new_response_id()));
    let added = append(&shared, &id, items, &body.memory).await?;
    Ok(reply::json(whole_list(&added).to_string()))
}

async fn one_item(
    State(shared): State<Shared>,
    Path((name, item)): Path<(String, String)>,
    headers: HeaderMap,
) -> HttpResult {
    let id = owned(&shared, &name, &headers).await?.id;
    let found = shared.store.item(&id, &item).await?;
    Ok(reply::json(found.ok_or_else(|| ApiError::item_not_found(&item, &id))?.body))
}

async fn delete_item(
    State(shared): State<Shared>,
    Path((name, item)): Path<(String, String)>,
    headers: HeaderMap,
) -> HttpResult {
    let conversation = owned(&shared, &name, &headers).await?;
    match shared.store.delete_item(&conversation.id, &item).await? {
        true => Ok(object(&conversation)),
        false => Err(ApiError::item_not_found(&item, &conversation.id).into()),
    }
}

/// Puts items behind all others; a turn that runs is waited for.
async fn append(
    shared: &Shared,
    id: &str,
    mut items: Vec<Value>,
    memory: &RequestMemory,
) -> Result<Vec<Value>, ApiError> {
    if items.is_empty() {
        return Ok(items);
    }
    let (turn, earlier) = begin_turn(&shared.store, id, memory).await?;
    renew_taken(&mut items, &earlier, &mut item_ids(&new_response_id()));
    check_call_outputs(&items, &earlier)?;
    let new: Vec<NewItem> = items.iter().map(NewItem::of).collect();
    turn.check_room(&new)?;
    turn.finish(TurnWrite { at: clock::milliseconds(), items: new, ..TurnWrite::default() }).await?;
    Ok(items)
}

/// The conversation, by its id or the client's own name, for its owner.
pub(super) async fn owned(shared: &Shared, name: &str, headers: &HeaderMap) -> Result<Conversation, ApiError> {
    owned_conversation(&shared.store, name, &Requester::of(shared, headers).owner).await
}

pub(super) fn object(conversation: &Conversation) -> Response {
    let metadata: Map<String, Value> = serde_json::from_str(&conversation.metadata).unwrap_or_default();
    let created = u64::try_from(conversation.created_at / 1000).unwrap_or_default();
    reply::json(conversation_object(&conversation.id, created, &metadata).to_string())
}
