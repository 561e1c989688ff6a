//! A character's turn before it starts: prompt, model, tools, and the request to the model.

use callboard_core::turn::{StageRules, TurnRequest, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::responses::{CharacterPart, ResponsesRequest};
use callboard_python::{Manifest, ReplyMode};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::driver::{TurnContext, TurnDriver};
use super::tool_runner::ToolRunner;
use crate::characters::{LoadedCharacter, offered};
use crate::config::Settings;
use crate::store::CharacterMemory;

/// The instructions of `REPLY = "tools_only"`, behind the character's own prompt.
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

/// The character's share of the request to its model.
struct ModelPart {
    model: String,
    prompt: String,
    tools: Vec<Value>,
}

/// A turn of a character that continues from a memory.
pub async fn drive_character(
    context: TurnContext<'_>,
    character: &LoadedCharacter,
    memory: CharacterMemory,
    client: CharacterRequest<'_>,
) -> Result<TurnDriver, ApiError> {
    let manifest = character.character.manifest();
    let part = ModelPart {
        model: model(&context, manifest).await?,
        prompt: prompt(character, &memory, client).await?,
        tools: tools(character, memory.record.state()).await?,
    };
    let request = model_request(&context, manifest, &memory, client, &part)?;
    let routes = context.upstreams.routes(&part.model, &context.client, context.authorization.as_ref()).await?;
    let deadline = Instant::now() + context.settings.stage.turn;
    let request_id = context.request_id.clone();
    tracing::debug!(request_id, character = manifest.id, model = part.model, "character turn");
    let runner = ToolRunner::new(character.character.clone(), memory, deadline, request_id);
    let rules = rules(context.settings, manifest, client);
    Ok(TurnDriver::character(context, request, rules, runner, routes))
}

fn rules(settings: &Settings, manifest: &Manifest, client: CharacterRequest<'_>) -> (TurnSettings, StageRules) {
    let stage = &settings.stage;
    let (most_calls, client_tools) = match client {
        CharacterRequest::Chat { .. } => (None, Vec::new()),
        CharacterRequest::Response { request, .. } => (request.max_tool_calls, request.client_tools()),
    };
    let rules = StageRules {
        rounds: manifest.limits.rounds.unwrap_or(u32::try_from(stage.rounds).unwrap_or(u32::MAX)),
        result_characters: manifest.limits.result.map_or(stage.result_characters, |most| most as usize),
        tools_only: manifest.reply == Some(ReplyMode::ToolsOnly),
        insists: stage.insist,
        requires_call: manifest.requires_call,
        most_calls,
        client_tools,
    };
    let arguments_bytes = manifest.limits.arguments.map_or(stage.arguments_bytes, |most| most as usize);
    (TurnSettings { reasks: 0, stream_arguments: false, arguments_bytes }, rules)
}

/// The conversation's prompt, this turn's context, and what the client adds.
async fn prompt(
    character: &LoadedCharacter,
    memory: &CharacterMemory,
    client: CharacterRequest<'_>,
) -> Result<String, ApiError> {
    let context = character.character.turn_context(memory.record.state()).await;
    let context = context.map_err(|failure| character.failed(&failure))?;
    let tools_only = character.character.manifest().reply == Some(ReplyMode::ToolsOnly);
    let system = match client {
        CharacterRequest::Chat { system, .. } => system,
        CharacterRequest::Response { .. } => &[],
    };
    let parts = std::iter::once(memory.system_prompt.as_str())
        .chain(tools_only.then_some(TOOLS_ONLY))
        .chain(context.as_deref())
        .chain(system.iter().map(String::as_str));
    Ok(parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n"))
}

/// The character's model: its own, the configured one, or the first there is.
async fn model(context: &TurnContext<'_>, manifest: &Manifest) -> Result<String, ApiError> {
    let configured = &context.settings.stage.model;
    match &manifest.model {
        Some(model) => Ok(model.clone()),
        None if !configured.is_empty() => Ok(configured.clone()),
        None => context.upstreams.first_model(&context.client, context.authorization.as_ref()).await,
    }
}

/// The tools of the file, or what the character offers in this state.
async fn tools(character: &LoadedCharacter, state: Option<&str>) -> Result<Vec<Value>, ApiError> {
    let own = character.character.tools(state).await.map_err(|failure| character.failed(&failure))?;
    Ok(own.map_or_else(|| character.tools().to_vec(), |tools| offered(&tools, character.character.manifest().undo)))
}

/// The request to the model.
fn model_request(
    context: &TurnContext<'_>,
    manifest: &Manifest,
    memory: &CharacterMemory,
    client: CharacterRequest<'_>,
    part: &ModelPart,
) -> Result<(ChatRequest, TurnRequest), ApiError> {
    match client {
        CharacterRequest::Chat { request, .. } => {
            let body = chat_body(request, &memory.messages, part);
            Ok(ChatRequest::read(body.into_bytes(), context.tools)?)
        }
        CharacterRequest::Response { request, context: items } => {
            let ModelPart { model, prompt, tools } = part;
            let body = request.character_body(items, &CharacterPart { id: &manifest.id, model, prompt, tools })?;
            let read = ChatRequest::read(body.into_bytes(), context.tools);
            Ok(read.map_err(|refusal| request.own_words_behind(refusal, tools.len()))?)
        }
    }
}

fn chat_body(request: &ChatRequest, messages: &[String], part: &ModelPart) -> String {
    let prompt = json!({"role": "system", "content": part.prompt});
    let mut body = format!("{{\"model\":{},\"messages\":[{prompt}", json!(part.model));
    for message in messages {
        body.push(',');
        body.push_str(message);
    }
    body.push(']');
    if !part.tools.is_empty() {
        body.push_str(",\"tools\":");
        body.push_str(&json!(part.tools).to_string());
    }
    for (key, value) in request.style_fields() {
        body.push_str(&format!(",{}:{value}", json!(key)));
    }
    if request.stream {
        body.push_str(",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    }
    body.push('}');
    body
}
