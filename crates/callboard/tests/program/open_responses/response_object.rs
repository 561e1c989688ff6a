//! The response object: all 31 fields, each with a value of its type, wherever it is shown.

use callboard_test_support::{ModelServer, Program, Script, calls, greeting_server, text};
use serde_json::{Value, json};

use super::requests::{create, events};

/// The fields, with the types that JSON knows; several where null is allowed.
const FIELDS: [(&str, &[&str]); 31] = [
    ("id", &["string"]),
    ("object", &["string"]),
    ("created_at", &["number"]),
    ("completed_at", &["number", "null"]),
    ("status", &["string"]),
    ("incomplete_details", &["object", "null"]),
    ("model", &["string"]),
    ("previous_response_id", &["string", "null"]),
    ("instructions", &["string", "null"]),
    ("output", &["array"]),
    ("error", &["object", "null"]),
    ("tools", &["array"]),
    ("tool_choice", &["string", "object"]),
    ("truncation", &["string"]),
    ("parallel_tool_calls", &["boolean"]),
    ("text", &["object"]),
    ("top_p", &["number"]),
    ("presence_penalty", &["number"]),
    ("frequency_penalty", &["number"]),
    ("top_logprobs", &["number"]),
    ("temperature", &["number"]),
    ("reasoning", &["object", "null"]),
    ("usage", &["object", "null"]),
    ("max_output_tokens", &["number", "null"]),
    ("max_tool_calls", &["number", "null"]),
    ("store", &["boolean"]),
    ("background", &["boolean"]),
    ("service_tier", &["string"]),
    ("metadata", &["object"]),
    ("safety_identifier", &["string", "null"]),
    ("prompt_cache_key", &["string", "null"]),
];

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check(response: &Value) {
    for (field, types) in FIELDS {
        let value = response.get(field).unwrap_or_else(|| panic!("{field} is missing: {response}"));
        assert!(types.contains(&type_of(value)), "{field} is {value}");
    }
    for (item, status) in response["output"].as_array().unwrap().iter().map(|item| (item, &item["status"])) {
        assert!(["type", "id", "status"].iter().all(|key| item[key].is_string()), "{item}");
        assert!(*status != "incomplete" || response["status"] == "incomplete", "{response}");
    }
    let usage = &response["usage"];
    if !usage.is_null() {
        let counts = ["input_tokens", "output_tokens", "total_tokens"].map(|key| &usage[key]);
        let details =
            [&usage["input_tokens_details"]["cached_tokens"], &usage["output_tokens_details"]["reasoning_tokens"]];
        assert!(counts.into_iter().chain(details).all(Value::is_u64), "{usage}");
    }
}

#[test]
fn every_object_has_every_field() {
    let function = json!({"type": "function", "name": "f"});
    let requests = [
        json!({}),
        json!({"tools": [function], "tool_choice": {"type": "allowed_tools", "tools": [function]}}),
        json!({"presence_penalty": 1, "frequency_penalty": -0.5, "text": {"verbosity": null}, "metadata": {"a": "b"}}),
    ];
    let program = Program::with_upstream(&greeting_server().url, &[]);
    for request in &requests {
        let whole = create(&program, request).ok();
        check(&whole);
        assert_eq!(whole["status"], "completed");
        let mut streamed = request.clone();
        streamed["stream"] = true.into();
        for (name, event) in events(&create(&program, &streamed)) {
            assert_eq!(event["type"], *name);
            event.get("response").into_iter().for_each(check);
        }
    }
    let shown = create(&program, &requests[1]).ok();
    assert_eq!(shown["tool_choice"]["mode"], "auto");
    let tool = json!({"type": "function", "name": "f", "description": null, "parameters": null, "strict": false});
    assert_eq!(shown["tools"], json!([tool]));
    let shown = create(&program, &requests[2]).ok();
    assert_eq!((&shown["presence_penalty"], &shown["frequency_penalty"]), (&json!(1), &json!(-0.5)));
    assert!(shown["text"].get("verbosity").is_none(), "an optional field is not null: {shown}");
}

#[test]
fn every_kind_of_item_has_a_type_an_id_and_a_status() {
    let arguments = json!({"input": "ls"});
    let (_, server) = Script::start([calls("Look.", &[("shell", arguments), ("f", json!({}))])]);
    let program = Program::with_upstream(&server.url, &[]);
    let tools = json!([{"type": "custom", "name": "shell"}, {"type": "function", "name": "f"}]);
    let response = create(&program, &json!({"tools": tools})).ok();
    check(&response);
    let kinds: Vec<&str> =
        response["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "custom_tool_call", "function_call"]);
}

#[test]
fn what_is_cut_off_is_the_last_item_of_an_incomplete_response() {
    let server = ModelServer::start(|mut exchange| {
        exchange.begin_stream();
        exchange.text("Once upon");
        exchange.finish("length");
    });
    let program = Program::with_upstream(&server.url, &[]);
    let response = create(&program, &json!({"max_output_tokens": 16})).ok();
    check(&response);
    let statuses = (&response["status"], &response["output"][0]["status"], &response["incomplete_details"]["reason"]);
    assert_eq!(statuses, (&json!("incomplete"), &json!("incomplete"), &json!("max_output_tokens")));
}

#[test]
fn errors_have_their_four_fields_and_json_is_what_is_not_streamed() {
    let (_, server) = Script::start([text("Yes.")]);
    let program = Program::with_upstream(&server.url, &[]);
    for request in [json!({}), json!({"temperature": 9})] {
        let answer = create(&program, &request);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let error = &answer.json()["error"];
        let keys = ["message", "type", "param", "code"];
        assert!(error.is_null() || keys.iter().all(|key| error.get(key).is_some()), "{error}");
    }
    assert_eq!(create(&program, &json!({"background": true})).status, 400);
}
