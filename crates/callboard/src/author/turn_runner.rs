//! A turn of a character at the terminal: how it is prepared, and its result.

use std::sync::Arc;

use callboard_core::contract::{Report, ToolCache};
use callboard_core::turn::{Event, ToolResult};
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::{ApiError, ReplyEnd, ReplyWriter};
use serde_json::{Value, json};

use crate::characters::LoadedCharacter;
use crate::config::Settings;
use crate::conversation::{ChatOwner, ChatSnapshots, ChatSources, MemorySlot, Saving, resume_chat};
use crate::memory_budget::MemoryBudget;
use crate::random;
use crate::session::{CharacterRequest, Session, Step, TurnContext, TurnDriver, character_model, drive_character};
use crate::store::CharacterMemory;
use crate::upstream::{Client, Route, Upstreams};

/// What the turns of one character need.
pub(super) struct CharacterTurns<'a> {
    /// The character.
    pub(super) character: Arc<LoadedCharacter>,
    /// The settings.
    pub(super) settings: &'a Settings,
    /// Compiled tools.
    pub(super) tools: &'a ToolCache,
    /// The model servers.
    pub(super) upstreams: &'a Upstreams,
    /// Connections to them.
    pub(super) client: Client,
}

impl CharacterTurns<'_> {
    /// Prepares the next turn of a conversation with these messages.
    pub(super) async fn next<W: ReplyWriter>(
        &self,
        messages: &[Value],
        snapshots: &ChatSnapshots,
        writer: W,
    ) -> Result<Session<W>, ApiError> {
        let id = &self.character.character.manifest().id;
        let request = self.request(&json!({"model": id, "messages": messages}))?;
        let sources = ChatSources { snapshots, tools: self.tools, memory: &MemoryBudget::unlimited().start() };
        let chat = resume_chat(&sources, &self.character, &request, &ChatOwner::default()).await?;
        let client = CharacterRequest::Chat { request: &request, system: &chat.system };
        let driver = drive_character(self.context(), &self.character, chat.memory, client).await?;
        Ok(Session::new(Some(driver), writer, Saving::ChatHistory(Box::new(chat.history))))
    }

    /// Prepares a turn with this message in a conversation that is at this point. It is not saved.
    pub(super) async fn at(&self, memory: CharacterMemory, say: &str) -> Result<Session<EventLog>, ApiError> {
        let message = json!({"role": "user", "content": say});
        let body = json!({"model": memory.character, "messages": [message], "temperature": 0});
        Ok(Session::new(Some(self.driver(memory, &body).await?), EventLog::default(), Saving::Nothing))
    }

    /// The same; the end of the turn is put into the slot.
    pub(super) async fn continued<W: ReplyWriter>(
        &self,
        memory: CharacterMemory,
        say: &str,
        (writer, slot): (W, &MemorySlot),
    ) -> Result<Session<W>, ApiError> {
        let message = json!({"role": "user", "content": say});
        let body = json!({"model": memory.character, "messages": [message]});
        Ok(Session::new(Some(self.driver(memory, &body).await?), writer, Saving::InMemory(slot.clone())))
    }

    /// The model that plays, and the server that has it.
    pub(super) async fn route(&self) -> Result<Route, ApiError> {
        let model = character_model(&self.context(), self.character.character.manifest()).await?;
        let routes = self.upstreams.routes(&model, &self.client, None).await?;
        routes.into_iter().next().ok_or_else(ApiError::no_upstream)
    }

    async fn driver(&self, mut memory: CharacterMemory, body: &Value) -> Result<TurnDriver, ApiError> {
        memory.messages.push(body["messages"][0].to_string());
        let request = self.request(body)?;
        let client = CharacterRequest::Chat { request: &request, system: &[] };
        drive_character(self.context(), &self.character, memory, client).await
    }

    fn request(&self, body: &Value) -> Result<ChatRequest, ApiError> {
        Ok(ChatRequest::read(body.to_string().into_bytes(), self.tools)?.0)
    }

    fn context(&self) -> TurnContext<'_> {
        TurnContext {
            settings: self.settings,
            tools: self.tools,
            upstreams: self.upstreams,
            client: self.client.clone(),
            authorization: None,
            request_id: format!("terminal_{}", random::letters::<12>()),
            memory: MemoryBudget::unlimited().start(),
        }
    }
}

/// The result of one turn.
#[derive(Debug, Default)]
pub(super) struct RecordedTurn {
    /// The text of the reply.
    pub(super) text: String,
    /// Calls of the client's tools.
    pub(super) calls: Vec<callboard_core::contract::Call>,
    /// The results of all calls that were run here, also of those that never reached a tool.
    pub(super) results: Vec<ToolResult>,
    /// The character's state after it.
    pub(super) state: Value,
    /// Why it failed.
    pub(super) failure: Option<String>,
}

/// Collects the events of a turn.
#[derive(Default)]
pub(super) struct EventLog(RecordedTurn);

impl RecordedTurn {
    /// Runs a turn until it completes or fails.
    pub(super) async fn run(prepared: Result<Session<EventLog>, ApiError>) -> Self {
        let mut session = match prepared {
            Ok(session) => session,
            Err(error) => return Self { failure: Some(error.message), ..Self::default() },
        };
        let failure = loop {
            match session.next().await {
                Step::Done(..) => break None,
                Step::Failed(error, _) => break Some(error.message),
                Step::Piece(_) | Step::KeepAlive => {}
            }
        };
        let state = session.memory().and_then(|memory| serde_json::from_str(memory.record.state()?).ok());
        let turn = std::mem::take(&mut session.writer().0);
        Self { failure, state: state.unwrap_or_default(), ..turn }
    }
}

impl ReplyWriter for EventLog {
    fn event(&mut self, event: Event, _out: &mut String) {
        match event {
            Event::Text(text) => self.0.text.push_str(&text),
            Event::Call(call) => self.0.calls.push(call),
            Event::RanTool(result) => self.0.results.push(result),
            _ => {}
        }
    }

    fn complete(&mut self, _end: ReplyEnd<'_>, _out: &mut String) {}

    fn finish(&mut self, _report: &Report, _out: &mut String) {}

    fn fail(&mut self, _error: &ApiError, _report: &Report, _out: &mut String) {}

    fn take_body(&mut self) -> String {
        String::new()
    }
}
