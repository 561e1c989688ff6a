//! A character's turn before it starts: prompt, model, tools, and the request to the model.

use callboard_core::turn::{CharacterRules, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{CharacterPart, ChatRequest};
use callboard_core::wire::responses::ResponsesRequest;
use callboard_python::Manifest;
use serde_json::Value;
use tokio::time::Instant;

use super::driver::{TurnContext, TurnDriver};
use super::tool_runner::ToolRunner;
use crate::characters::LoadedCharacter;
use crate::config::Settings;
use crate::store::CharacterMemory;

/// The instructions for a character whose text is not delivered, behind its own prompt.
const TOOLS_ONLY: &str = "You act by calling tools; you do not chat. Call the tools for everything the user reports, several at \
once where several things are said. Do not ask questions back and do not explain. When nothing is to be done, or when it is \
unclear what, make no call and answer with nothing.";

/// What the client of a character sent.
#[derive(Clone, Copy)]
pub enum CharacterRequest<'a> {
    /// A chat request. Its messages are in the memory; `system` are the client's own system messages.
    Chat {
        /// The request.
        request: &'a ChatRequest,
        /// Added to the prompt.
        system: &'a [String],
    },
    /// A request for a response.
    Response {
        /// The request.
        request: &'a ResponsesRequest,
        /// The items before its input.
        context: &'a [Value],
    },
}

/// A turn of a character that continues from a memory.
pub async fn drive_character(
    context: TurnContext<'_>,
    character: &LoadedCharacter,
    memory: CharacterMemory,
    client: CharacterRequest<'_>,
) -> Result<TurnDriver, ApiError> {
    let manifest = character.character.manifest();
    let model = character_model(&context, manifest).await?;
    let prompt = prompt(character, &memory, client).await?;
    let tools = character.tools_in(memory.record.state()).await?;
    let part = CharacterPart { id: &manifest.id, model: &model, prompt: &prompt, tools: &tools };
    let request = match client {
        CharacterRequest::Chat { request, .. } => request.for_character(&part, &memory.messages, context.tools)?,
        CharacterRequest::Response { request, context: items } => {
            request.character_request(items, &part, context.tools)?
        }
    };
    let routes = context.upstreams.routes(&model, &context.client, context.authorization.as_ref()).await?;
    let deadline = Instant::now() + context.settings.stage.turn;
    let request_id = context.request_id.clone();
    tracing::debug!(request_id, character = manifest.id, model, "character turn");
    let runner = ToolRunner::new(character.character.clone(), memory, deadline, request_id);
    let rules = rules(context.settings, manifest, client);
    Ok(TurnDriver::character(context, request, rules, runner, routes))
}

fn rules(settings: &Settings, manifest: &Manifest, client: CharacterRequest<'_>) -> (TurnSettings, CharacterRules) {
    let stage = &settings.stage;
    let (most_calls, client_tools) = match client {
        CharacterRequest::Chat { .. } => (None, Vec::new()),
        CharacterRequest::Response { request, .. } => (request.max_tool_calls, request.client_tools()),
    };
    let rules = CharacterRules {
        rounds: manifest.limits.rounds.unwrap_or(u32::try_from(stage.rounds).unwrap_or(u32::MAX)),
        result_characters: manifest.limits.result.map_or(stage.result_characters, |most| most as usize),
        delivers_text: manifest.reply.delivers_text,
        asks_again: manifest.reply.asks_again,
        confirms: manifest.reply.confirms,
        requires_call: manifest.requires_call,
        most_calls,
        client_tools,
    };
    let arguments_bytes = manifest.limits.arguments.map_or(stage.arguments_bytes, |most| most as usize);
    let reply_calls = settings.limits.reply_calls;
    (TurnSettings { reasks: 0, stream_arguments: false, arguments_bytes, reply_calls }, rules)
}

/// The conversation's prompt, this turn's context, and what the client adds.
async fn prompt(
    character: &LoadedCharacter,
    memory: &CharacterMemory,
    client: CharacterRequest<'_>,
) -> Result<String, ApiError> {
    let context = character.character.turn_context(memory.record.state()).await;
    let context = context.map_err(|failure| character.failed(&failure))?;
    let acts = !character.character.manifest().reply.delivers_text;
    let system = match client {
        CharacterRequest::Chat { system, .. } => system,
        CharacterRequest::Response { .. } => &[],
    };
    let parts = std::iter::once(memory.system_prompt.as_str())
        .chain(acts.then_some(TOOLS_ONLY))
        .chain(context.as_deref())
        .chain(system.iter().map(String::as_str));
    Ok(parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n"))
}

/// The character's model: its own, the configured one, or the first there is. Without a server, its own is the rehearsal model.
pub async fn character_model(context: &TurnContext<'_>, manifest: &Manifest) -> Result<String, ApiError> {
    let configured = &context.settings.stage.model;
    match manifest.model.as_ref().filter(|_| context.upstreams.has_server()) {
        Some(model) => Ok(model.clone()),
        None if !configured.is_empty() => Ok(configured.clone()),
        None => context.upstreams.first_model(&context.client, context.authorization.as_ref()).await,
    }
}
