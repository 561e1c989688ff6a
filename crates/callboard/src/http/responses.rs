//! `/v1/responses` over HTTP: create, retrieve, list input items, delete.

use axum::extract::{Path, RawQuery, State};
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{
    Framing, PageQuery, ResponseObject, ResponseStamp, ResponseWriter, ResponsesRequest, response_deleted,
};
use http::HeaderMap;

use super::chat_session::model_routes;
use super::delivery::{Incoming, Prepared, Wire};
use super::query;
use super::reply::{self, HttpResult};
use super::requester::Requester;
use super::router::Shared;
use crate::characters::LoadedCharacter;
use crate::conversation::{
    ConnectionCache, ContextQuery, ResponseContext, ResponseSaving, Saving, input_of, item_ids, load_context,
    new_response_id, renew_taken,
};
use crate::memory_budget::RequestMemory;
use crate::session::{CharacterRequest, Session, TurnContext, TurnDriver, drive_character};
use crate::trace::TraceEvent;
use crate::{clock, store};

/// The memory of an item beside its JSON: it is also stored, and part of the request to the model.
const ITEM_BYTES: usize = 2048;

/// The Responses API.
pub(super) struct Responses;

impl Wire for Responses {
    const ENDPOINT: &'static str = "responses";
    type Writer = ResponseWriter;

    async fn open(shared: &Shared, mut incoming: Incoming) -> Result<Prepared<ResponseWriter>, ApiError> {
        let request = ResponsesRequest::read(std::mem::take(&mut incoming.body))?;
        incoming.log.model(&request.model);
        let framing = request.stream.then_some(Framing::ServerSent);
        let Incoming { id, requester, memory, recorded, .. } = &incoming;
        let turn =
            ResponseTurn { id, request, requester, memory, recorded: recorded.as_deref(), framing, connection: None };
        let session = prepare(shared, turn).await?;
        Ok(if framing.is_some() { Prepared::Stream(session) } else { Prepared::Whole(session) })
    }
}

/// A request for a response, over HTTP or on a WebSocket.
pub(super) struct ResponseTurn<'a> {
    /// The id of the request.
    pub(super) id: &'a str,
    pub(super) request: ResponsesRequest,
    pub(super) requester: &'a Requester,
    pub(super) memory: &'a RequestMemory,
    /// The request as it was sent, where content is recorded.
    pub(super) recorded: Option<&'a str>,
    /// None for a whole reply.
    pub(super) framing: Option<Framing>,
    /// The earlier responses of a WebSocket.
    pub(super) connection: Option<&'a ConnectionCache>,
}

/// Prepares the turn.
pub(super) async fn prepare(shared: &Shared, turn: ResponseTurn<'_>) -> Result<Session<ResponseWriter>, ApiError> {
    let ResponseTurn { id: request_id, mut request, requester, memory, recorded, framing, connection } = turn;
    let (app, model, owner) = (&shared.app, request.model.clone(), &requester.owner);
    let character = app.characters.for_model(&model)?;
    let (store, known) = (&shared.store, character.as_deref());
    let query = ContextQuery { store, connection, owner, character: known, model: &model, memory };
    let mut context = load_context(&mut request, &query).await?;
    let turn_context = requester.turn_context(shared, request_id, memory);
    let mut driver = match request.generate {
        true => Some(drive((shared, requester), turn_context, &request, &mut context, character.as_deref()).await?),
        false => None,
    };
    let (id, conversation) = (new_response_id(), context.conversation().map(str::to_owned));
    if let Some(driver) = &mut driver {
        let trace = driver.trace_with(&app.traces, requester.traced(Responses::ENDPOINT, recorded));
        trace.record(TraceEvent::StoredAs { conversation: conversation.as_deref(), response: Some(&id) });
    }
    let mut new_id = item_ids(&id);
    let mut input = request.input_items(&mut new_id);
    memory.grow(input.len().saturating_add(context.items.len()).saturating_mul(ITEM_BYTES))?;
    renew_taken(&mut input, &context.items, &mut new_id);
    let server_label = character.map(|character| character.character.manifest().id.clone()).unwrap_or_default();
    let stamp = ResponseStamp { id, created_at: clock::seconds(), conversation, server_label, new_id };
    let writer = ResponseWriter::new(ResponseObject::new(&request, stamp), framing);
    let saving = ResponseSaving {
        store: shared.store.clone(),
        target: context.target,
        stored: request.store,
        owner: owner.clone(),
        input,
        context: connection.map(|_| context.items),
        context_unstored: context.unstored,
    };
    Ok(Session::new(driver, writer, Saving::Response(Box::new(saving))))
}

async fn drive(
    (shared, requester): (&Shared, &Requester),
    turn_context: TurnContext<'_>,
    request: &ResponsesRequest,
    context: &mut ResponseContext,
    character: Option<&LoadedCharacter>,
) -> Result<TurnDriver, ApiError> {
    let items = &context.items;
    let Some(character) = character else {
        let chat = request.chat_request(items, turn_context.tools)?;
        let routes = model_routes(shared, requester, &request.model).await?;
        return Ok(TurnDriver::gateway(turn_context, chat, routes));
    };
    let memory = match context.memory.take() {
        Some(memory) => memory,
        None => character.begin_with(context.metadata()).await?,
    };
    drive_character(turn_context, character, memory, CharacterRequest::Response { request, context: items }).await
}

/// A stored response.
pub(super) async fn one(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> HttpResult {
    let pairs = query::pairs(query.as_deref().unwrap_or_default())?;
    if pairs.iter().any(|(key, value)| key == "stream" && value == "true") {
        let message = "a response that is stored cannot be streamed again; leave stream out to get it whole";
        return Err(BadRequest::at("stream", "unsupported_parameter", message).into());
    }
    Ok(reply::json(stored(&shared, &id, &headers).await?.to_text()?))
}

/// Deletes a stored response.
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> HttpResult {
    stored(&shared, &id, &headers).await?;
    // What was said in it may be on its way to the store.
    shared.app.traces.flush().await;
    shared.store.delete_response(&id, clock::milliseconds()).await?;
    Ok(reply::json(response_deleted(&id).to_string()))
}

/// What went into a stored response, page by page.
pub(super) async fn input_items(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> HttpResult {
    let pairs = query::pairs(query.as_deref().unwrap_or_default())?;
    let page = PageQuery::read(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())))?;
    let response = stored(&shared, &id, &headers).await?;
    let items = input_of(&shared.store, &response.exchange, &shared.app.memory.start()).await?;
    Ok(reply::json(page.page(&items)?.to_string()))
}

/// No response is in the background, so none can be cancelled.
pub(super) async fn cancel(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> HttpResult {
    stored(&shared, &id, &headers).await?;
    Err(ApiError::response_not_cancellable(&id).into())
}

async fn stored(shared: &Shared, id: &str, headers: &HeaderMap) -> Result<store::Response, ApiError> {
    let owner = Requester::of(shared, headers).owner;
    let found = shared.store.response(id, clock::milliseconds()).await?;
    found.filter(|response| response.exchange.owner == owner).ok_or_else(|| ApiError::response_not_found(id))
}
