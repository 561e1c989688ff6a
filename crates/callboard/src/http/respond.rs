//! A request for a response becomes a turn: what it goes on from is found, and a model or a character is asked.

use std::sync::Arc;

use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::responses::{EventWriter, Framing, NewId, ResponseObject, ResponseStamp, ResponsesRequest};
use serde_json::Value;

use super::responses::ENDPOINT;
use super::router::Shared;
use super::running::{self, Asker};
use crate::clock;
use crate::responses::{
    Earlier, Followed, Home, Keeping, LocalResponses, ResponseTurn, Sheet, item_ids, load, new_response_id, renew_taken,
};
use crate::stage::{self, Asked, Past, Role, Run, Scene};
use crate::trace::TraceEvent;

/// How the reply is told.
#[derive(Clone, Copy)]
pub(super) enum Manner {
    /// As one object.
    Whole,
    /// As events.
    Streamed(Framing),
}

/// Makes everything ready for a response.
pub(super) async fn respond(
    shared: &Shared,
    request_id: &str,
    mut request: ResponsesRequest,
    asker: Asker,
    manner: Manner,
    local: Option<&LocalResponses>,
) -> Result<ResponseTurn, ApiError> {
    let (model, role) = (request.model.clone(), shared.app.cast.playing(&request.model)?);
    let followed =
        Followed { store: &shared.app.store, local, owner: &asker.owner, role: role.as_deref(), model: &model };
    let earlier = load(&mut request, &followed).await?;
    let (owner, caller) = (asker.owner.clone(), asker.caller.clone());
    let opens = role.is_some() && earlier.remembered.is_none();
    let place = earlier.remembered.as_ref().and_then(|remembered| remembered.place.clone());
    let character = role.as_ref().map(|role| role.character.manifest().id.clone());
    let mut run = run(shared, request_id, &request, &earlier, role, asker).await?;
    let id = new_response_id();
    let mut new_id = item_ids(&id);
    let input = input(&request, &earlier, &mut new_id);
    let conversation = match &earlier.home {
        Home::Conversation(turn) => Some(turn.standing().conversation.id.clone()),
        _ => None,
    };
    if let Some(run) = &mut run {
        let stored = TraceEvent::StoredAs { conversation: conversation.as_deref(), response: Some(&id) };
        run.trace_with(&shared.app.traces, ENDPOINT, caller.as_ref()).record(stored);
    }
    let server_label = character.clone().unwrap_or_default();
    let stamp = ResponseStamp { id, created_at: clock::seconds(), conversation, server_label, new_id };
    let object = ResponseObject::new(&request, stamp);
    let sheet = match manner {
        Manner::Whole => Sheet::Whole(object),
        Manner::Streamed(framing) => Sheet::Streamed(EventWriter::new(object, framing)),
    };
    let Earlier { items, home, alone, .. } = earlier;
    let earlier = if local.is_some() { items } else { Vec::new() };
    let (store, stored) = (shared.app.store.clone(), request.store);
    let keeping = Keeping { store, home, stored, owner, input, earlier, alone, character, opens, place };
    Ok(ResponseTurn::new(run, sheet, keeping))
}

/// The input as it is stored. Ids that the conversation holds already are made anew.
fn input(request: &ResponsesRequest, earlier: &Earlier, new_id: &mut NewId) -> Vec<Value> {
    let mut items = request.input_items(new_id);
    renew_taken(&mut items, &earlier.items, new_id);
    items
}

/// Who answers; nobody where the request only prepares a later one.
async fn run(
    shared: &Shared,
    request_id: &str,
    request: &ResponsesRequest,
    earlier: &Earlier,
    role: Option<Arc<Role>>,
    asker: Asker,
) -> Result<Option<Run>, ApiError> {
    match role {
        _ if !request.generate => Ok(None),
        Some(role) => {
            let scene = scene(shared, request_id, request, earlier, role, asker).await?;
            Ok(Some(Run::Stage(Box::new(scene))))
        }
        None => {
            let (chat, turn) = checked(shared, request, earlier)?;
            let authorization = asker.authorization.as_ref();
            let routes = shared.app.upstreams.routes(&request.model, &shared.client, authorization).await?;
            let session = running::session(shared, request_id, chat, turn, routes, asker);
            Ok(Some(Run::Gateway(Box::new(session))))
        }
    }
}

fn checked(
    shared: &Shared,
    request: &ResponsesRequest,
    earlier: &Earlier,
) -> Result<(ChatRequest, callboard_core::turn::TurnRequest), ApiError> {
    let body = request.chat_body(&earlier.items)?;
    let read = ChatRequest::read(body.into_bytes(), &shared.app.tools);
    Ok(read.map_err(|refusal| request.own_words(refusal))?)
}

async fn scene(
    shared: &Shared,
    request_id: &str,
    request: &ResponsesRequest,
    earlier: &Earlier,
    role: Arc<Role>,
    asker: Asker,
) -> Result<Scene, ApiError> {
    let (system_prompt, record) = match &earlier.remembered {
        Some(remembered) => (remembered.system_prompt.clone(), remembered.record.clone()),
        None => stage::open(&role).await?,
    };
    let past = Past { system_prompt, record, ..Past::default() };
    let asked = Asked::Response(request, &earlier.items);
    Scene::begin(running::scene_parts(shared, request_id, role, asked, asker), past).await
}
