//! The items of a request as they are stored and listed: each with an id and a status, contents always as lists of parts.
//!
//! Ids that clients give are kept as long as they are unique among the items of one request.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::ResponsesRequest;
use super::chat_item::ChatItem;
use super::request::InputItem;

/// Makes a new id from a prefix: `msg` becomes `msg_…`. The caller brings the randomness. Prefixes are those of [`id_prefix`].
pub type NewId = Box<dyn FnMut(&'static str) -> String + Send + Sync>;

impl ResponsesRequest {
    /// The input as it is stored and listed. References to items of the conversation are left out.
    #[must_use]
    pub fn input_items(&self, new_id: &mut NewId) -> Vec<Value> {
        stored_form(&self.input, new_id)
    }
}

/// The stored form of checked items.
pub(super) fn stored_form(items: &[InputItem], new_id: &mut NewId) -> Vec<Value> {
    let mut stored = Vec::with_capacity(items.len());
    let mut given_before = HashSet::new();
    for item in items.iter().filter(|item| !matches!(item.meaning, ChatItem::Reference(_))) {
        let Value::Object(fields) = &item.value else { continue };
        let given = fields.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let fresh = given.filter(|id| given_before.insert(*id)).map(str::to_owned);
        let kind = fields.get("type").and_then(Value::as_str).unwrap_or("message");
        let id = fresh.unwrap_or_else(|| new_id(id_prefix(kind)));
        stored.push(Value::Object(stored_item(fields, kind, id)));
    }
    stored
}

/// How the id of an item of this kind begins.
#[must_use]
pub fn id_prefix(kind: &str) -> &'static str {
    match kind {
        "message" => "msg",
        "function_call" => "fc",
        "function_call_output" => "fco",
        "custom_tool_call" => "ctc",
        "custom_tool_call_output" => "ctco",
        "reasoning" => "rs",
        "mcp_call" => "mcp",
        "compaction" => "cmp",
        _ => "item",
    }
}

fn stored_item(fields: &Map<String, Value>, kind: &str, id: String) -> Map<String, Value> {
    let mut item = Map::new();
    item.insert("id".to_owned(), id.into());
    item.insert("type".to_owned(), kind.into());
    if matches!(kind, "message" | "function_call" | "function_call_output" | "custom_tool_call" | "compaction") {
        item.insert("status".to_owned(), "completed".into());
    }
    let rest = fields.iter().filter(|(key, value)| !matches!(key.as_str(), "id" | "type") && !value.is_null());
    item.extend(rest.map(|(key, value)| (key.clone(), value.clone())));
    match kind {
        "message" => {
            let assistant = fields.get("role").and_then(Value::as_str) == Some("assistant");
            item.insert("content".to_owned(), parts(fields.get("content"), assistant).into());
        }
        "function_call_output" if fields.get("output").is_some_and(Value::is_array) => {
            item.insert("output".to_owned(), parts(fields.get("output"), false).into());
        }
        "reasoning" if !item.contains_key("summary") => {
            item.insert("summary".to_owned(), Value::Array(Vec::new()));
        }
        _ => {}
    }
    item
}

fn parts(content: Option<&Value>, assistant: bool) -> Vec<Value> {
    match content {
        Some(Value::String(text)) => vec![text_part(text, assistant)],
        Some(Value::Array(list)) => list.iter().map(|part| stored_part(part, assistant)).collect(),
        _ => Vec::new(),
    }
}

fn text_part(text: &str, assistant: bool) -> Value {
    if assistant {
        json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
    } else {
        json!({"type": "input_text", "text": text})
    }
}

/// Adds the keys that every listed part has.
fn stored_part(part: &Value, assistant: bool) -> Value {
    let mut part = part.clone();
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(fields) = part.as_object_mut() else { return part };
    match kind.as_str() {
        "input_text" | "text" if assistant => {
            let text = fields.get("text").and_then(Value::as_str).unwrap_or_default();
            return text_part(text, true);
        }
        "text" => {
            fields.insert("type".to_owned(), "input_text".into());
        }
        "output_text" if !fields.contains_key("annotations") => {
            fields.insert("annotations".to_owned(), Value::Array(Vec::new()));
        }
        "input_image" if fields.get("detail").is_none_or(Value::is_null) => {
            fields.insert("detail".to_owned(), "auto".into());
        }
        _ => {}
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_stored_with_ids_and_parts() {
        let input = json!([
            {"role": "user", "content": "u"},
            {"type": "message", "id": "msg_own", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
            {"role": "assistant", "content": "b", "id": "msg_own"},
            {"role": "user", "content": [{"type": "input_image", "image_url": "data:,x"}]},
            {"type": "reasoning", "id": null, "content": []},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "7"},
            {"type": "item_reference", "id": "msg_old"},
            {"type": "web_search_call", "status": "completed"},
        ]);
        let body = json!({"model": "m", "input": input});
        let request = ResponsesRequest::read(body.to_string().into_bytes()).unwrap();
        let mut number = 0;
        let items = request.input_items(
            &mut (Box::new(move |prefix| {
                number += 1;
                format!("{prefix}_{number}")
            }) as NewId),
        );
        let expected = json!([
            {"id": "msg_1", "type": "message", "status": "completed", "role": "user",
                "content": [{"type": "input_text", "text": "u"}]},
            {"id": "msg_own", "type": "message", "status": "completed", "role": "assistant",
                "content": [{"type": "output_text", "text": "a", "annotations": []}]},
            {"id": "msg_2", "type": "message", "status": "completed", "role": "assistant",
                "content": [{"type": "output_text", "text": "b", "annotations": [], "logprobs": []}]},
            {"id": "msg_3", "type": "message", "status": "completed", "role": "user",
                "content": [{"type": "input_image", "image_url": "data:,x", "detail": "auto"}]},
            {"id": "rs_4", "type": "reasoning", "content": [], "summary": []},
            {"id": "fc_5", "type": "function_call", "status": "completed", "call_id": "c", "name": "f", "arguments": "{}"},
            {"id": "fco_6", "type": "function_call_output", "status": "completed", "call_id": "c", "output": "7"},
            {"id": "item_7", "type": "web_search_call", "status": "completed"},
        ]);
        assert_eq!(Value::Array(items), expected);
    }
}
