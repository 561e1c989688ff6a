//! The shapes of a message's content: a string, a list of parts, null or nothing.

use serde_json::{Value, json};

use super::message_accessors::{calls, set};

/// Replaces content where a server takes neither null nor an empty string.
const NOTHING: &str = "(no text)";

/// Whether content is null or missing.
fn is_null(message: &Value) -> bool {
    message.get("content").is_none_or(Value::is_null)
}

/// Whether content is an empty string, or a list whose texts are all empty.
fn is_empty(message: &Value) -> bool {
    match message.get("content") {
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(content @ Value::Array(_)) => joined(content).is_some_and(|text| text.trim().is_empty()),
        _ => false,
    }
}

/// The words of any content; parts that are no text are left out.
pub(super) fn words(content: Option<&Value>) -> String {
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(part_text).collect::<Vec<_>>().join("\n"),
        Some(other) => other.to_string(),
    }
}

/// The text of a list that holds nothing else, one part per line.
fn joined(content: &Value) -> Option<String> {
    let texts: Option<Vec<&str>> = content.as_array()?.iter().map(part_text).collect();
    texts.map(|texts| texts.join("\n"))
}

fn part_text(part: &Value) -> Option<&str> {
    match part {
        Value::String(text) => Some(text),
        _ => ["text", "refusal"].iter().find_map(|key| part.get(key)?.as_str()),
    }
}

/// Makes a list of nothing but text a string.
pub(super) fn join_parts(message: &mut Value) {
    if let Some(text) = message.get("content").filter(|content| content.is_array()).and_then(joined) {
        set(message, "content", text);
    }
}

/// Gives a message without content an empty string.
pub(super) fn fill_null(message: &mut Value) {
    if message.is_object() && is_null(message) {
        set(message, "content", "");
    }
}

/// Makes empty content null beside calls, and words elsewhere.
pub(super) fn fill_empty(message: &mut Value, null_is_refused: bool) {
    if !is_empty(message) {
        return;
    }
    let nullable = !null_is_refused && !calls(message).is_empty();
    set(message, "content", if nullable { Value::Null } else { NOTHING.into() });
}

/// Puts more content behind what is there, as parts where either side holds more than text.
pub(super) fn append(message: &mut Value, more: Value) {
    let old = message.get("content").cloned().unwrap_or_default();
    let content = match (old, more) {
        (Value::Null, more) => more,
        (old, Value::Null) => old,
        (Value::String(old), Value::String(more)) => paragraphs(&old, &more).into(),
        (old, more) => Value::Array(into_parts(old).into_iter().chain(into_parts(more)).collect()),
    };
    set(message, "content", content);
}

/// Two texts with a blank line between them.
pub(super) fn paragraphs(first: &str, second: &str) -> String {
    match (first.is_empty(), second.is_empty()) {
        (true, _) => second.to_owned(),
        (_, true) => first.to_owned(),
        _ => format!("{first}\n\n{second}"),
    }
}

fn into_parts(content: Value) -> Vec<Value> {
    match content {
        Value::Array(parts) => parts,
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        other => vec![json!({"type": "text", "text": other.to_string()})],
    }
}
