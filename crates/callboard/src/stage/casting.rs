//! What a turn is made of before it begins: the prompt, the model, the tools, the request to the model, and the session that
//! plays it.

use callboard_core::turn::{CharacterRules, Turn, TurnRequest, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{CharacterPart, ChatRequest};
use callboard_core::wire::responses::ResponsesRequest;
use callboard_python::ReplyMode;
use serde_json::Value;
use tokio::time::Instant;

use super::role::offered;
use super::{Past, Role, SceneParts};
use crate::session::{Asking, Performer, Record, Session, SessionParts, UnderWay};

/// What a character that acts instead of talking is told besides its own prompt.
const ACTS: &str = "You act by calling tools; you do not chat. Call the tools for everything the user reports, several at \
once where several things are said. Do not ask questions back and do not explain. When nothing is to be done, or when it is \
unclear what, make no call and answer with nothing.";

/// What the client of a turn sent.
#[derive(Clone, Copy)]
pub enum Asked<'a> {
    /// A chat request.
    Chat(&'a ChatRequest),
    /// A request for a response, and the items that stand before its input.
    Response(&'a ResponsesRequest, &'a [Value]),
}

/// Who plays, and with what.
struct Casting {
    model: String,
    prompt: String,
    tools: Vec<Value>,
}

/// A conversation at its beginning.
pub async fn open(role: &Role) -> Result<(String, Record), ApiError> {
    let opening = role.character.open().await.map_err(|failure| character_failed(role, &failure))?;
    Ok((opening.system_prompt, Record::new(opening.state)))
}

fn character_failed(role: &Role, failure: &callboard_python::Failure) -> ApiError {
    let id = &role.character.manifest().id;
    // Its words may quote the conversation.
    tracing::error!(character = id, "a character failed before its turn");
    tracing::debug!(character = id, %failure, "a character failed before its turn");
    ApiError::new(500, "character_failed", format!("the character {id:?} failed before its turn: {failure}"))
}

/// The session that goes on from there.
pub(super) async fn session(parts: &SceneParts<'_>, past: &Past) -> Result<Session, ApiError> {
    let casting = Casting {
        model: model(parts).await?,
        prompt: full_prompt(&parts.role, past).await?,
        tools: tools(&parts.role, past.record.state()).await?,
    };
    let (request, turn) = request(parts, past, &casting)?;
    let model = &casting.model;
    let routes = parts.upstreams.routes(model, &parts.client, parts.authorization.as_ref()).await?;
    let asking = Asking {
        routes,
        client: parts.client.clone(),
        authorization: parts.authorization.clone(),
        retries: parts.settings.limits.retries,
        request_id: parts.request_id.clone(),
        under_way: UnderWay::default(),
    };
    let (stage, manifest) = (&parts.settings.stage, parts.role.character.manifest());
    let arguments_bytes = manifest.limits.arguments.map_or(stage.arguments_bytes, |most| most as usize);
    let settings = TurnSettings { reasks: 0, stream_arguments: false, arguments_bytes };
    let deadline = Instant::now() + stage.turn;
    let performer =
        Performer::new(parts.role.character.clone(), past.record.clone(), deadline, parts.request_id.clone());
    tracing::debug!(request_id = parts.request_id, character = manifest.id, model, "a character's turn");
    Ok(Session::new(SessionParts {
        turn: Turn::for_character(turn, settings, rules(parts), Box::new(parts.random)),
        request,
        asking,
        idle: parts.settings.timeouts.idle,
        keep_alive: parts.settings.timeouts.keep_alive,
        reply_bytes: parts.settings.limits.reply_bytes,
        performer: Some(performer),
    }))
}

fn rules(parts: &SceneParts<'_>) -> CharacterRules {
    let (stage, manifest) = (&parts.settings.stage, parts.role.character.manifest());
    let (most_calls, client_tools) = match parts.asked {
        Asked::Chat(_) => (None, Vec::new()),
        Asked::Response(request, _) => (request.max_tool_calls, request.client_tools()),
    };
    CharacterRules {
        rounds: manifest.limits.rounds.unwrap_or(u32::try_from(stage.rounds).unwrap_or(u32::MAX)),
        result_characters: manifest.limits.result.map_or(stage.result_characters, |most| most as usize),
        tools_only: manifest.reply == Some(ReplyMode::ToolsOnly),
        insists: stage.insist,
        requires_call: manifest.requires_call,
        most_calls,
        client_tools,
    }
}

/// The prompt of the conversation, what holds at this turn, and what the client adds.
async fn full_prompt(role: &Role, past: &Past) -> Result<String, ApiError> {
    let context =
        role.character.turn_context(past.record.state()).await.map_err(|failure| character_failed(role, &failure))?;
    let acts = (role.character.manifest().reply == Some(ReplyMode::ToolsOnly)).then(|| ACTS.to_owned());
    let parts =
        std::iter::once(past.system_prompt.clone()).chain(acts).chain(context).chain(past.system.iter().cloned());
    Ok(parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n"))
}

/// The model that plays the character: its own, the configured one, or the first there is.
async fn model(parts: &SceneParts<'_>) -> Result<String, ApiError> {
    if let Some(model) = &parts.role.character.manifest().model {
        return Ok(model.clone());
    }
    if !parts.settings.stage.model.is_empty() {
        return Ok(parts.settings.stage.model.clone());
    }
    parts.upstreams.first_model(&parts.client, parts.authorization.as_ref()).await
}

/// The tools on offer: those of the file, or what the character offers in this state.
async fn tools(role: &Role, state: Option<&str>) -> Result<Vec<Value>, ApiError> {
    let own = role.character.tools(state).await.map_err(|failure| character_failed(role, &failure))?;
    Ok(own.map_or_else(|| role.tools().to_vec(), |tools| offered(&tools, role.character.manifest().undo)))
}

/// The request to the model, checked like any other.
fn request(parts: &SceneParts<'_>, past: &Past, casting: &Casting) -> Result<(ChatRequest, TurnRequest), ApiError> {
    let id = &parts.role.character.manifest().id;
    let Casting { model, prompt, tools } = casting;
    let part = CharacterPart { id, model, prompt, tools };
    Ok(match parts.asked {
        Asked::Chat(request) => request.for_character(&part, &past.messages, parts.tools)?,
        Asked::Response(request, earlier) => request.character_request(earlier, &part, parts.tools)?,
    })
}
