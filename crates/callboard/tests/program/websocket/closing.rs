//! The end of connections: client disconnects and program shutdown.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use callboard_test_support::{
    ModelServer, Program, ask, endless_stream, greeting_server, new_conversation, paused_stream,
};
use serde_json::{Value, json};

use super::client::{Socket, wait_for_turn, words};

fn get(program: &Program, path: &str) -> Value {
    ask(&program.address, "GET", path, &[], "").ok()
}

#[test]
fn a_disconnect_cancels_the_reply_and_stores_sent_text() {
    let (left, leaving) = channel();
    let left = Mutex::new(left);
    let server = ModelServer::start(move |mut exchange| {
        exchange.begin_stream();
        exchange.text("One");
        left.lock().unwrap().send(exchange.is_closed_by_client()).unwrap();
    });
    let program = Program::with_upstream(&server.url, &[]);
    let conversation = new_conversation(&program.address);
    let mut socket = Socket::open(&program.address);
    socket.ask("Count.", &json!({"conversation": conversation}));
    let created = socket.read_until("response.created");
    socket.read_until("response.output_text.delta");
    drop(socket);
    assert!(leaving.recv().unwrap(), "the connection to the model server is closed");
    wait_for_turn(&program.address, "m", &conversation);

    let items = get(&program, &format!("/v1/conversations/{conversation}/items?order=asc"));
    let kept: Vec<(&Value, String)> = items["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (&item["role"], item["content"][0]["text"].as_str().unwrap().to_owned()))
        .collect();
    let (user, assistant) = (&json!("user"), &json!("assistant"));
    let due = [(user, "Count."), (assistant, "One"), (user, "…")].map(|(role, words)| (role, words.to_owned()));
    assert_eq!(kept, due, "{items}");
    let response = get(&program, &format!("/v1/responses/{}", created["response"]["id"].as_str().unwrap()));
    assert_eq!((&response["status"], words(&response).as_str()), (&json!("cancelled"), "One"));
}

/// It keeps its connection open but stops reading.
#[test]
fn a_client_that_stops_reading_times_out() {
    let program = Program::with_upstream(&endless_stream().url, &[("CALLBOARD_TIMEOUTS_CLIENT_SECONDS", "1")]);
    let conversation = new_conversation(&program.address);
    let mut socket = Socket::open(&program.address);
    socket.ask("Talk.", &json!({"conversation": conversation}));
    let created = socket.read_until("response.created");
    wait_for_turn(&program.address, "m", &conversation);
    let response = get(&program, &format!("/v1/responses/{}", created["response"]["id"].as_str().unwrap()));
    assert_eq!(response["status"], json!("cancelled"));
    drop(socket);
}

#[test]
fn shutdown_finishes_requests_in_flight_and_closes_with_going_away() {
    let (go, gate) = channel();
    let server = paused_stream(
        |exchange| exchange.text("One"),
        |exchange| {
            exchange.text(" two");
            exchange.finish("stop");
        },
        gate,
    );
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Count.", &json!({}));
    socket.read_until("response.output_text.delta");
    program.terminate();
    program.wait_until_closed();
    go.send(()).unwrap();
    assert_eq!(words(&socket.object()), "One two");
    assert_eq!(socket.close_code(), Some(1001));
    assert_eq!(program.exit_code(), Some(0));
}

#[test]
fn the_drain_timeout_fails_a_running_response() {
    let (_go, gate) = channel();
    let server = paused_stream(|exchange| exchange.text("One"), |_| {}, gate);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_DRAIN_SECONDS", "0.2")]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Count.", &json!({}));
    socket.read_until("response.output_text.delta");
    program.terminate();
    let failed = socket.read_until("response.failed");
    assert!(failed["response"]["error"]["message"].as_str().unwrap().contains("server_stopping"), "{failed}");
    assert_eq!(socket.close_code(), Some(1001));
    assert_eq!(program.exit_code(), Some(0));
}

#[test]
fn an_idle_connection_does_not_delay_shutdown() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Hi", &json!({}));
    socket.object();
    program.terminate();
    assert_eq!(socket.close_code(), Some(1001));
    assert_eq!(program.exit_code(), Some(0));
}
