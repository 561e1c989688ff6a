//! A page's chat request as a request to `/v1/responses`, and the chat request that is to come out of that again.

use serde_json::{Map, Value, json};

/// The request in the words of the other wire, or the field that has none there.
pub(super) fn converted(chat: &Value) -> Result<Value, String> {
    let mut request = Map::new();
    for (key, value) in chat.as_object().expect("a request is an object") {
        match key.as_str() {
            "messages" => request.insert("input".to_owned(), input(value)),
            "tools" => request.insert("tools".to_owned(), mapped(value, flat)),
            "tool_choice" => request.insert("tool_choice".to_owned(), choice(value)),
            "response_format" => request.insert("text".to_owned(), json!({"format": flat(value)})),
            "max_tokens" | "max_completion_tokens" => request.insert("max_output_tokens".to_owned(), value.clone()),
            "parallel_tool_calls" | "temperature" | "top_p" => request.insert(key.clone(), value.clone()),
            // Usage is part of every response.
            "stream_options" => None,
            _ => return Err(key.clone()),
        };
    }
    Ok(Value::Object(request))
}

/// What the model server is to be asked for such a request.
pub(super) fn due_upstream(chat: &Value) -> Value {
    let mut due = chat.as_object().cloned().unwrap_or_default();
    due.shift_remove("stream_options");
    if let Some(most) = due.shift_remove("max_tokens") {
        due.insert("max_completion_tokens".to_owned(), most);
    }
    Value::Object(due)
}

fn input(messages: &Value) -> Value {
    messages.as_array().into_iter().flatten().flat_map(items).collect()
}

/// A message with calls is a message, if it says something, and an item for each call.
fn items(message: &Value) -> Vec<Value> {
    if message["role"] == "tool" {
        return vec![
            json!({"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}),
        ];
    }
    let said = (!message["content"].is_null()).then(|| json!({"role": message["role"], "content": message["content"]}));
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        let function = &call["function"];
        json!({"type": "function_call", "call_id": call["id"], "name": function["name"], "arguments": function["arguments"]})
    });
    said.into_iter().chain(calls).collect()
}

/// What stands in a field of its own kind there stands beside the kind here.
fn flat(value: &Value) -> Value {
    let kind = value["type"].as_str().unwrap_or_default();
    let mut fields = Map::from_iter([("type".to_owned(), kind.into())]);
    fields.extend(value[kind].as_object().cloned().unwrap_or_default());
    Value::Object(fields)
}

fn choice(choice: &Value) -> Value {
    let mut choice = if choice.is_object() { flat(choice) } else { choice.clone() };
    if let Some(tools) = choice.get_mut("tools") {
        *tools = mapped(tools, flat);
    }
    choice
}

fn mapped(list: &Value, each: fn(&Value) -> Value) -> Value {
    list.as_array().into_iter().flatten().map(each).collect()
}
