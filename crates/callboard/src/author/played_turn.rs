//! One turn of a character, played at the terminal: what it needs, and what came of it.

use std::sync::Arc;

use callboard_core::contract::ToolCache;
use callboard_core::turn::{Event, ToolResult};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use serde_json::{Value, json};

use crate::config::Settings;
use crate::random;
use crate::session::Progress;
use crate::stage::{Asked, Conversations, Past, Role, Scene, SceneParts, Whose, begin_in_history};
use crate::upstream::{Client, Upstreams};

/// What the turns of one character need.
pub(super) struct TurnPlayer<'a> {
    /// The character.
    pub(super) role: Arc<Role>,
    /// The settings.
    pub(super) settings: &'a Settings,
    /// Compiled tools.
    pub(super) tools: &'a ToolCache,
    /// The model servers.
    pub(super) upstreams: &'a Upstreams,
    /// Connections to them.
    pub(super) client: Client,
}

/// What came of one turn.
#[derive(Debug, Default)]
pub(super) struct PlayedTurn {
    /// The text of the reply.
    pub(super) text: String,
    /// The results of all calls, also of those that never reached a tool.
    pub(super) results: Vec<ToolResult>,
    /// The character's state after it.
    pub(super) state: Value,
    /// Why it failed.
    pub(super) failure: Option<String>,
}

impl TurnPlayer<'_> {
    /// Begins the next turn of a conversation of which these are all messages.
    pub(super) async fn begin(&self, messages: &[Value], conversations: &Conversations) -> Result<Scene, ApiError> {
        let request = self.request(&json!({"model": self.role.character.manifest().id, "messages": messages}))?;
        begin_in_history(self.parts(&request), &request, conversations, &Whose::default()).await
    }

    /// Begins a turn in which the user says this in a conversation that is at this point.
    pub(super) async fn begin_at(&self, mut past: Past, say: &str) -> Result<Scene, ApiError> {
        let message = json!({"role": "user", "content": say});
        past.messages.push(message.to_string());
        let id = &self.role.character.manifest().id;
        let request = self.request(&json!({"model": id, "messages": [message], "temperature": 0}))?;
        Scene::begin(self.parts(&request), past).await
    }

    fn request(&self, body: &Value) -> Result<ChatRequest, ApiError> {
        let (request, _) = ChatRequest::read(body.to_string().into_bytes(), self.tools)?;
        Ok(request)
    }

    fn parts<'b>(&'b self, request: &'b ChatRequest) -> SceneParts<'b> {
        SceneParts {
            role: Arc::clone(&self.role),
            asked: Asked::Chat(request),
            settings: self.settings,
            tools: self.tools,
            upstreams: self.upstreams,
            client: self.client.clone(),
            authorization: None,
            request_id: format!("terminal_{}", random::letters::<12>()),
            random: random::bytes,
        }
    }
}

impl PlayedTurn {
    /// Plays a turn to its end.
    pub(super) async fn of(begun: Result<Scene, ApiError>) -> Self {
        let mut turn = Self::default();
        match begun {
            Ok(mut scene) => {
                turn.failure = turn.follow(&mut scene).await.err().map(|error| error.message);
                turn.state = scene.state().and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default();
            }
            Err(error) => turn.failure = Some(error.message),
        }
        turn
    }

    async fn follow(&mut self, scene: &mut Scene) -> Result<(), ApiError> {
        loop {
            match scene.next().await {
                Progress::Events(events) => events.into_iter().for_each(|event| self.add(event)),
                Progress::KeepAlive => {}
                Progress::Failed(error) => return Err(error),
                Progress::Complete(..) => return Ok(()),
            }
        }
    }

    fn add(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.text.push_str(&text),
            Event::RanTool(result) => self.results.push(result),
            _ => {}
        }
    }
}
