//! The messages of a client's request one by one, for characters that continue a conversation from its history.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::ChatRequest;

/// Sampling fields of a client's request, which also apply to a character's model.
const SAMPLING_FIELDS: [&str; 11] = [
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
    /// The role.
    pub role: String,
    /// The content, text parts joined.
    pub text: String,
    /// The ids of its calls, joined.
    pub calls: String,
    /// The message as JSON text.
    pub json: String,
}

#[derive(Deserialize)]
struct Spoken {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Value,
}

impl ChatRequest {
    /// The messages in their order.
    #[must_use]
    pub fn history(&self) -> Vec<PlainMessage> {
        let list: Vec<&RawValue> =
            self.get("messages").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        list.into_iter().filter_map(|message| read(message.get())).collect()
    }

    /// The sampling fields, each as JSON text.
    pub(super) fn sampling_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields().filter(|(key, _)| SAMPLING_FIELDS.contains(key))
    }

    /// A plain text field, such as `user`.
    #[must_use]
    pub fn text_field(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }

    /// A field as JSON text, where the request has it.
    #[must_use]
    pub fn json_field(&self, key: &str) -> Option<&str> {
        self.get(key)
    }
}

fn read(json: &str) -> Option<PlainMessage> {
    let spoken: Spoken = serde_json::from_str(json).ok()?;
    let text = match spoken.content {
        Value::String(text) => text,
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        _ => String::new(),
    };
    let calls = spoken.tool_calls.as_array().into_iter().flatten();
    let calls = calls.filter_map(|call| call.get("id").and_then(Value::as_str)).collect();
    Some(PlainMessage { role: spoken.role, text, calls, json: json.to_owned() })
}
