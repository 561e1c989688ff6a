//! What is taken as input: all listed items and parts, what is continued, and choices of tools.

use callboard_test_support::{Program, Script, ask, calls, greeting_server, text};
use serde_json::{Value, json};

use super::requests::create;

#[test]
fn all_listed_items_and_parts_are_taken() {
    let call =
        json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "id": null, "status": null});
    let output = |output: Value| json!([call, {"type": "function_call_output", "call_id": "c", "output": output}]);
    let user = |part: Value| json!([{"role": "user", "content": [part]}]);
    let pixel = "data:image/png;base64,iVBORw0KGgo=";
    let program = Program::with_upstream(&greeting_server().url, &[]);
    for input in [
        json!([{"role": "system", "content": "s"}, {"role": "developer", "content": [{"type": "input_text", "text": "d"}]}, {"role": "user", "content": "u"}]),
        json!([{"role": "assistant", "content": "a", "phase": "commentary"}, {"role": "assistant", "content": "b", "phase": "final_answer"}, {"role": "user", "content": "u"}]),
        json!([{"role": "assistant", "content": [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "r"}]}, {"role": "user", "content": "u"}]),
        user(json!({"type": "input_image", "image_url": pixel, "detail": "low"})),
        user(json!({"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,YQ=="})),
        user(json!({"type": "input_file", "file_url": "https://a.example/a.pdf"})),
        output(json!("7")),
        output(json!([{"type": "input_text", "text": "7"}, {"type": "input_image", "image_url": pixel}])),
        output(json!([{"type": "input_video", "video_url": "https://a.example/a.mp4"}])),
        json!([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}], "content": null}, {"role": "user", "content": "u"}]),
    ] {
        let answer = create(&program, &json!({"input": input}));
        assert_eq!(answer.status, 200, "{input}: {answer:?}");
    }
    let unknown = create(&program, &json!({"input": [{"type": "weather"}]}));
    assert_eq!((unknown.status, unknown.error("param").as_str()), (400, "input[0].type"));
}

/// Calls of tools that only OpenAI runs are passed over, since they say nothing to a model here.
#[test]
fn calls_of_unknown_tools_are_passed_over() {
    let (script, server) = Script::start([text("Yes.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let unknown =
        json!([{"type": "weather_call", "id": "w_1", "status": "completed"}, {"role": "user", "content": "u"}]);
    create(&program, &json!({"input": unknown})).ok();
    assert_eq!(script.asked()[0]["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn a_body_is_json_under_any_type_and_a_form_is_refused() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_API_KEYS", "k")]);
    let send = |kind: &str, body: &str| {
        let headers = ["authorization: Bearer k", kind];
        ask(&program.address, "POST", "/v1/responses", &headers, body).status
    };
    let json = r#"{"model": "m", "input": "Hi"}"#;
    for kind in ["content-type: application/json", "content-type: application/json; charset=utf-8", "accept: */*"] {
        assert_eq!(send(kind, json), 200, "{kind}");
    }
    assert_eq!(send("content-type: application/x-www-form-urlencoded", "model=m&input=Hi"), 400);
}

#[test]
fn a_call_is_required_or_forbidden_as_asked() {
    let tools = json!([{"type": "function", "name": "f"}]);
    let call = || calls("", &[("f", json!({}))]);
    for (choice, replies, status, calls) in [
        ("required", [text("No."), call()], 200, 1),
        ("required", [text("No."), text("No.")], 502, 0),
        ("none", [call(), text("No.")], 200, 0),
    ] {
        let (_, server) = Script::start(replies);
        let program = Program::with_upstream(&server.url, &[("CALLBOARD_CONTRACT_REASKS", "1")]);
        let answer = create(&program, &json!({"tools": tools, "tool_choice": choice}));
        assert_eq!(answer.status, status, "{choice}: {answer:?}");
        let output = answer.json()["output"].as_array().cloned().unwrap_or_default();
        assert_eq!(output.iter().filter(|item| item["type"] == "function_call").count(), calls, "{output:?}");
    }
}

#[test]
fn earlier_input_and_output_come_before_the_new_input() {
    let (script, server) = Script::start([text("One."), text("Two.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let first = create(&program, &json!({"input": "first", "instructions": "be kind"})).ok();
    create(&program, &json!({"input": "second", "previous_response_id": first["id"]})).ok();
    let messages = script.asked()[1]["messages"].clone();
    let said: Vec<&str> =
        messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["first", "One.", "second"], "instructions are not carried over");
    let unknown = create(&program, &json!({"previous_response_id": "resp_none"}));
    assert_eq!((unknown.status, unknown.error("code").as_str()), (400, "previous_response_not_found"));
}

#[test]
fn allowed_tools_are_enforced_while_the_model_sees_all() {
    let tools = json!([{"type": "function", "name": "f"}, {"type": "function", "name": "g"}]);
    let only = |mode: Option<&str>| {
        let mut choice = json!({"type": "allowed_tools", "tools": [{"type": "function", "name": "f"}]});
        mode.into_iter().for_each(|mode| choice["mode"] = mode.into());
        choice
    };
    for (mode, called, sees) in [(None, "g", 2), (Some("required"), "g", 2), (Some("none"), "f", 0)] {
        let (script, server) = Script::start([calls("", &[(called, json!({}))]), calls("", &[("f", json!({}))])]);
        let program = Program::with_upstream(&server.url, &[("CALLBOARD_CONTRACT_REASKS", "1")]);
        let answer = create(&program, &json!({"tools": tools, "tool_choice": only(mode)}));
        let offered = script.asked()[0]["tools"].as_array().map_or(0, Vec::len);
        let names: Vec<Value> = match answer.status {
            200 => answer.json()["output"].as_array().unwrap().iter().map(|item| item["name"].clone()).collect(),
            _ => Vec::new(),
        };
        assert!(!names.contains(&json!("g")), "{mode:?}: {names:?}");
        if mode == Some("none") {
            assert!(!names.contains(&json!("f")), "{answer:?}");
        } else {
            assert_eq!((offered, names), (sees, vec![json!("f")]), "{mode:?}");
        }
    }
}
