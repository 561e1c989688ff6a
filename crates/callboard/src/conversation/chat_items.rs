//! Messages of Chat Completions as the items of a conversation, in the form in which requests for responses bring them.

use std::collections::HashMap;
use std::ops::Range;

use callboard_core::contract::ToolCache;
use callboard_core::model::BadRequest;
use callboard_core::wire::responses::ResponsesRequest;
use serde_json::{Value, json};

/// Whose calls are in which messages.
#[derive(Debug, Default)]
pub(super) struct CallOwners {
    /// The messages that the client wrote, all of whose calls are its own.
    pub(super) client_messages: Range<usize>,
    /// The tools of the client, in the other messages.
    pub(super) client_tools: Vec<String>,
}

/// The items of the messages from the first one that is given on. A call that ran here is one item with its result.
pub(super) fn items_of(messages: &[String], first: usize, owners: &CallOwners) -> Vec<Value> {
    let mut items = ChatItems { owners, items: Vec::new(), ran: HashMap::new() };
    for (number, text) in messages.iter().enumerate().skip(first) {
        if let Ok(message) = serde_json::from_str::<Value>(text) {
            items.add(&message, owners.client_messages.contains(&number));
        }
    }
    items.items
}

/// The messages of stored items and of new ones.
pub(super) fn messages_of(
    model: &str,
    earlier: &[Value],
    new: &[Value],
    tools: &ToolCache,
) -> Result<Vec<String>, BadRequest> {
    let request = json!({"model": model, "input": new}).to_string();
    let (chat, _) = ResponsesRequest::read(request.into_bytes())?.chat_request(earlier, tools)?;
    Ok(chat.history().into_iter().map(|message| message.json).collect())
}

struct ChatItems<'a> {
    owners: &'a CallOwners,
    items: Vec<Value>,
    /// Where the calls are that ran here, by their ids.
    ran: HashMap<String, usize>,
}

impl ChatItems<'_> {
    fn add(&mut self, message: &Value, by_client: bool) {
        let role = message["role"].as_str().unwrap_or_default();
        let content = parts(&message["content"], role);
        if role == "tool" {
            return self.add_result(message["tool_call_id"].as_str().unwrap_or_default(), &content);
        }
        if !content.is_empty() {
            self.items.push(json!({"type": "message", "role": role, "content": content}));
        }
        message["tool_calls"].as_array().into_iter().flatten().for_each(|call| self.add_call(call, by_client));
    }

    fn add_call(&mut self, call: &Value, by_client: bool) {
        let (id, function) = (call["id"].as_str().unwrap_or_default(), &call["function"]);
        let name = function["name"].as_str().unwrap_or_default();
        if by_client || self.ran.contains_key(id) || self.owners.client_tools.iter().any(|own| own == name) {
            let arguments = &function["arguments"];
            self.items.push(json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}));
            return;
        }
        self.ran.insert(id.to_owned(), self.items.len());
        let item = format!("mcp_{}", id.strip_prefix("call_").unwrap_or(id));
        self.items.push(json!({"type": "mcp_call", "id": item, "status": "incomplete", "server_label": "",
            "name": name, "arguments": function["arguments"], "output": null, "error": null, "approval_request_id": null}));
    }

    fn add_result(&mut self, id: &str, content: &[Value]) {
        let text: String = content.iter().filter_map(|part| part["text"].as_str()).collect();
        match self.ran.remove(id).and_then(|at| self.items.get_mut(at)) {
            Some(call) => {
                call["status"] = "completed".into();
                call["output"] = text.into();
            }
            None => self.items.push(json!({"type": "function_call_output", "call_id": id, "output": text})),
        }
    }
}

fn parts(content: &Value, role: &str) -> Vec<Value> {
    match content {
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![text_part(text, role)],
        Value::Array(list) => list.iter().filter_map(|part| item_part(part, role)).collect(),
        _ => Vec::new(),
    }
}

fn text_part(text: &str, role: &str) -> Value {
    match role {
        "assistant" => json!({"type": "output_text", "text": text, "annotations": []}),
        _ => json!({"type": "input_text", "text": text}),
    }
}

/// A part of a message; none for one that no item can hold.
fn item_part(part: &Value, role: &str) -> Option<Value> {
    let mut item = match part["type"].as_str()? {
        "text" => return Some(text_part(part["text"].as_str()?, role)),
        "image_url" => json!({"type": "input_image", "image_url": part["image_url"]["url"],
            "detail": part["image_url"]["detail"]}),
        "file" => json!({"type": "input_file", "file_data": part["file"]["file_data"].as_str()?,
            "filename": part["file"]["filename"]}),
        "input_audio" => return Some(part.clone()),
        "video_url" => json!({"type": "input_video", "video_url": part["video_url"]["url"]}),
        _ => return None,
    };
    item.as_object_mut()?.retain(|_, value| !value.is_null());
    Some(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_items_and_calls_one_item_with_their_results() {
        let call =
            |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
        let messages = [
            json!({"role": "user", "content": [{"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": "data:x"}}]}),
            json!({"role": "assistant", "content": null, "tool_calls": [call("call_a", "add"), call("call_b", "show")]}),
            json!({"role": "tool", "tool_call_id": "call_a", "content": "1"}),
            json!({"role": "tool", "tool_call_id": "call_b", "content": "shown"}),
            json!({"role": "assistant", "content": "Done."}),
        ];
        let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
        let owners = CallOwners { client_tools: vec!["show".to_owned()], ..CallOwners::default() };
        let items = items_of(&texts, 0, &owners);
        let expected = json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."},
                {"type": "input_image", "image_url": "data:x"}]},
            {"type": "mcp_call", "id": "mcp_a", "status": "completed", "server_label": "", "name": "add",
                "arguments": "{}", "output": "1", "error": null, "approval_request_id": null},
            {"type": "function_call", "call_id": "call_b", "name": "show", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_b", "output": "shown"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done.", "annotations": []}]},
        ]);
        assert_eq!(Value::Array(items), expected);
    }
}
