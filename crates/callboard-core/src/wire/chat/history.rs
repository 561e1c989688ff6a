//! The history that a client sends along, message by message, for those who continue a conversation from it.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::ChatRequest;

/// Fields of a client's request that shape how a model writes; they hold for a character's model as well.
const STYLE_FIELDS: [&str; 11] = [
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "reasoning_effort",
];

/// One message of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainMessage {
    /// Who speaks.
    pub role: String,
    /// What is said, text parts joined.
    pub text: String,
    /// The whole message as it came.
    pub json: String,
}

#[derive(Deserialize)]
struct Spoken {
    role: String,
    #[serde(default)]
    content: Value,
}

impl ChatRequest {
    /// The messages in their order.
    #[must_use]
    pub fn history(&self) -> Vec<PlainMessage> {
        let list: Vec<&RawValue> =
            self.get("messages").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        list.into_iter().filter_map(|message| read(message.get())).collect()
    }

    /// The fields that shape how a model writes, each as it came.
    pub(super) fn style_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields().filter(|(key, _)| STYLE_FIELDS.contains(key))
    }

    /// A plain text field, such as `user`.
    #[must_use]
    pub fn text_field(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }
}

fn read(json: &str) -> Option<PlainMessage> {
    let spoken: Spoken = serde_json::from_str(json).ok()?;
    let text = match spoken.content {
        Value::String(text) => text,
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        _ => String::new(),
    };
    Some(PlainMessage { role: spoken.role, text, json: json.to_owned() })
}
