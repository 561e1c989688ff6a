//! The response object: all 31 fields, each with a value of its type, wherever it is shown.

use callboard_test_support::{ModelServer, Program, Script, calls, greeting_server, text};
use serde_json::json;

use super::requests::{create, events};
use super::schema::check_response;

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
        check_response(&whole);
        assert_eq!(whole["status"], "completed");
        let mut streamed = request.clone();
        streamed["stream"] = true.into();
        for (name, event) in events(&create(&program, &streamed)) {
            assert_eq!(event["type"], *name);
            event.get("response").into_iter().for_each(check_response);
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
    check_response(&response);
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
    check_response(&response);
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
