//! `response_format` for servers that do not take it: the prompt says what the answer must be.

use serde_json::{Value, json};

use super::message_accessors::{messages_mut, take};
use super::system;

/// Takes the field out, and puts what it asks for into the system message.
pub(super) fn put_in_words(body: &mut Value) {
    let Some(format) = take(body, "response_format") else { return };
    if let (Some(words), Some(messages)) = (words(&format), messages_mut(body)) {
        system::instruct(messages, &words);
    }
}

/// Asks for any object by a schema, where only schemas are taken; plain text is not asked for at all.
pub(super) fn only_schemas(body: &mut Value) {
    match kind(body.get("response_format")) {
        Some("text") => drop(take(body, "response_format")),
        Some("json_object") => {
            let schema =
                json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}});
            super::message_accessors::set(body, "response_format", schema);
        }
        _ => {}
    }
}

/// Asks for an answer by a schema in the older form, `{"type": "json_object", "schema": …}`.
pub(super) fn schema_in_json_object(body: &mut Value) {
    let Some(schema) = body.pointer_mut("/response_format/json_schema/schema").map(Value::take) else { return };
    super::message_accessors::set(body, "response_format", json!({"type": "json_object", "schema": schema}));
}

/// The `type` of a format.
fn kind(format: Option<&Value>) -> Option<&str> {
    format?.get("type")?.as_str()
}

fn words(format: &Value) -> Option<String> {
    const ONLY: &str = "Write nothing but that JSON: no other words, no code fence.";
    match kind(Some(format))? {
        "json_object" => Some(format!("Answer with one JSON object. {ONLY}")),
        "json_schema" => {
            let schema = format.get("json_schema")?;
            let about =
                schema.get("description").and_then(Value::as_str).map(|text| format!("\n{text}")).unwrap_or_default();
            let schema = schema.get("schema").unwrap_or(&Value::Bool(true));
            Some(format!("Answer with JSON that is valid against this JSON Schema. {ONLY}{about}\n{schema}"))
        }
        _ => None,
    }
}
