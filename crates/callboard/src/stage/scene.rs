//! One turn of a character for one client: the conversation is found, the turn is played, and what came of it is kept.

use std::sync::Arc;

use callboard_core::model::Usage;
use callboard_core::turn::{Event, StageRules, Turn, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChatRequest, PlainMessage, message_text};
use callboard_core::{contract::Report, contract::ToolCache};
use callboard_python::ReplyMode;
use http::HeaderValue;
use serde_json::json;
use tokio::time::Instant;

use super::Role;
use super::chain::Key;
use super::conversations::{Conversations, Found, Snapshot};
use super::role::offered;
use crate::config::Settings;
use crate::session::{Asking, Performer, Progress, Record, Session, SessionParts};
use crate::telemetry::stage as counters;
use crate::upstream::{Client, Upstreams};

/// What a character that acts instead of talking is told besides its own prompt.
const ACTS: &str = "You act by calling tools; you do not chat. Call the tools for everything the user reports, several at \
once where several things are said. Do not ask questions back and do not explain. When nothing is to be done, or when it is \
unclear what, make no call and answer with nothing.";

/// What a turn needs.
pub struct SceneParts<'a> {
    /// The character.
    pub role: Arc<Role>,
    /// What the client sent.
    pub request: &'a ChatRequest,
    /// What is remembered.
    pub conversations: Arc<Conversations>,
    /// The settings.
    pub settings: &'a Settings,
    /// Compiled tools.
    pub tools: &'a ToolCache,
    /// The model servers.
    pub upstreams: &'a Upstreams,
    /// The way to them.
    pub client: Client,
    /// The client's own key.
    pub authorization: Option<HeaderValue>,
    /// The conversation that the client names, if it does.
    pub named: Option<String>,
    /// Names the request in the log.
    pub request_id: String,
    /// Where new call ids come from.
    pub random: fn() -> [u8; 24],
}

/// A turn in motion.
pub struct Scene {
    session: Session,
    conversations: Arc<Conversations>,
    start: Key,
    key: Key,
    messages: Vec<String>,
    system_prompt: String,
    said: String,
    over: bool,
}

/// Finds the conversation and makes everything ready for the turn.
pub async fn begin(parts: SceneParts<'_>) -> Result<Scene, ApiError> {
    refuse_foreign_fields(parts.request, &parts.role)?;
    let (system, history) = split_history(parts.request.history());
    let start = start_key(&parts);
    let found = find(&parts, start, &history);
    let snapshot = match &found.snapshot {
        Some(snapshot) => Snapshot::clone(snapshot),
        None => open(&parts.role).await?,
    };
    let mut messages = snapshot.messages;
    messages.extend(history.into_iter().skip(found.covered).map(|message| message.json));
    let prompt = full_prompt(&parts.role, &snapshot.system_prompt, snapshot.record.state(), &system).await?;
    let session = session(&parts, &prompt, &messages, snapshot.record).await?;
    Ok(Scene {
        session,
        conversations: parts.conversations,
        start,
        key: found.key,
        messages,
        system_prompt: snapshot.system_prompt,
        said: String::new(),
        over: false,
    })
}

/// What a character's client cannot ask for in Chat Completions is refused by name.
fn refuse_foreign_fields(request: &ChatRequest, role: &Role) -> Result<(), ApiError> {
    let name = &role.character.manifest().id;
    let mut error = match request {
        request if request.offers_tools => {
            let message =
                format!("the character {name:?} runs its own tools; send none here, or ask its model directly");
            ApiError::new(400, "unsupported_parameter", message)
        }
        request if request.asks_for_format() => {
            let message = format!("the character {name:?} answers in words; leave response_format out");
            ApiError::new(400, "unsupported_parameter", message)
        }
        _ => return Ok(()),
    };
    error.param = Some(if request.offers_tools { "tools" } else { "response_format" }.to_owned());
    Err(error)
}

/// System messages of the client apart from what was said.
fn split_history(history: Vec<PlainMessage>) -> (Vec<String>, Vec<PlainMessage>) {
    let (system, said): (Vec<_>, Vec<_>) =
        history.into_iter().partition(|message| matches!(message.role.as_str(), "system" | "developer"));
    (system.into_iter().map(|message| message.text).collect(), said)
}

/// Conversations of different people and different names never meet.
fn start_key(parts: &SceneParts<'_>) -> Key {
    let person = parts.authorization.as_ref().and_then(|value| value.to_str().ok()).unwrap_or_default();
    let user = parts.request.text_field("user").unwrap_or_default();
    let named = parts.named.as_deref().unwrap_or_default();
    Key::start(&[&parts.role.character.manifest().id, person, &user, named])
}

fn find(parts: &SceneParts<'_>, start: Key, history: &[PlainMessage]) -> Found {
    let found = parts.conversations.find(start, history);
    let is_new = history.iter().all(|message| message.role == "user");
    if found.snapshot.is_none() && is_new && parts.named.is_some() {
        return Found { snapshot: parts.conversations.named(start), ..found };
    }
    found
}

/// A conversation at its beginning.
async fn open(role: &Role) -> Result<Snapshot, ApiError> {
    let opening = role.character.open().await.map_err(|failure| character_failed(role, &failure))?;
    let record = Record::new(opening.state);
    Ok(Snapshot { system_prompt: opening.system_prompt, record, ..Snapshot::default() })
}

fn character_failed(role: &Role, failure: &callboard_python::Failure) -> ApiError {
    let id = &role.character.manifest().id;
    tracing::error!(character = id, %failure, "a character failed");
    ApiError::new(500, "character_failed", format!("the character {id:?} failed before its turn: {failure}"))
}

