//! One message in the form that every server takes back: arguments as a string with one JSON object, content as a string
//! or a list of parts, and null only beside calls.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::contract::json::read_arguments;
use crate::wire::chat::adapt::message_accessors::{calls, role, set, take};

/// The key under which text is kept that is not a JSON object.
const MALFORMED: &str = "malformed_arguments";

pub(super) fn heal_message(message: &mut Value) {
    heal_calls(message);
    if let Some(content) = healed_content(message) {
        set(message, "content", content);
    }
}

fn heal_calls(message: &mut Value) {
    if message.get("tool_calls").is_some_and(|calls| calls.is_null() || *calls == json!([])) {
        take(message, "tool_calls");
    }
    if calls(message).is_empty() {
        return;
    }
    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(function) = call.get_mut("function").filter(|function| function.is_object()) else { continue };
        if let Some(arguments) = healed_arguments(function.get("arguments")) {
            set(function, "arguments", json!(arguments).to_string());
        }
    }
}

/// The arguments of a call as an object, however they are written.
pub(in crate::wire::chat::adapt) fn read_arguments_of(arguments: Option<&Value>) -> Map<String, Value> {
    match (healed_arguments(arguments), arguments) {
        (Some(arguments), _) => arguments,
        (None, Some(Value::String(text))) => serde_json::from_str(text).unwrap_or_default(),
        (None, _) => Map::new(),
    }
}

/// What the arguments become; `None` where they are valid.
fn healed_arguments(arguments: Option<&Value>) -> Option<Map<String, Value>> {
    match arguments {
        Some(Value::String(text)) if is_object(text) => None,
        Some(Value::String(text)) if text.trim().is_empty() => Some(Map::new()),
        Some(Value::String(text)) => Some(repaired(text)),
        Some(Value::Object(object)) => Some(object.clone()),
        None | Some(Value::Null) => Some(Map::new()),
        Some(other) => Some(malformed(&other.to_string())),
    }
}

/// The fast path for valid arguments: nothing is built.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Several objects in one text were several calls; which result belongs to which is unknown.
fn repaired(text: &str) -> Map<String, Value> {
    match read_arguments(text).map(|reading| reading.values) {
        Ok(mut values) if values.len() == 1 => values.remove(0),
        _ => malformed(text),
    }
}

fn malformed(text: &str) -> Map<String, Value> {
    Map::from_iter([(MALFORMED.to_owned(), text.into())])
}

/// What the content becomes; `None` where it is valid.
fn healed_content(message: &Value) -> Option<Value> {
    match message.get("content") {
        Some(Value::String(_) | Value::Array(_)) => None,
        None | Some(Value::Null) => needs_content(message).then(|| "".into()),
        Some(part @ Value::Object(fields)) if fields.get("type").is_some_and(Value::is_string) => Some(json!([part])),
        Some(other) => Some(other.to_string().into()),
    }
}

fn needs_content(message: &Value) -> bool {
    match role(message) {
        "assistant" => {
            let speaks = ["refusal", "audio", "function_call"];
            calls(message).is_empty()
                && !speaks.iter().any(|key| message.get(key).is_some_and(|value| !value.is_null()))
        }
        "system" | "developer" | "user" | "tool" => true,
        _ => false,
    }
}
