//! One request to a model server, as a trace shows it.

use serde::Serialize;

use super::recorded_reply::RecordedReply;
use super::{Millis, TokenUsage};

/// The outcome of a request whose reply has not ended; at the end of a turn it means that the client disconnected first.
pub(super) const OPEN: &str = "left";
/// The outcome of a complete reply.
pub(super) const OK: &str = "ok";

/// One request to a model server.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct UpstreamRequest {
    /// The server's base URL; keys are never part of it.
    pub url: String,
    /// The model's name at that server.
    pub model: String,
    /// Whether it continues the turn: with a re-ask, or with results of tools.
    pub goes_on: bool,
    /// When it was sent.
    pub start_ms: Millis,
    /// When the head of the reply arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<Millis>,
    /// How long it took until the reply was complete or lost.
    pub duration_ms: Millis,
    /// The model that answered, by the name that the server gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// `ok`, or how it failed.
    pub outcome: &'static str,
    /// The status of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long the refusal says to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
    /// Why the model stopped, in the server's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<&'static str>,
    /// Tokens, as the server counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// Its span, sent to the server if the turn is exported.
    pub span_id: String,
    /// The quirk learned from the refusal; the next request leaves the field out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<&'static str>,
    /// Whether the connection broke within the reply, where that may be recorded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reply_broken: bool,
    /// Bytes of the reply, where it may be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_bytes: Option<usize>,
    /// The reply as it came, where it may be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

impl UpstreamRequest {
    /// Sets the reply, of which nothing was added where it may not be recorded.
    pub(super) fn set_reply(&mut self, reply: RecordedReply) {
        (self.reply, self.reply_bytes) = reply.text_and_length();
    }

    /// True when the server gave no complete reply.
    pub fn failed(&self) -> bool {
        self.outcome != OK && self.outcome != OPEN
    }
}