/// The prompt of the conversation, what holds at this turn, and what the client adds.
async fn full_prompt(role: &Role, prompt: &str, state: Option<&str>, system: &[String]) -> Result<String, ApiError> {
    let context = role.character.turn_context(state).await.map_err(|failure| character_failed(role, &failure))?;
    let acts = (role.character.manifest().reply == Some(ReplyMode::ToolsOnly)).then(|| ACTS.to_owned());
    let parts = std::iter::once(prompt.to_owned()).chain(acts).chain(context).chain(system.iter().cloned());
    Ok(parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n"))
}

async fn session(
    parts: &SceneParts<'_>,
    prompt: &str,
    messages: &[String],
    record: Record,
) -> Result<Session, ApiError> {
    let manifest = parts.role.character.manifest();
    let model = model(parts).await?;
    let tools = tools(&parts.role, record.state()).await?;
    let body = request_body(parts, &model, prompt, messages, tools.as_deref());
    let (request, turn) = ChatRequest::read(body.into_bytes(), parts.tools)?;
    let routes = parts.upstreams.routes(&model, &parts.client, parts.authorization.as_ref()).await?;
    let asking = Asking {
        routes,
        client: parts.client.clone(),
        authorization: parts.authorization.clone(),
        retries: parts.settings.limits.retries,
        request_id: parts.request_id.clone(),
    };
    let stage = &parts.settings.stage;
    let arguments_bytes = manifest.limits.arguments.map_or(stage.arguments_bytes, |most| most as usize);
    let settings = TurnSettings { reasks: 0, stream_arguments: false, arguments_bytes };
    let rules = StageRules {
        rounds: manifest.limits.rounds.unwrap_or(u32::try_from(stage.rounds).unwrap_or(u32::MAX)),
        result_characters: manifest.limits.result.map_or(stage.result_characters, |most| most as usize),
        tools_only: manifest.reply == Some(ReplyMode::ToolsOnly),
        insists: stage.insist,
        requires_call: manifest.requires_call,
    };
    let deadline = Instant::now() + stage.turn;
    let performer = Performer::new(parts.role.character.clone(), record, deadline, parts.request_id.clone());
    tracing::debug!(request_id = parts.request_id, character = manifest.id, model, "a character's turn");
    Ok(Session::new(SessionParts {
        turn: Turn::on_stage(turn, settings, rules, Box::new(parts.random)),
        request,
        asking,
        idle: parts.settings.timeouts.idle,
        keep_alive: parts.settings.timeouts.keep_alive,
        reply_bytes: parts.settings.limits.reply_bytes,
        performer: Some(performer),
    }))
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
async fn tools(role: &Role, state: Option<&str>) -> Result<Option<String>, ApiError> {
    let own = role.character.tools(state).await.map_err(|failure| character_failed(role, &failure))?;
    Ok(own.map_or_else(|| role.tools().map(str::to_owned), |tools| offered(&tools, role.character.manifest().undo)))
}

fn request_body(parts: &SceneParts<'_>, model: &str, prompt: &str, messages: &[String], tools: Option<&str>) -> String {
    let mut body =
        format!("{{\"model\":{},\"messages\":[{}", json!(model), json!({"role": "system", "content": prompt}));
    for message in messages {
        body.push(',');
        body.push_str(message);
    }
    body.push(']');
    if let Some(tools) = tools {
        body.push_str(",\"tools\":");
        body.push_str(tools);
    }
    for (key, value) in parts.request.style_fields() {
        body.push_str(&format!(",{}:{value}", json!(key)));
    }
    if parts.request.stream {
        body.push_str(",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    }
    body.push('}');
    body
}

impl Scene {
    /// Goes on until there is something to say.
    pub async fn next(&mut self) -> Progress {
        let progress = self.session.next().await;
        match &progress {
            Progress::Events(events) => self.listen(events),
            Progress::Complete(..) => self.keep(),
            Progress::Failed(_) => self.keep_interrupted(),
            Progress::KeepAlive => {}
        }
        progress
    }

    /// What was done to keep the contract.
    pub fn report(&self) -> &Report {
        self.session.report()
    }

    /// The usage to show.
    pub fn usage_or_estimate(&self, usage: Option<Usage>) -> Usage {
        self.session.usage_or_estimate(usage)
    }

    /// The character's state after all that succeeded.
    pub fn state(&self) -> Option<&str> {
        self.session.record().and_then(Record::state)
    }

    fn listen(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Text(text) => self.said.push_str(text),
                // Calls that ran are counted where they run.
                Event::RanTool(result) if !result.outcome.has_run() => counters::tool_error(result.outcome),
                _ => {}
            }
        }
    }

    fn keep(&mut self) {
        self.over = true;
        let snapshot = self.snapshot();
        self.conversations.keep(self.start, self.key, &self.said, snapshot);
    }

    /// A turn that the client left, or that failed on the way: what happened in it has happened.
    fn keep_interrupted(&mut self) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        self.session.interrupt();
        let snapshot = self.snapshot();
        self.conversations.keep_interrupted(self.start, self.key, &self.said, snapshot);
    }

    fn snapshot(&self) -> Snapshot {
        let spoken = self.session.transcript().iter().map(message_text);
        Snapshot {
            system_prompt: self.system_prompt.clone(),
            record: self.session.record().cloned().unwrap_or_default(),
            messages: self.messages.iter().cloned().chain(spoken).collect(),
            interrupted: None,
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.keep_interrupted();
    }
}
