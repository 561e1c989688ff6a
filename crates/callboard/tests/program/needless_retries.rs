//! Which errors tell the official SDKs not to retry: those that another try would repeat.

use callboard_test_support::{ModelServer, Program, Script, ask, calls, post, text};
use serde_json::{Value, json};

fn request(extra: &Value) -> Value {
    let tool = json!({"type": "function", "function": {"name": "note", "parameters": {"type": "object",
        "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false}}});
    let mut request = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]});
    request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    request
}

#[test]
fn refusals_of_the_contract_are_not_retried() {
    let format =
        json!({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "required": ["a"]}}});
    for (reply, extra, code) in [
        (calls("", &[("notes", json!({}))]), json!({}), "unknown_tool_call"),
        (calls("", &[("note", json!("{\"text\": "))]), json!({}), "malformed_tool_arguments"),
        (calls("", &[("note", json!({}))]), json!({}), "invalid_tool_arguments"),
        (text("No."), json!({"tool_choice": "required"}), "tool_choice_unmet"),
        (text("No."), json!({"response_format": format}), "invalid_response_format"),
    ] {
        let (_script, server) = Script::start(std::iter::repeat_n(reply, 12));
        let program = Program::with_upstream(&server.url, &[]);
        for stream in [false, true] {
            let mut body = request(&extra);
            body["stream"] = stream.into();
            let answer = post(&program.address, &body.to_string());
            if answer.status == 200 {
                assert!(stream && answer.body.contains(code), "its text was sent already: {answer:?}");
                continue;
            }
            assert_eq!((answer.status, answer.error("code").as_str()), (502, code), "{answer:?}");
            assert_eq!(answer.header("x-should-retry"), Some("false"), "{answer:?}");
        }
    }
}

#[test]
fn a_refusal_of_a_response_is_not_retried() {
    let (_script, server) = Script::start(std::iter::repeat_n(calls("", &[("notes", json!({}))]), 4));
    let program = Program::with_upstream(&server.url, &[]);
    let tool = json!({"type": "function", "name": "note", "parameters": {"type": "object", "properties": {}}});
    let body = json!({"model": "m", "input": "Hi", "tools": [tool]}).to_string();
    let answer = ask(&program.address, "POST", "/v1/responses", &[], &body);
    assert_eq!((answer.status, answer.header("x-should-retry")), (502, Some("false")), "{answer:?}");
}

/// Another try may succeed.
#[test]
fn failures_of_a_server_may_be_retried() {
    let server = ModelServer::start(|mut exchange| exchange.json(500, "{}"));
    let program = Program::with_upstream(&server.url, &[]);
    let answer = post(&program.address, &request(&json!({})).to_string());
    assert_eq!((answer.status, answer.header("x-should-retry")), (502, None), "{answer:?}");
}
