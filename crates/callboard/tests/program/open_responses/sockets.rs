//! The WebSocket: one turn after the other, the connection's memory, eviction, and the life of a connection.

use std::sync::{Arc, Barrier};

use callboard_test_support::{ModelServer, Program, Script, ask, greeting_server, text};
use serde_json::{Value, json};

use super::requests::{JSON, create};
use super::schema::{check_envelope, check_event};
use crate::websocket::client::Socket;

fn code(event: &Value) -> (&str, &Value, &Value) {
    (event["type"].as_str().unwrap_or_default(), &event["status"], &event["error"]["code"])
}

fn not_found() -> (&'static str, Value, Value) {
    ("error", json!(400), json!("previous_response_not_found"))
}

fn assert_not_found(event: &Value) {
    let (kind, status, code_word) = not_found();
    assert_eq!(code(event), (kind, &status, &code_word), "{event}");
}

fn unstored(socket: &mut Socket, previous: &Value, input: &Value) {
    socket.ask("", &json!({"store": false, "previous_response_id": previous, "input": input}));
}

fn first_id(socket: &mut Socket) -> Value {
    unstored(socket, &Value::Null, &json!("Hi"));
    socket.object()["id"].clone()
}

#[test]
fn turns_are_made_one_after_the_other_and_continue_from_memory() {
    let (script, server) = Script::start([text("One."), text("Two."), text("Three.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    let first = first_id(&mut socket);
    unstored(&mut socket, &first, &json!("second"));
    socket.ask("third", &json!({"store": false}));
    for _ in 0..2 {
        let events = socket.response();
        let numbers: Vec<&Value> = events.iter().map(|event| &event["sequence_number"]).collect();
        assert_eq!(
            numbers,
            (0..events.len()).map(|number| json!(number)).collect::<Vec<_>>().iter().collect::<Vec<_>>()
        );
        assert_eq!(events[0]["type"], "response.created", "nothing is mixed, and no [DONE] is among the messages");
    }
    assert_eq!(script.asked()[1]["messages"].as_array().unwrap().len(), 3);
    let mut other = Socket::open(&program.address);
    unstored(&mut other, &first, &json!("Hi"));
    assert_not_found(&other.next());
    unstored(&mut other, &Value::Null, &json!("Hi"));
}

#[test]
fn a_continuation_that_fails_evicts_what_it_continued() {
    let fails = ModelServer::start(|mut exchange| {
        let asked = exchange.request().to_string();
        if asked.contains("midway") {
            exchange.begin_stream();
            exchange.text("Once ");
            exchange.event(&json!({"error": {"message": "out of memory"}}).to_string());
        } else if asked.contains("at once") {
            exchange.json(400, "{\"error\": {\"message\": \"no\"}}");
        } else {
            exchange.answer("Hello.");
        }
    });
    let program = Program::with_upstream(&fails.url, &[("CALLBOARD_LIMITS_RETRIES", "0")]);
    let orphan = json!([{"type": "function_call_output", "call_id": "call_none", "output": "7"}]);
    for input in [json!(5), orphan, json!("fail at once"), json!("fail midway")] {
        let mut socket = Socket::open(&program.address);
        let first = first_id(&mut socket);
        unstored(&mut socket, &first, &input);
        loop {
            let event = socket.next();
            if matches!(event["type"].as_str(), Some("error" | "response.failed")) {
                break;
            }
        }
        unstored(&mut socket, &first, &json!("Go on."));
        assert_not_found(&socket.next());
        first_id(&mut socket);
    }
}

#[test]
fn an_evicted_response_that_is_stored_is_loaded_again() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Hi", &json!({"store": true}));
    let first = socket.object()["id"].clone();
    unstored(&mut socket, &first, &json!(5));
    assert_eq!(socket.next()["type"], "error");
    socket.ask("Go on.", &json!({"previous_response_id": first}));
    socket.object();
}

/// What is not to be stored continues from the connection's memory only, also where the store has the response.
#[test]
fn an_unstored_turn_continues_from_the_memory_of_its_connection_only() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Hi", &json!({"store": true}));
    let first = socket.object()["id"].clone();
    unstored(&mut socket, &first, &json!("Go on."));
    socket.object();
    let mut other = Socket::open(&program.address);
    unstored(&mut other, &first, &json!("Go on."));
    let event = other.next();
    assert_not_found(&event);
    assert!(event["error"]["message"].as_str().unwrap().contains("\"store\": true"), "{event}");
    // Stored, or over HTTP, which has no memory, it goes on.
    other.ask("Go on.", &json!({"store": true, "previous_response_id": first}));
    other.object();
    let over_http = json!({"store": false, "previous_response_id": first});
    assert_eq!(create(&program, &over_http).status, 200);
}

#[test]
fn connections_are_answered_at_the_same_time() {
    let both = Arc::new(Barrier::new(2));
    let server = ModelServer::start(move |mut exchange| {
        both.wait();
        exchange.answer("Hello.");
    });
    let program = Program::with_upstream(&server.url, &[]);
    let mut sockets = [Socket::open(&program.address), Socket::open(&program.address)];
    sockets.iter_mut().for_each(|socket| socket.ask("Hi", &json!({})));
    sockets.iter_mut().for_each(|socket| assert_eq!(socket.object()["status"], "completed"));
}

/// The page names this place: the specification would have an envelope.
#[test]
fn a_failure_after_the_beginning_is_the_failed_response_alone() {
    let server = ModelServer::start(|mut exchange| {
        exchange.begin_stream();
        exchange.text("Once ");
        exchange.event(&json!({"error": {"message": "out of memory"}}).to_string());
    });
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Hi", &json!({}));
    let events = socket.response();
    events.iter().for_each(check_event);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.failed");
    assert!(
        last["response"]["error"]["code"].is_string() && last["response"]["error"]["message"].is_string(),
        "{last}"
    );
    assert!(events.iter().all(|event| event["type"] != "error"), "{events:?}");
    socket.ping("no other event follows");
}

#[test]
fn a_message_that_is_no_request_gets_an_envelope_and_the_connection_stays() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let mut socket = Socket::open(&program.address);
    for message in ["{\"type\": \"response.cancel\"}", "[]", "not JSON"] {
        socket.send(tungstenite::Message::text(message));
        let event = socket.next();
        assert_eq!((&event["type"], &event["status"]), (&json!("error"), &json!(400)), "{event}");
        check_envelope(&event);
    }
    socket.ask("Hi", &json!({"background": true}));
    check_envelope(&socket.next());
    socket.ask("Hi", &json!({"stream": true, "stream_options": {}}));
    socket.object();
}

#[test]
fn compacted_items_begin_a_new_chain() {
    let (_, server) = Script::start([text("Summary."), text("Fine.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let body =
        json!({"model": "m", "input": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]});
    let output =
        ask(&program.address, "POST", "/v1/responses/compact", &JSON, &body.to_string()).ok()["output"].clone();
    let mut input = output.as_array().unwrap().clone();
    input.push(json!({"role": "user", "content": "c"}));
    let mut socket = Socket::open(&program.address);
    socket.ask("", &json!({"input": input, "previous_response_id": null, "tools": [], "store": false}));
    assert_eq!(socket.object()["status"], "completed");
}

#[test]
fn a_connection_ends_with_an_error_when_its_life_is_over() {
    let settings = [("CALLBOARD_TIMEOUTS_SOCKET_LIFE_SECONDS", "0.5")];
    let program = Program::with_upstream(&greeting_server().url, &settings);
    let mut socket = Socket::open(&program.address);
    let event = socket.next();
    assert_eq!(code(&event), ("error", &json!(400), &json!("websocket_connection_limit_reached")), "{event}");
    let (closed, reason) = socket.close_frame();
    assert_eq!(closed, 1000);
    assert!(reason.contains("timeouts.socket_life_seconds"), "{reason}");
}
