//! The trace of one turn: plain data, and the JSON that the store keeps and `/v1/traces` shows.
//!
//! `character` and `model` come first in that JSON, always: the store looks for them there.

use callboard_core::contract::CallTally;
use callboard_core::model::Usage;
use serde::Serialize;

use super::{BadCall, Millis, RecordedInput, RecordedOutput, ToolCall, TraceContext, UpstreamRequest};
use crate::store;

/// What the JSON of most turns fits into.
const USUAL_BYTES: usize = 2048;

/// The endpoint of tools that are run by hand.
pub const TOOL_ENDPOINT: &str = "tool";

/// How a turn ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnOutcome {
    /// With a whole reply.
    Complete,
    /// With an error.
    Failed,
    /// The client left before the end.
    #[default]
    Interrupted,
}

impl TurnOutcome {
    /// The word in JSON and on `/metrics`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What happened in one turn.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TurnTrace {
    /// The character; none for the gateway.
    pub character: Option<String>,
    /// The model that was asked for, or that plays the character.
    pub model: String,
    /// The id: 32 hexadecimal digits.
    pub id: String,
    /// Always `trace`.
    pub object: &'static str,
    /// Its place in a distributed trace.
    #[serde(flatten)]
    pub context: TraceContext,
    /// When the turn began, in milliseconds since 1970.
    pub started_at_ms: i64,
    /// How long it took.
    pub duration_ms: Millis,
    /// When the first text was sent to the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_word_ms: Option<Millis>,
    /// The endpoint of its request.
    pub endpoint: &'static str,
    /// The client, as it names itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The method and path of a request that was passed through.
    #[serde(flatten)]
    pub passed_through: Option<PassedThrough>,
    /// The id of its request.
    pub request_id: String,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// Why the reply ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<&'static str>,
    /// The error, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TraceError>,
    /// Whether the model could call tools.
    pub tools_offered: bool,
    /// Whether the turn began with results of calls instead of a user's message.
    pub continues: bool,
    /// How often tools were run.
    pub rounds: u32,
    /// Calls as the model wrote them.
    #[serde(serialize_with = "tally")]
    pub calls: CallTally,
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// The input of the model.
    pub input: RecordedInput,
    /// The text of the reply.
    pub output: RecordedOutput,
    /// Requests to model servers, in order.
    pub upstream_requests: Vec<UpstreamRequest>,
    /// Violations of the contract and what was done, in order.
    pub contract: Vec<ContractNote>,
    /// Calls that were not valid as the model wrote them, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bad_calls: Vec<BadCall>,
    /// Tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Entries that did not fit into the lists above.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Whether the reply was passed through unchecked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub passed_on: bool,
    /// Whether it is stored; all turns are counted.
    #[serde(skip)]
    pub sampled: bool,
    /// The name under which its model is counted.
    #[serde(skip)]
    pub counted_as: String,
}

/// A request that goes to a model server as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedThrough {
    /// The method.
    pub method: &'static str,
    /// The path, without the query, which may hold words of a user.
    pub path: String,
}

/// An error in a trace. Its message may quote a user, so it is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceError {
    /// The error code.
    pub code: String,
    /// The HTTP status.
    pub status: u16,
}

/// Tokens in a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TokenUsage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
}

impl From<&Usage> for TokenUsage {
    fn from(usage: &Usage) -> Self {
        Self { prompt_tokens: usage.prompt_tokens, completion_tokens: usage.completion_tokens }
    }
}

/// A violation of the contract, and what was done about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContractNote {
    /// The violation, or the repair.
    pub violation: &'static str,
    /// What was done.
    pub outcome: &'static str,
    /// When it was known.
    pub at_ms: Millis,
}

impl TurnTrace {
    /// Whether a client asked a model or a server. A tool that is run by hand is no turn.
    pub fn is_turn(&self) -> bool {
        self.endpoint != TOOL_ENDPOINT
    }

    /// The trace as JSON text.
    pub fn to_json(&self) -> String {
        let mut json = Vec::with_capacity(USUAL_BYTES);
        let written = serde_json::to_writer(&mut json, self);
        written.ok().and_then(|()| String::from_utf8(json).ok()).unwrap_or_default()
    }

    /// The trace as the store takes it.
    pub fn stored(&self) -> store::Trace {
        store::Trace {
            id: self.id.clone(),
            conversation: self.conversation.clone(),
            request_id: Some(self.request_id.clone()),
            created_at: self.started_at_ms,
            body: self.to_json(),
            content_of: self.content_of(),
        }
    }

    /// The conversation, or the response outside of one, whose content it holds.
    fn content_of(&self) -> Option<String> {
        let holds_some = self.content_bytes() > 0;
        self.conversation.clone().or(self.response.clone()).filter(|_| holds_some)
    }

    /// About how many bytes of content it holds.
    pub(super) fn content_bytes(&self) -> usize {
        let texts = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let calls: usize = self.tool_calls.iter().map(|call| texts(&call.arguments) + texts(&call.result)).sum();
        let messages = self.input.messages.as_ref().map_or(0, |messages| messages.get().len());
        let request = self.input.request.as_ref().map_or(0, |request| request.get().len());
        let replies: usize = self.upstream_requests.iter().map(|request| texts(&request.reply)).sum();
        let bad_calls: usize = self.bad_calls.iter().map(BadCall::content_bytes).sum();
        calls + bad_calls + messages + request + replies + texts(&self.output.text)
    }
}

fn tally<S: serde::Serializer>(calls: &CallTally, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("made", calls.made), ("mended", calls.mended), ("broken", calls.broken)])
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
