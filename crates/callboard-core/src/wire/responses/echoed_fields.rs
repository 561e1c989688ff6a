//! The fields of a request that its response echoes, with defaults for those that were not sent.
//!
//! Typed clients expect every key with a value of its type. What was sent is echoed as it is; what is missing gets the value
//! that Callboard and model servers use.

use serde_json::{Map, Value, json};

use super::ResponsesRequest;

/// Fields that are shown as the client sent them, and what is shown where it sent none.
const PLAIN: [(&str, &str); 16] = [
    ("frequency_penalty", "0.0"),
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("max_tool_calls", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("presence_penalty", "0.0"),
    ("previous_response_id", "null"),
    ("prompt_cache_key", "null"),
    ("safety_identifier", "null"),
    ("service_tier", "\"default\""),
    ("temperature", "1.0"),
    ("top_logprobs", "0"),
    ("top_p", "1.0"),
    ("truncation", "\"disabled\""),
    ("user", "null"),
];

/// Defaults for the keys of a function. Schemas are always enforced, but made strict only on request.
const FUNCTION: [(&str, Value); 3] =
    [("description", Value::Null), ("parameters", Value::Null), ("strict", Value::Bool(false))];

/// Defaults for the keys of an answer's schema.
const SCHEMA: [(&str, Value); 2] = [("description", Value::Null), ("strict", Value::Bool(false))];

/// Defaults for the keys of `reasoning`; the model server's defaults are unknown.
const REASONING: [(&str, Value); 2] = [("effort", Value::Null), ("summary", Value::Null)];

/// The fields of the request, in the form in which responses show them.
pub(super) fn fields(request: &ResponsesRequest) -> Map<String, Value> {
    let mut shown = Map::new();
    for (key, absent) in PLAIN {
        // "auto" leaves the choice to the server, which reports its choice at the end.
        let sent = request.get(key).filter(|value| key != "service_tier" || *value != "auto").cloned();
        shown.insert(key.to_owned(), sent.unwrap_or_else(|| serde_json::from_str(absent).unwrap_or_default()));
    }
    shown.insert("tool_choice".to_owned(), tool_choice(request));
    let mut reasoning = request.get("reasoning").cloned().unwrap_or_else(|| json!({}));
    fill(&mut reasoning, &REASONING);
    shown.insert("reasoning".to_owned(), reasoning);
    shown.insert("text".to_owned(), text(request));
    let tools = request.get("tools").and_then(Value::as_array);
    shown.insert("tools".to_owned(), tools.into_iter().flatten().map(tool).collect());
    shown
}

/// A list of allowed tools is shown with its mode.
fn tool_choice(request: &ResponsesRequest) -> Value {
    let mut choice = request.get("tool_choice").cloned().unwrap_or_else(|| "auto".into());
    if kind(&choice) == Some("allowed_tools") {
        fill(&mut choice, &[("mode", "auto".into())]);
    }
    choice
}

fn text(request: &ResponsesRequest) -> Value {
    let mut text = request.get("text").and_then(Value::as_object).cloned().unwrap_or_default();
    text.retain(|_, value| !value.is_null());
    match text.get_mut("format").filter(|format| !format.is_null()) {
        None => drop(text.insert("format".to_owned(), json!({"type": "text"}))),
        Some(format) if kind(format) == Some("json_schema") => fill(format, &SCHEMA),
        Some(_) => {}
    }
    Value::Object(text)
}

/// A namespace contains functions, and no namespaces.
fn tool(tool: &Value) -> Value {
    let mut tool = tool.clone();
    if let Some(Value::Array(inside)) = tool.get_mut("tools") {
        inside.iter_mut().for_each(function);
    }
    function(&mut tool);
    tool
}

fn function(tool: &mut Value) {
    if kind(tool) == Some("function") {
        fill(tool, &FUNCTION);
    }
}

fn kind(value: &Value) -> Option<&str> {
    value.get("type").and_then(Value::as_str)
}

fn fill(value: &mut Value, keys: &[(&str, Value)]) {
    let Some(fields) = value.as_object_mut() else { return };
    for (key, absent) in keys {
        fields.entry(*key).or_insert_with(|| absent.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(extra: &Value) -> Map<String, Value> {
        let mut body = json!({"model": "m", "input": "hello"});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        fields(&ResponsesRequest::read(body.to_string().into_bytes()).unwrap())
    }

    #[test]
    fn what_was_not_sent_has_a_value_of_its_type() {
        let nothing =
            json!({"temperature": null, "service_tier": null, "reasoning": null, "text": null, "tools": null});
        let expected = json!({
            "frequency_penalty": 0.0, "presence_penalty": 0.0,
            "instructions": null, "max_output_tokens": null, "max_tool_calls": null, "metadata": {},
            "parallel_tool_calls": true, "previous_response_id": null, "prompt_cache_key": null,
            "safety_identifier": null, "service_tier": "default", "temperature": 1.0, "tool_choice": "auto", "top_logprobs": 0,
            "top_p": 1.0, "truncation": "disabled", "user": null, "reasoning": {"effort": null, "summary": null},
            "text": {"format": {"type": "text"}}, "tools": [],
        });
        for request in [json!({}), nothing] {
            assert_eq!(Value::Object(shown(&request)), expected, "{request}");
        }
    }

    #[test]
    fn what_was_sent_is_shown_with_all_its_keys() {
        let schema = json!({"type": "object", "properties": {}});
        let whole = json!({"type": "function", "name": "a", "description": "d", "parameters": schema, "strict": true});
        let bare = |name: &str| json!({"type": "function", "name": name});
        let filled = |name: &str| json!({"type": "function", "name": name, "description": null, "parameters": null, "strict": false});
        let table = [
            ("temperature", json!(0), json!(0)),
            ("frequency_penalty", json!(-1.5), json!(-1.5)),
            ("service_tier", json!("auto"), json!("default")),
            ("service_tier", json!("flex"), json!("flex")),
            ("reasoning", json!({"effort": "low"}), json!({"effort": "low", "summary": null})),
            ("text", json!({"verbosity": "low"}), json!({"verbosity": "low", "format": {"type": "text"}})),
            (
                "text",
                json!({"format": {"type": "json_schema", "name": "n", "schema": schema}}),
                json!({"format": {"type": "json_schema", "name": "n", "schema": schema, "description": null, "strict": false}}),
            ),
            ("tools", json!([whole, bare("b")]), json!([whole, filled("b")])),
            ("tools", json!([{"type": "web_search"}]), json!([{"type": "web_search"}])),
            (
                "tools",
                json!([{"type": "namespace", "name": "n", "tools": [bare("c"), {"type": "custom", "name": "d"}]}]),
                json!([{"type": "namespace", "name": "n", "tools": [filled("c"), {"type": "custom", "name": "d"}]}]),
            ),
        ];
        for (key, sent, expected) in table {
            assert_eq!(shown(&json!({key: sent}))[key], expected, "{key}: {sent}");
        }
    }
}
