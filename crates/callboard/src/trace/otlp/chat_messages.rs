//! Messages in the form of the semantic conventions: a role, and parts that are text, calls or results.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::{RunBy, TurnTrace};

/// The model's input, from the messages of Chat Completions.
pub(super) fn input(messages: &RawValue) -> String {
    let list: Vec<Value> = serde_json::from_str(messages.get()).unwrap_or_default();
    Value::Array(list.iter().map(message).collect()).to_string()
}

/// The output for the client: text, and calls that it is to run.
pub(super) fn output(trace: &TurnTrace) -> String {
    let text = trace.output.text.as_deref().filter(|text| !text.is_empty()).map(text_part);
    let calls = trace.tool_calls.iter().filter(|call| call.run_by == RunBy::Client);
    let calls = calls.map(|call| call_part(&call.id, &call.name, call.arguments.as_deref().unwrap_or_default()));
    let parts: Vec<Value> = text.into_iter().chain(calls).collect();
    let finish =
        trace.finish_reason.map_or("error", |reason| if reason == "tool_calls" { "tool_call" } else { reason });
    json!([{"role": "assistant", "parts": parts, "finish_reason": finish}]).to_string()
}

fn message(message: &Value) -> Value {
    let field = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
    let role = field("role");
    if role == "tool" {
        let response = json!({"type": "tool_call_response", "id": field("tool_call_id"), "response": text_of(message)});
        return json!({"role": role, "parts": [response]});
    }
    let text = Some(text_of(message)).filter(|text| !text.is_empty()).map(|text| text_part(&text));
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().map(|call| {
        let of = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        call_part(of("/id"), of("/function/name"), of("/function/arguments"))
    });
    let parts: Vec<Value> = text.into_iter().chain(calls).collect();
    json!({"role": role, "parts": parts})
}

/// The text of a message, of all its parts.
fn text_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "content": text})
}

fn call_part(id: &str, name: &str, arguments: &str) -> Value {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
    json!({"type": "tool_call", "id": id, "name": name, "arguments": arguments})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_roles_and_parts() {
        let messages = json!([
            {"role": "user", "content": [{"type": "text", "text": "Roll "}, {"type": "text", "text": "it"}]},
            {"role": "assistant", "content": null,
             "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "roll", "arguments": "{\"sides\":6}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "4"},
        ]);
        let raw = RawValue::from_string(messages.to_string()).unwrap();
        let expected = json!([
            {"role": "user", "parts": [{"type": "text", "content": "Roll it"}]},
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "roll", "arguments": {"sides": 6}}]},
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "4"}]},
        ]);
        assert_eq!(serde_json::from_str::<Value>(&input(&raw)).unwrap(), expected);
    }
}
