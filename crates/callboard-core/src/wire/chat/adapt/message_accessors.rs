//! Looking at a chat message that may be any JSON.

use serde_json::{Map, Value};

/// The messages of a request.
pub(super) fn messages(body: &Value) -> &[Value] {
    body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The messages of a request, to be changed.
pub(super) fn messages_mut(body: &mut Value) -> Option<&mut Vec<Value>> {
    body.get_mut("messages").and_then(Value::as_array_mut)
}

pub(super) fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn is_system(message: &Value) -> bool {
    matches!(role(message), "system" | "developer")
}

/// The calls of an assistant message.
pub(super) fn calls(message: &Value) -> &[Value] {
    match message.get("tool_calls") {
        Some(Value::Array(calls)) if role(message) == "assistant" => calls,
        _ => &[],
    }
}

pub(super) fn call_id(call: &Value) -> Option<&str> {
    call.get("id").and_then(Value::as_str)
}

pub(super) fn call_name(call: &Value) -> &str {
    call.get("function").and_then(|function| function.get("name")).and_then(Value::as_str).unwrap_or_default()
}

/// The id of the call that a tool message answers.
pub(super) fn answered_id(message: &Value) -> Option<&str> {
    message.get("tool_call_id").and_then(Value::as_str).filter(|_| role(message) == "tool")
}

/// Sets a field and leaves all others, and their order, as they are.
pub(super) fn set(message: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(fields) = message.as_object_mut() {
        fields.insert(key.to_owned(), value.into());
    }
}

/// Takes a field out and leaves the order of the others as it is.
pub(super) fn take(message: &mut Value, key: &str) -> Option<Value> {
    message.as_object_mut().and_then(|fields| fields.shift_remove(key))
}

/// Gives a field another name at the same place.
pub(super) fn rename(fields: &mut Map<String, Value>, from: &str, to: &str) {
    let old = std::mem::take(fields);
    for (key, value) in old {
        let key = if key == from { to.to_owned() } else { key };
        fields.insert(key, value);
    }
}
