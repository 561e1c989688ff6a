//! A character's turn before it starts: prompt, model, tools, and the request to the model.

use callboard_core::contract::ToolCache;
use callboard_core::turn::{CharacterRules, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{CharacterPart, ChatRequest};
use callboard_core::wire::responses::ResponsesRequest;
use callboard_python::{Manifest, ToolManifest};
use serde_json::Value;
use tokio::time::Instant;

use super::driver::{TurnContext, TurnDriver};
use super::tool_runner::ToolRunner;
use crate::characters::{LoadedCharacter, compile_tools, offered};
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
    // What ran it may be at rest; it starts while the model thinks.
    character.character.wake();
    let manifest = character.character.manifest();
    let model = character_model(&context, manifest).await?;
    let prompt = prompt(character, &memory, client).await?;
    let (own, tools) = tools(character, memory.record.state(), context.tools).await?;
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
    let runner = ToolRunner::new(character.character.clone(), memory, deadline, request_id).with_tools(own);
    let rules = rules(context.settings, manifest, client);
    Ok(TurnDriver::character(context, request, rules, runner, routes))
}

fn rules(settings: &Settings, manifest: &Manifest, client: CharacterRequest<'_>) -> (TurnSettings, CharacterRules) {
    let stage = &settings.stage;
    let (most_calls, client_tools) = match client {
        CharacterRequest::Chat { request, .. } => (None, request.client_tools()),
        CharacterRequest::Response { request, .. } => (request.max_tool_calls, request.client_tools()),
    };
    let rules = CharacterRules {
        rounds: manifest.limits.rounds.unwrap_or(u32::try_from(stage.rounds).unwrap_or(u32::MAX)),
        result_characters: result_characters(settings, manifest),
        delivers_text: manifest.reply.delivers_text,
        asks_again: manifest.reply.asks_again,
        confirms: manifest.reply.confirms,
        requires_call: manifest.requires_call,
        most_calls,
        client_tools,
    };
    let (arguments_bytes, arguments_limit) = arguments_limit(settings, manifest);
    let reply_calls = settings.limits.reply_calls;
    (TurnSettings { reasks: 0, stream_arguments: false, arguments_bytes, arguments_limit, reply_calls }, rules)
}

/// How much of a result the model gets.
pub(super) fn result_characters(settings: &Settings, manifest: &Manifest) -> usize {
    manifest.limits.result.map_or(settings.stage.result_characters, |most| most as usize)
}

/// The longest arguments of a call, and what sets that limit.
pub(super) fn arguments_limit(settings: &Settings, manifest: &Manifest) -> (usize, &'static str) {
    match manifest.limits.arguments {
        Some(most) => (most as usize, "LIMITS[\"arguments\"]"),
        None => (settings.stage.arguments_bytes, "stage.arguments_bytes"),
    }
}

/// What a model is given before the messages.
pub struct CharacterPrompt {
    /// The conversation's prompt.
    pub system: String,
    /// What Callboard adds for a character that acts.
    pub rules: Option<&'static str>,
    /// This turn's context.
    pub context: Option<String>,
}

impl CharacterPrompt {
    /// The prompt of the next turn.
    pub async fn of(character: &LoadedCharacter, memory: &CharacterMemory) -> Result<Self, ApiError> {
        let context = character.character.turn_context(memory.record.state()).await;
        let context = context.map_err(|failure| character.failed(&failure))?;
        let acts = !character.character.manifest().reply.delivers_text;
        Ok(Self { system: memory.system_prompt.clone(), rules: acts.then_some(TOOLS_ONLY), context })
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.system.as_str()).chain(self.rules).chain(self.context.as_deref())
    }
}

/// The character's prompt, and what the client adds.
async fn prompt(
    character: &LoadedCharacter,
    memory: &CharacterMemory,
    client: CharacterRequest<'_>,
) -> Result<String, ApiError> {
    let prompt = CharacterPrompt::of(character, memory).await?;
    let system = match client {
        CharacterRequest::Chat { system, .. } => system,
        CharacterRequest::Response { .. } => &[],
    };
    let parts = prompt.parts().chain(system.iter().map(String::as_str));
    Ok(parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n"))
}

/// The tools that models get in this state.
pub async fn offered_tools(
    character: &LoadedCharacter,
    state: Option<&str>,
    cache: &ToolCache,
) -> Result<Vec<Value>, ApiError> {
    Ok(tools(character, state, cache).await?.1)
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

/// The tools of the file, or what the character offers in this state; the second list is what models get.
pub(super) async fn tools(
    character: &LoadedCharacter,
    state: Option<&str>,
    cache: &ToolCache,
) -> Result<(Option<Vec<ToolManifest>>, Vec<Value>), ApiError> {
    let own = character.own_tools(state).await?;
    let Some(own) = own else { return Ok((None, character.tools().to_vec())) };
    let list = offered(&own, character.character.manifest().undo);
    compile_tools(&list, cache).map_err(|refusal| character.offers_unusable_tools(&refusal))?;
    Ok((Some(own), list))
}
