//! Converts a page's chat request to a request to `/v1/responses`, and gives the upstream request that it must produce.

use callboard_test_support::golden_page::Page;
use serde_json::{Map, Value, json};

/// The converted request, or the field that has no equivalent.
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

/// The expected first upstream request: the one on the page, or else the client's request.
pub(super) fn expected_upstream(page: &Page, chat: &Value) -> Value {
    let shown = page.section("Asked upstream 1").and_then(|section| section.fence("json"));
    let shown: Option<Value> = shown.map(|text| serde_json::from_str(&text).expect("what is asked"));
    let mut due = shown.as_ref().unwrap_or(chat).as_object().cloned().unwrap_or_default();
    if due.get("tools").is_some_and(|tools| tools == "as requested") {
        due.insert("tools".to_owned(), chat["tools"].clone());
    }
    due.shift_remove("stream_options");
    // The client's limit has another name on this wire; one that Callboard set has not.
    if chat.get("max_tokens").is_some()
        && let Some(most) = due.shift_remove("max_tokens")
    {
        due.insert("max_completion_tokens".to_owned(), most);
    }
    Value::Object(due)
}

fn input(messages: &Value) -> Value {
    messages.as_array().into_iter().flatten().flat_map(items).collect()
}

/// A message with calls becomes a message, if it has text, and an item for each call.
fn items(message: &Value) -> Vec<Value> {
    if message["role"] == "tool" {
        return vec![
            json!({"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}),
        ];
    }
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = match &message["content"] {
        Value::Null if calls.is_empty() => Some(json!({"role": message["role"], "content": ""})),
        Value::Null => None,
        content => Some(json!({"role": message["role"], "content": content})),
    };
    text.into_iter().chain(calls.iter().map(call)).collect()
}

fn call(call: &Value) -> Value {
    let function = &call["function"];
    json!({"type": "function_call", "call_id": call["id"], "name": function["name"], "arguments": function["arguments"]})
}

/// Moves the fields of the nested object, named after the type, beside the type.
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
