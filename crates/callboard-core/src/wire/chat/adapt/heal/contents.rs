//! Contents in the shape that every server knows: a string or a list of parts, and null only beside calls.

use serde_json::{Value, json};

use super::history::Mended;
use crate::wire::chat::adapt::message::{calls, role, set};

pub(super) fn heal(message: &mut Value, mended: &mut Mended) {
    let (kind, content) = match message.get("content") {
        Some(Value::String(_) | Value::Array(_)) => return,
        None | Some(Value::Null) if !needs_content(message) => return,
        None | Some(Value::Null) => ("null_content", Value::from("")),
        Some(part @ Value::Object(fields)) if fields.get("type").is_some_and(Value::is_string) => {
            ("other_content", json!([part]))
        }
        Some(other) => ("other_content", other.to_string().into()),
    };
    set(message, "content", content);
    mended.note(kind);
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
