//! Conversations whose items come and go by hand: whatever was put in or taken out, the next turn can be played.

use serde_json::{Value, json};

use super::support::{Answer, Connection, ModelServer, Program, Script, ask, text};

const RESPONSES: &str = "/v1/responses";

fn post(program: &Program, path: &str, body: &Value) -> Answer {
    ask(&program.address, "POST", path, &[], &body.to_string())
}

/// What is answered to a request that is not refused.
fn made(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

/// The status, the code and the place of a refusal.
fn refusal(answer: &Answer) -> (u16, String, String) {
    (answer.status, answer.error("code"), answer.error("param"))
}

fn refused(status: u16, code: &str, place: &str) -> (u16, String, String) {
    (status, code.to_owned(), place.to_owned())
}

fn conversation(program: &Program, items: &Value) -> String {
    made(&post(program, "/v1/conversations", &json!({"items": items})))["id"].as_str().unwrap().to_owned()
}

fn listed(program: &Program, id: &str) -> Vec<Value> {
    let path = format!("/v1/conversations/{id}/items?order=asc");
    made(&ask(&program.address, "GET", &path, &[], ""))["data"].as_array().unwrap().clone()
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "a door"})
}

#[test]
fn an_output_needs_its_call() {
    let (_script, server) = Script::start([text("A door.")]);
    let program = Program::before(&server.url, &[]);
    let said = json!({"role": "user", "content": "Look."});
    let misplaced = refused(400, "invalid_tool_call_id", "items[1].call_id");
    let made_so = post(&program, "/v1/conversations", &json!({"items": [said, output("call_1")]}));
    assert_eq!(refusal(&made_so), misplaced);
    let id = conversation(&program, &json!([said, call("call_1")]));
    let path = format!("/v1/conversations/{id}/items");
    let rows = [
        (json!([said, output("call_2")]), misplaced.clone()),
        (json!([output("call_1"), output("call_1")]), misplaced.clone()),
        (json!([said, call("call_1")]), misplaced),
        (json!([{"type": "item_reference", "id": "msg_1"}]), refused(400, "unsupported_value", "items[0].type")),
    ];
    for (items, expected) in rows {
        assert_eq!(refusal(&post(&program, &path, &json!({"items": items}))), expected, "{items}");
    }
    assert_eq!(listed(&program, &id).len(), 2);
    made(&post(&program, &path, &json!({"items": [output("call_1")]})));
    made(&post(&program, RESPONSES, &json!({"model": "m", "input": "Go on.", "conversation": id})));
}

#[test]
fn an_output_whose_call_was_deleted_blocks_nobody() {
    let (script, server) = Script::start([text("A door.")]);
    let program = Program::before(&server.url, &[]);
    let id = conversation(&program, &json!([{"role": "user", "content": "Look."}, call("call_1"), output("call_1")]));
    let items = listed(&program, &id);
    let path = format!("/v1/conversations/{id}/items/{}", items[1]["id"].as_str().unwrap());
    made(&ask(&program.address, "DELETE", &path, &[], ""));
    made(&post(&program, RESPONSES, &json!({"model": "m", "input": "Go on.", "conversation": id})));
    let told = script.asked();
    let roles: Vec<&str> =
        told[0]["messages"].as_array().unwrap().iter().flat_map(|told| told["role"].as_str()).collect();
    assert_eq!(roles, ["user", "user"]);
}

#[test]
fn an_id_that_is_taken_becomes_one_of_its_kind() {
    let program = Program::start(&[], &[]);
    let id = conversation(&program, &json!([{"role": "user", "content": "Look.", "id": "msg_own"}]));
    let again = json!({"items": [{"role": "user", "content": "Look again.", "id": "msg_own"}]});
    let added = made(&post(&program, &format!("/v1/conversations/{id}/items"), &again));
    let new = added["data"][0]["id"].as_str().unwrap();
    assert!(new.starts_with("msg_") && new != "msg_own", "{new}");
}

#[test]
fn what_was_deleted_cannot_be_referred_to() {
    let (script, server) = Script::start([text("A door."), text("A wall.")]);
    let program = Program::before(&server.url, &[]);
    let id = conversation(&program, &json!([]));
    let response = made(&post(&program, RESPONSES, &json!({"model": "m", "input": "Look.", "conversation": id})));
    let item = response["output"][0]["id"].as_str().unwrap();
    let naming =
        json!({"model": "m", "input": [{"type": "item_reference", "id": item}, {"role": "user", "content": "?"}]});
    made(&post(&program, RESPONSES, &naming));
    made(&ask(&program.address, "DELETE", &format!("/v1/conversations/{id}/items/{item}"), &[], ""));
    assert_eq!(refusal(&post(&program, RESPONSES, &naming)), refused(400, "item_not_found", "input[0].id"));
    assert_eq!(script.asked().len(), 2);
}

#[test]
fn a_turn_that_fails_leaves_its_response_and_nothing_else() {
    let server = ModelServer::start(|mut visit| {
        visit.begin_stream();
        visit.text("One");
        visit.event(r#"{"error":{"message":"engine died"}}"#);
    });
    let program = Program::before(&server.url, &[]);
    let id = conversation(&program, &json!([{"role": "user", "content": "Count."}]));
    let request = json!({"model": "m", "input": "Go on.", "conversation": id, "stream": true}).to_string();
    let mut client = Connection::send(&program.address, "POST", RESPONSES, &[], &request);
    client.read_until("event: response.failed").unwrap();
    let failed: Value =
        serde_json::from_str(client.read_until("data: ").unwrap().trim_start_matches("data: ")).unwrap();
    let path = format!("{RESPONSES}/{}", failed["response"]["id"].as_str().unwrap());
    assert_eq!(made(&ask(&program.address, "GET", &path, &[], "")), failed["response"]);
    assert_eq!(
        made(&ask(&program.address, "GET", &format!("{path}/input_items"), &[], ""))["data"][0]["type"],
        "message"
    );
    assert_eq!(listed(&program, &id).len(), 1);
}

#[test]
fn what_cannot_be_read_or_is_not_there_is_refused_in_one_form() {
    let program = Program::start(&[], &[]);
    let unreadable =
        ["conversations/%ff/items", "conversations/conv_1/items/%ff", "responses/%c3", "models/a%zz", "%ff"];
    for path in unreadable {
        let refused = ask(&program.address, "GET", &format!("/v1/{path}"), &[], "");
        assert_eq!(refusal(&refused), self::refused(400, "invalid_url", ""), "{path}");
        assert_eq!(refused.error("type"), "invalid_request_error", "{path}");
    }
    for path in ["conversations/conv_1", "conversations/conv_1/items", "responses/resp_1", "models/org/none", "none"] {
        let missing = ask(&program.address, "GET", &format!("/v1/{path}"), &[], "");
        assert_eq!((missing.status, missing.error("type").as_str()), (404, "invalid_request_error"), "{path}");
    }
}
