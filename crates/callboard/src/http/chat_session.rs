//! The session that answers a chat request, whatever wire it came in by.

use std::sync::Arc;

use callboard_core::turn::TurnRequest;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::{ApiError, ReplyWriter};

use super::delivery::Incoming;
use super::requester::{CONVERSATION, Requester};
use super::router::Shared;
use crate::characters::LoadedCharacter;
use crate::conversation::{ChatOwner, ChatSources, ResumedChat, Saving, resume_chat, resume_conversation};
use crate::session::{CharacterRequest, Session, TurnDriver, drive_character};
use crate::trace::{ClientRequest, TraceEvent};
use crate::upstream::Route;

/// Who answers.
pub(super) enum Answerer {
    Character(Arc<LoadedCharacter>),
    /// The servers that have the model.
    Model(Vec<Route>),
}

/// The character of this name, or the servers that have the model.
pub(super) async fn find_answerer(shared: &Shared, incoming: &Incoming, model: &str) -> Result<Answerer, ApiError> {
    if let Some(character) = shared.app.characters.for_model(model)? {
        return Ok(Answerer::Character(character));
    }
    Ok(Answerer::Model(model_routes(shared, &incoming.requester, model).await?))
}

/// The servers that have a model. The error for an unknown name also lists the characters.
pub(super) async fn model_routes(shared: &Shared, requester: &Requester, model: &str) -> Result<Vec<Route>, ApiError> {
    let routes = shared.app.upstreams.routes(model, &shared.client, requester.authorization.as_ref()).await;
    routes.map_err(|missing| missing.to_api(shared.app.characters.ids()))
}

/// A chat request as its wire has read it.
pub(super) struct ChatTurn<W> {
    /// The wire's name in metrics and traces.
    pub(super) endpoint: &'static str,
    pub(super) request: (ChatRequest, TurnRequest),
    pub(super) answerer: Answerer,
    pub(super) writer: W,
}

/// Prepares the turn.
pub(super) async fn chat_session<W: ReplyWriter>(
    shared: &Shared,
    incoming: &Incoming,
    turn: ChatTurn<W>,
) -> Result<Session<W>, ApiError> {
    let ChatTurn { endpoint, request: (request, turn), answerer, writer } = turn;
    let owner = incoming.requester.chat_owner(incoming.conversation.as_ref())?;
    let context = incoming.requester.turn_context(shared, &incoming.id, &incoming.memory);
    let (mut driver, saving) = match answerer {
        Answerer::Character(character) => {
            let chat = Box::pin(resume(shared, incoming, &character, (&request, &owner))).await?;
            incoming.memory.grow(chat.memory.bytes())?;
            let client = CharacterRequest::Chat { request: &request, system: &chat.system };
            // Boxed, because its future is large and most requests are for models.
            let driver = Box::pin(drive_character(context, &character, chat.memory, client)).await?;
            (driver, Saving::ChatHistory(Box::new(chat.history)))
        }
        Answerer::Model(routes) => (TurnDriver::gateway(context, (request, turn), routes), Saving::Nothing),
    };
    let named_conversation = owner.conversation.as_deref();
    let client =
        ClientRequest { named_conversation, ..incoming.requester.traced(endpoint, incoming.recorded.as_deref()) };
    let trace = driver.trace_with(&shared.app.traces, client);
    // By its id, so that the trace is deleted with it. A turn that is stored nowhere keeps the client's name.
    let conversation = saving.chat_conversation().or(owner.conversation.as_deref());
    trace.record(TraceEvent::StoredAs { conversation, response: None });
    Ok(Session::new(Some(driver), writer, saving))
}

/// The conversation that the client names by its id, or the one that its history or another name leads to.
async fn resume(
    shared: &Shared,
    incoming: &Incoming,
    character: &LoadedCharacter,
    (request, owner): (&ChatRequest, &ChatOwner),
) -> Result<ResumedChat, ApiError> {
    let sources = ChatSources { snapshots: &shared.chat_snapshots, tools: &shared.app.tools, memory: &incoming.memory };
    match owner.conversation_id() {
        Some(id) => {
            let resumed = resume_conversation(&sources, character, request, (id, &owner.owner)).await;
            resumed.map_err(|error| error.about(CONVERSATION.as_str()))
        }
        None => resume_chat(&sources, character, request, owner).await,
    }
}
