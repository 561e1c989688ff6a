//! Why a reply cannot be used.

use serde_json::Value;
use thiserror::Error;

/// Why a reply cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplyFault {
    /// The server put an error into its reply.
    #[error("the model server reported: {message}")]
    Reported {
        /// Its words.
        message: String,
        /// The status it gave, where it gave one.
        status: Option<u16>,
    },
    /// Not JSON, or not a reply.
    #[error("{0}")]
    Unreadable(String),
    /// It ended early.
    #[error("the reply broke off before it was whole")]
    BrokeOff,
    /// A stream without events: some servers fail like this after they have sent the headers of a stream.
    #[error("its stream ended without a single event")]
    NoEvents,
}

impl ReplyFault {
    /// What happened, without any text of the model, for the log.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Reported { .. } => "it reported an error within its reply",
            Self::Unreadable(_) => "its reply cannot be read",
            Self::BrokeOff => "its reply broke off",
            Self::NoEvents => "its stream was empty",
        }
    }

    /// An error object: the value of `error`, or the whole chunk.
    pub(super) fn reported(error: &Value) -> Self {
        let words = ["message", "detail", "error"].iter().find_map(|key| error.get(key)).unwrap_or(error);
        let message = words.as_str().map_or_else(|| words.to_string(), str::to_owned);
        Self::Reported { message, status: status(error) }
    }

    /// The data of an error event: JSON, or plain text.
    pub(super) fn event(data: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(data) {
            Ok(value) => Self::reported(value.get("error").filter(|error| !error.is_null()).unwrap_or(&value)),
            Err(_) => Self::Reported { message: String::from_utf8_lossy(data).into_owned(), status: None },
        }
    }

    /// The reply, or one event of it, would take more memory than the limit once it is parsed.
    pub(super) fn too_much_memory(what: &str, most: usize) -> Self {
        Self::Unreadable(format!(
            "{what} would take more memory than the limit limits.request_memory_bytes of {most} bytes"
        ))
    }

    /// The reply, or one event of it, is longer than the limit.
    pub(super) fn too_long(what: &str, most: usize) -> Self {
        Self::Unreadable(format!("{what} is longer than the limit limits.reply_bytes of {most} bytes"))
    }

    pub(super) fn unreadable(data: &[u8], error: &serde_json::Error) -> Self {
        let start = String::from_utf8_lossy(data.get(..data.len().min(80)).unwrap_or_default()).into_owned();
        Self::Unreadable(format!("it is not the JSON of a chat reply ({error}); it begins {start:?}"))
    }
}

/// A number, a number in quotes, or a word for one.
fn status(error: &Value) -> Option<u16> {
    let values = ["code", "status", "status_code", "type"].iter().filter_map(|key| error.get(key));
    values
        .into_iter()
        .find_map(|value| match value {
            Value::String(word) if word.contains("rate_limit") => Some(429),
            Value::String(word) if word == "context_length_exceeded" => Some(400),
            Value::String(number) => number.parse().ok(),
            number => number.as_u64().and_then(|number| u16::try_from(number).ok()),
        })
        .filter(|code| (400..600).contains(code))
}
