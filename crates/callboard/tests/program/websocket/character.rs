//! A character over a WebSocket: its tools run in Callboard, and its state is passed from response to response.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use callboard_test_support::{COUNTER, CharacterFolder, ModelServer, Script, ask, calls, new_conversation, text};
use serde_json::{Value, json};

use super::client::{Socket, wait_for_turn, words};

fn add(number: u64) -> [Value; 2] {
    [calls("Adding.", &[("add", json!({"number": number}))]), text("Added.")]
}

fn context(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap().iter();
    messages.filter_map(|message| message["content"].as_str()).filter(|text| text.contains("The count is")).collect()
}

#[test]
fn state_is_passed_on_without_a_store() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let (script, server) = Script::start(add(2));
    let program = folder.serve(&server);
    let mut socket = Socket::open(&program.address);
    let mut fields = json!({"model": "counter", "store": false});
    let mut contexts = Vec::new();
    for number in [2, 3, 4] {
        script.then(add(number + 1));
        socket.ask("Add.", &fields);
        let response = socket.object();
        let kinds: Vec<&Value> = response["output"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
        assert_eq!(kinds, ["message", "mcp_call", "message"], "{response}");
        let call = &response["output"][1];
        assert_eq!(
            (&call["server_label"], &call["arguments"]),
            (&json!("counter"), &json!(format!("{{\"number\":{number}}}")))
        );
        assert_eq!(words(&response), "Adding.Added.");
        contexts.push(call["output"].as_str().unwrap().to_owned());
        fields["previous_response_id"] = response["id"].clone();
    }
    assert_eq!(contexts, ["The count is 2.", "The count is 5.", "The count is 9."]);
    let asked = script.asked();
    assert!(context(&asked[2]).ends_with("The count is 2."), "{}", asked[2]);
}

#[test]
fn two_continuations_of_one_response_have_separate_state() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let (script, server) = Script::start(add(1));
    let program = folder.serve(&server);
    let mut socket = Socket::open(&program.address);
    socket.ask("Add.", &json!({"model": "counter", "store": false}));
    let first = socket.object();
    for number in [10, 20] {
        script.then(add(number));
        socket.ask("Add.", &json!({"model": "counter", "store": false, "previous_response_id": first["id"]}));
        let output = socket.object()["output"][1]["output"].clone();
        assert_eq!(output, format!("The count is {}.", number + 1));
    }
}

#[test]
fn tool_effects_are_kept_after_a_disconnect() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let (left, leaving) = channel();
    let left = Mutex::new(left);
    let server = ModelServer::start(move |mut exchange| {
        if exchange.path == "/v1/models" {
            return exchange.json(200, r#"{"data":[{"id":"m","object":"model"}]}"#);
        }
        exchange.begin_stream();
        if exchange.body.contains("\"tool_calls\"") {
            exchange.text("Added.");
            return left.lock().unwrap().send(exchange.is_closed_by_client()).unwrap();
        }
        let call = json!({"index": 0, "function": {"name": "add", "arguments": "{\"number\":7}"}});
        exchange.event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string());
        exchange.finish("tool_calls");
    });
    let program = folder.serve(&server);
    let conversation = new_conversation(&program.address);
    let mut socket = Socket::open(&program.address);
    socket.ask("Add.", &json!({"model": "counter", "conversation": conversation}));
    socket.read_until("response.output_text.delta");
    drop(socket);
    assert!(leaving.recv().unwrap(), "the connection to the model server is closed");
    wait_for_turn(&program.address, "counter", &conversation);
    let state = ask(&program.address, "GET", &format!("/v1/conversations/{conversation}/state"), &[], "");
    assert_eq!(state.json()["state"], json!({"count": 7}), "{state:?}");
    let journal = ask(&program.address, "GET", &format!("/v1/conversations/{conversation}/journal"), &[], "");
    assert!(journal.body.contains("\"add\""), "{journal:?}");
}
