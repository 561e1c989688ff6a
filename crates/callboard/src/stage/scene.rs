//! One turn of a character for one client, from where its conversation stands.
//!
//! A turn of Chat Completions keeps itself in its history. All others are kept by whoever began them, with what else belongs to
//! them; they ask for the record when the turn is over.

use std::sync::Arc;

use callboard_core::contract::{Report, ToolCache};
use callboard_core::model::Usage;
use callboard_core::turn::Event;
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::message_text;
use http::HeaderValue;

use super::casting::{Asked, session};
use super::{InHistory, Role};
use crate::config::Settings;
use crate::session::{Progress, Record, Session};
use crate::telemetry::character_metrics as counters;
use crate::upstream::{Client, Upstreams};

/// What a turn needs.
pub struct SceneParts<'a> {
    /// The character.
    pub role: Arc<Role>,
    /// What the client sent.
    pub asked: Asked<'a>,
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
    /// Names the request in the log.
    pub request_id: String,
    /// Where new call ids come from.
    pub random: fn() -> [u8; 24],
}

/// Where a conversation stands when a turn begins.
#[derive(Debug, Default)]
pub struct Past {
    /// The prompt that was made when it began.
    pub system_prompt: String,
    /// The character's state and its journal.
    pub record: Record,
    /// All messages up to now, as they go to a model: also calls and results. For a response they are made of its items.
    pub messages: Vec<String>,
    /// What the client adds to the prompt at this turn.
    pub system: Vec<String>,
}

/// A turn in motion.
pub struct Scene {
    session: Session,
    history: Option<InHistory>,
    past: Past,
    said: String,
    /// What ran before an interruption and was not told any more.
    untold: Vec<Event>,
    seen: bool,
    over: bool,
}

impl Scene {
    /// Makes everything ready for a turn that goes on from there.
    pub async fn begin(parts: SceneParts<'_>, past: Past) -> Result<Self, ApiError> {
        let session = session(&parts, &past).await?;
        Ok(Self { session, history: None, past, said: String::new(), untold: Vec::new(), seen: false, over: false })
    }

    /// The turn keeps itself in a history.
    pub(super) fn keep_in(&mut self, history: InHistory) {
        self.history = Some(history);
    }

    /// Goes on until there is something to say. A turn that is whole has been kept before that is told.
    pub async fn next(&mut self) -> Progress {
        let progress = self.session.next().await;
        match &progress {
            Progress::Events(events) => self.listen(events),
            Progress::Complete(..) => {
                self.over = true;
                if let Err(error) = self.keep().await {
                    return Progress::Failed(error);
                }
            }
            Progress::Failed(_) => self.interrupt(),
            Progress::KeepAlive => {}
        }
        progress
    }

    /// Whether the reply is whole, and that is told next.
    pub fn is_ending(&self) -> bool {
        self.session.is_ending()
    }

    /// The client gets to see something of the turn: from now on it is kept as far as it comes.
    pub fn mark_seen(&mut self) {
        self.seen = true;
    }

    /// The turn as it is driven.
    pub(super) fn session(&mut self) -> &mut Session {
        &mut self.session
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

    /// The state with its journal after all that succeeded.
    pub fn record(&self) -> Record {
        self.session.record().cloned().unwrap_or_default()
    }

    /// What ran before an interruption and was not told any more.
    pub fn take_untold(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.untold)
    }

    /// The prompt that was made when the conversation began.
    pub fn system_prompt(&self) -> &str {
        &self.past.system_prompt
    }

    fn listen(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Text(text) => self.said.push_str(text),
                // Calls that ran are counted where they run.
                Event::RanTool(result) if result.ran.is_none() => counters::tool_error(result.outcome),
                _ => {}
            }
        }
    }

    async fn keep(&mut self) -> Result<(), ApiError> {
        let Some(history) = self.history.take() else { return Ok(()) };
        let (record, messages) = (self.record(), self.messages());
        Ok(history.keep(&self.said, &self.past.system_prompt, &record, messages).await?)
    }

    /// A turn that the client left, or that failed on the way. What a client has seen the beginning of is kept; of anything else
    /// it knows nothing, and asks again.
    pub fn interrupt(&mut self) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        self.untold = self.session.interrupt();
        let Some(history) = self.history.take().filter(|_| self.seen) else { return };
        let (record, messages) = (self.record(), self.messages());
        if let Err(error) = history.keep_interrupted(&self.said, &self.past.system_prompt, &record, messages) {
            tracing::error!(%error, "an interrupted turn cannot be stored");
        }
    }

    fn messages(&self) -> Vec<String> {
        let spoken = self.session.transcript().iter().map(message_text);
        self.past.messages.iter().cloned().chain(spoken).collect()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.interrupt();
    }
}
