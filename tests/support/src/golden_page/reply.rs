//! The shorthand for a well-formed reply of a model server: `{text?, reasoning?, calls?, finish_reason?, usage?}`.
//!
//! Arguments given as an object are encoded, a string is sent unchanged. A call without an `id` gets one in the documented
//! format that contains the numbers of reply and call; `"id": null` sends none.

use serde_json::{Value, json};

/// A reply read from its shorthand.
pub struct Reply {
    /// The text.
    pub text: Option<String>,
    /// The reasoning, sent in a separate field.
    pub reasoning: Option<String>,
    /// The calls as `{id?, type, function}`.
    pub calls: Vec<Value>,
    /// Why it ended.
    pub finish_reason: String,
    /// Token usage; null for a server that does not report it.
    pub usage: Value,
}

impl Reply {
    /// Reads the shorthand of the reply with this number, counted from 1.
    pub fn read(shorthand: &str, number: usize) -> Self {
        let value: Value = serde_json::from_str(shorthand).unwrap_or_else(|error| panic!("{error} in {shorthand}"));
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let calls: Vec<Value> = value.get("calls").and_then(Value::as_array).into_iter().flatten().cloned().collect();
        let calls: Vec<Value> =
            calls.iter().enumerate().map(|(place, call)| whole_call(call, number, place + 1)).collect();
        let by_itself = if calls.is_empty() { "stop" } else { "tool_calls" };
        Self {
            text: text("text"),
            reasoning: text("reasoning"),
            finish_reason: text("finish_reason").unwrap_or_else(|| by_itself.to_owned()),
            usage: value
                .get("usage")
                .cloned()
                .unwrap_or_else(|| json!({"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30})),
            calls,
        }
    }
}

fn whole_call(call: &Value, reply: usize, place: usize) -> Value {
    let arguments = match &call["arguments"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let id = call.get("id").cloned().unwrap_or_else(|| format!("call_fromTheModelServer{reply:03}{place:03}").into());
    let function = json!({"name": call["name"], "arguments": arguments});
    if id.is_null() {
        json!({"type": "function", "function": function})
    } else {
        json!({"id": id, "type": "function", "function": function})
    }
}
