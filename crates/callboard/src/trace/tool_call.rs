//! One tool call, as a trace shows it: made for the client to run, or run here for a character.

use std::time::{Duration, Instant};

use callboard_core::contract::Call;
use callboard_core::turn::{ToolOutcome, ToolResult};
use serde::{Serialize, Serializer};

use super::Millis;
use super::content::kept;

/// Who runs a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunBy {
    /// The client, after the reply.
    #[default]
    Client,
    /// Callboard, within the turn.
    Character,
}

/// One call.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// The tool; empty where a model named none.
    pub name: String,
    /// Who runs it.
    pub run_by: RunBy,
    /// How it ended, if Callboard ran it: `outcome`, and with an error `error_type`.
    #[serde(flatten, serialize_with = "ending")]
    pub outcome: Option<ToolOutcome>,
    /// When it was run, or sent to the client.
    pub start_ms: Millis,
    /// How long it waited for a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_ms: Option<Millis>,
    /// How long it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Millis>,
    /// Whether it changed the character's state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_state: Option<bool>,
    /// Bytes of the arguments.
    pub arguments_bytes: usize,
    /// The arguments, where they may be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Bytes of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<usize>,
    /// The result, where it may be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// When a tool ran.
#[derive(Debug, Clone)]
pub struct ToolTiming {
    /// The call.
    pub id: String,
    /// When it was over.
    pub ended: Instant,
    /// How long it waited for a worker.
    pub queued: Duration,
    /// How long it ran.
    pub took: Duration,
    /// Whether it changed the character's state.
    pub changed_state: bool,
}

impl ToolCall {
    /// A call that has just begun.
    pub(super) fn new(id: &str, name: &str, run_by: RunBy, start: Millis) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), run_by, start_ms: start, ..Self::default() }
    }

    /// A whole call with its arguments.
    pub(super) fn of(call: &Call, run_by: RunBy, start: Millis, content: bool) -> Self {
        let mut made = Self::new(call.id.as_str(), &call.name, run_by, start);
        made.set_arguments(call.arguments.as_str(), content);
        made
    }

    /// Sets the arguments.
    pub(super) fn set_arguments(&mut self, text: &str, content: bool) {
        self.arguments_bytes = text.len();
        self.arguments = content.then(|| kept(text));
    }

    /// Appends streamed arguments.
    pub(super) fn grow(&mut self, piece: &str, content: bool) {
        self.arguments_bytes += piece.len();
        if content {
            self.arguments.get_or_insert_default().push_str(piece);
        }
    }

    /// Sets the result, and the arguments as the tool got them.
    pub(super) fn answer(&mut self, result: &ToolResult, content: bool) {
        self.outcome = Some(result.outcome);
        self.result_bytes = Some(result.text.len());
        self.result = content.then(|| kept(&result.text));
        if let Some(ran) = &result.ran {
            self.name.clone_from(&ran.tool);
            self.set_arguments(&ran.arguments, content);
        }
    }

    /// Sets the times; `began` is the beginning of the turn.
    pub(super) fn time(&mut self, timing: &ToolTiming, began: Instant) {
        let since = timing.ended.saturating_duration_since(began);
        self.start_ms = Millis(since.saturating_sub(timing.took));
        self.queued_ms = Some(Millis(timing.queued));
        self.duration_ms = Some(Millis(timing.took));
        self.changed_state = Some(timing.changed_state);
    }
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn ending<S: Serializer>(outcome: &Option<ToolOutcome>, serializer: S) -> Result<S::Ok, S::Error> {
    let error_type = outcome.and_then(ToolOutcome::error_type).map(|error_type| ("error_type", error_type));
    serializer.collect_map(outcome.map(|outcome| ("outcome", outcome.as_str())).into_iter().chain(error_type))
}
