//! The arguments of calls made earlier: a string that holds one JSON object, as every server wants them back.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::history::Mended;
use crate::contract::json::read_arguments;
use crate::wire::chat::adapt::message::{calls, set, take};

/// The key under which a text is kept that is no JSON object.
const MALFORMED: &str = "malformed_arguments";

pub(super) fn heal(message: &mut Value, mended: &mut Mended) {
    if calls(message).is_empty() {
        return drop_empty_list(message, mended);
    }
    let list = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in list.into_iter().flatten() {
        let Some(function) = call.get_mut("function").filter(|function| function.is_object()) else { continue };
        if let Some((kind, arguments)) = healed(function.get("arguments")) {
            mended.note(kind);
            set(function, "arguments", json!(arguments).to_string());
        }
    }
}

/// An assistant that called nothing has no list of calls.
fn drop_empty_list(message: &mut Value, mended: &mut Mended) {
    let empty = match message.get("tool_calls") {
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Null) => true,
        _ => false,
    };
    if empty {
        take(message, "tool_calls");
        mended.note("empty_tool_calls");
    }
}

/// The arguments of a call as an object, however they are written.
pub(in crate::wire::chat::adapt) fn read_arguments_of(arguments: Option<&Value>) -> Map<String, Value> {
    match (healed(arguments), arguments) {
        (Some((_, arguments)), _) => arguments,
        (None, Some(Value::String(text))) => serde_json::from_str(text).unwrap_or_default(),
        (None, _) => Map::new(),
    }
}

/// What is wrong with the arguments, and what they become; none where they are as they should be.
fn healed(arguments: Option<&Value>) -> Option<(&'static str, Map<String, Value>)> {
    match arguments {
        Some(Value::String(text)) if holds_object(text) => None,
        Some(Value::String(text)) if text.trim().is_empty() => Some(("empty_arguments", Map::new())),
        Some(Value::String(text)) => Some(repaired(text)),
        Some(Value::Object(object)) => Some(("object_arguments", object.clone())),
        None | Some(Value::Null) => Some(("empty_arguments", Map::new())),
        Some(other) => Some(malformed(&other.to_string())),
    }
}

/// The quick way for what is right: nothing is built.
fn holds_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Several objects in one text were several calls once; which result belongs to which cannot be told any more.
fn repaired(text: &str) -> (&'static str, Map<String, Value>) {
    match read_arguments(text).map(|reading| reading.values) {
        Ok(mut values) if values.len() == 1 => ("repaired_arguments", values.remove(0)),
        _ => malformed(text),
    }
}

fn malformed(text: &str) -> (&'static str, Map<String, Value>) {
    ("malformed_arguments", Map::from_iter([(MALFORMED.to_owned(), text.into())]))
}
