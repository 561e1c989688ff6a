//! The body for an upstream: the client's own text, field by field, with the changes of this model call.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ChatRequest;
use super::chunk::json_text;
use super::request::TOKEN_LIMITS;
use crate::model::{Item, SpokenCall};
use crate::turn::{ModelCall, ToolChoice};

impl ChatRequest {
    /// The body to send. Fields that need tools are left out when none are offered.
    #[must_use]
    pub fn upstream_body(&self, call: &ModelCall) -> Vec<u8> {
        let mut body = String::with_capacity(self.bytes() + 256);
        for (key, text) in self.fields() {
            if let Some(value) = self.upstream_field(key, text, call) {
                body.push(if body.is_empty() { '{' } else { ',' });
                body.push_str(&json_text(key));
                body.push(':');
                body.push_str(&value);
            }
        }
        if let Some(choice) = choice_json(&call.choice).filter(|_| self.get("tool_choice").is_none()) {
            body.push_str(",\"tool_choice\":");
            body.push_str(&choice);
        }
        body.push('}');
        body.into_bytes()
    }

    fn upstream_field<'a>(&self, key: &str, text: &'a str, call: &ModelCall) -> Option<Cow<'a, str>> {
        let offers = self.offers_tools && call.choice != ToolChoice::WithoutTools;
        match key {
            "tools" | "tool_choice" | "parallel_tool_calls" if !offers => None,
            "tools" => Some(offered(text, &call.choice)),
            "tool_choice" if matches!(call.choice, ToolChoice::Only(_)) => None,
            "tool_choice" => Some(choice_json(&call.choice).map_or(text.into(), Into::into)),
            _ if TOKEN_LIMITS.contains(&key) => Some(fewer(text, call.tokens_left)),
            "messages" if !call.appended.is_empty() => Some(with_items(text, &call.appended).into()),
            _ => Some(text.into()),
        }
    }
}

/// A limit, or what is left of it.
fn fewer(limit: &str, left: Option<u64>) -> Cow<'_, str> {
    let left = left.filter(|left| serde_json::from_str::<u64>(limit).is_ok_and(|limit| *left < limit));
    left.map_or(limit.into(), |left| left.to_string().into())
}

fn choice_json(choice: &ToolChoice) -> Option<String> {
    match choice {
        ToolChoice::AsRequested | ToolChoice::WithoutTools | ToolChoice::Only(_) => None,
        ToolChoice::Required => Some("\"required\"".to_owned()),
        ToolChoice::Force(name) => Some(json!({"type": "function", "function": {"name": name}}).to_string()),
    }
}

/// The list of tools, or those that may still be called, each as it came.
fn offered<'a>(tools: &'a str, choice: &ToolChoice) -> Cow<'a, str> {
    let ToolChoice::Only(names) = choice else { return tools.into() };
    let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(tools) else { return tools.into() };
    let kept: Vec<&str> = list
        .into_iter()
        .map(RawValue::get)
        .filter(|tool| name_of(tool).is_some_and(|name| names.contains(&name)))
        .collect();
    format!("[{}]", kept.join(",")).into()
}

fn name_of(tool: &str) -> Option<String> {
    let tool: Value = serde_json::from_str(tool).ok()?;
    Some(tool.get("function")?.get("name")?.as_str()?.to_owned())
}

/// The client's list of messages with items appended.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ToolCache;

    #[test]
    fn tools_are_offered_as_the_choice_says() {
        let tool =
            |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
        let (a, b) = (tool("a"), tool("b"));
        let messages = json!([{"role": "user", "content": "hi"}]);
        let body = json!({"model": "m", "messages": messages, "tools": [a, b], "tool_choice": "required"});
        let (request, _) = ChatRequest::read(body.to_string().into_bytes(), &ToolCache::default()).unwrap();
        let named = json!({"type": "function", "function": {"name": "b"}});
        let table = [
            (ToolChoice::AsRequested, json!({"tools": [a, b], "tool_choice": "required"})),
            (ToolChoice::Force("b".to_owned()), json!({"tools": [a, b], "tool_choice": named})),
            (ToolChoice::Only(vec!["b".to_owned()]), json!({"tools": [b]})),
            (ToolChoice::WithoutTools, json!({})),
        ];
        for (choice, mut expected) in table {
            (expected["model"], expected["messages"]) = ("m".into(), messages.clone());
            let body = request.upstream_body(&ModelCall { choice: choice.clone(), ..ModelCall::default() });
            assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), expected, "{choice:?}");
        }
    }
    #[test]
    fn what_is_left_of_the_tokens_takes_the_place_of_the_limit() {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9,
            "max_completion_tokens": 5});
        let (request, turn) = ChatRequest::read(body.to_string().into_bytes(), &ToolCache::default()).unwrap();
        assert_eq!(turn.most_tokens, Some(5));
        for (tokens_left, expected) in [(None, (9, 5)), (Some(7), (7, 5)), (Some(3), (3, 3))] {
            let body = request.upstream_body(&ModelCall { tokens_left, ..ModelCall::default() });
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!((&body["max_tokens"], &body["max_completion_tokens"]), (&expected.0.into(), &expected.1.into()));
        }
    }
}
