//! A request to an upstream: the client's own text, field by field, with what a re-ask puts behind it.

use serde_json::{Value, json};

use super::ChatRequest;
use super::chunk::json_text;
use crate::model::{Item, SpokenCall};
use crate::turn::{Ask, AskChoice};

impl ChatRequest {
    /// The body to send. Fields that make no sense without tools are left out when none are on offer.
    #[must_use]
    pub fn upstream_body(&self, ask: &Ask) -> Vec<u8> {
        let mut body = String::with_capacity(self.bytes() + 256);
        for (key, text) in self.fields() {
            if let Some(value) = self.upstream_field(key, text, ask) {
                body.push(if body.is_empty() { '{' } else { ',' });
                body.push_str(&json_text(key));
                body.push(':');
                body.push_str(&value);
            }
        }
        if let Some(choice) = choice_json(&ask.choice).filter(|_| self.get("tool_choice").is_none()) {
            body.push_str(",\"tool_choice\":");
            body.push_str(&choice);
        }
        body.push('}');
        body.into_bytes()
    }

    fn upstream_field<'a>(&self, key: &str, text: &'a str, ask: &Ask) -> Option<std::borrow::Cow<'a, str>> {
        let offers = self.offers_tools && ask.choice != AskChoice::WithoutTools;
        match key {
            "tools" | "tool_choice" | "parallel_tool_calls" if !offers => None,
            "tool_choice" => Some(choice_json(&ask.choice).map_or(text.into(), Into::into)),
            "messages" if !ask.appended.is_empty() => Some(with_items(text, &ask.appended).into()),
            _ => Some(text.into()),
        }
    }
}

fn choice_json(choice: &AskChoice) -> Option<String> {
    match choice {
        AskChoice::AsRequested | AskChoice::WithoutTools => None,
        AskChoice::Required => Some("\"required\"".to_owned()),
        AskChoice::Force(name) => Some(json!({"type": "function", "function": {"name": name}}).to_string()),
    }
}

/// The client's list of messages with more of them behind.
fn with_items(messages: &str, items: &[Item]) -> String {
    let list = messages.trim_end().strip_suffix(']').unwrap_or(messages);
    let mut text = list.to_owned();
    for item in items {
        text.push(',');
        text.push_str(&message_json(item).to_string());
    }
    text.push(']');
    text
}

/// An item of a conversation as the text of a chat message.
#[must_use]
pub fn message_text(item: &Item) -> String {
    message_json(item).to_string()
}

fn message_json(item: &Item) -> Value {
    match item {
        Item::Assistant { text, calls } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        Item::Assistant { text, calls } => {
            let content = if text.trim().is_empty() { Value::Null } else { text.as_str().into() };
            let calls: Vec<Value> = calls.iter().map(call_json).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Item::ToolResult { id, text } => json!({"role": "tool", "tool_call_id": id.as_str(), "content": text}),
        Item::Remark(text) => json!({"role": "user", "content": text}),
    }
}

fn call_json(call: &SpokenCall) -> Value {
    json!({"id": call.id.as_str(), "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
}
