//! Invalid messages: each gets an error with its status, and the connection stays open.

use std::sync::mpsc::channel;

use callboard_test_support::{ModelServer, Program, ask, greeting_server, paused_stream};
use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

use super::client::{Socket, words};

fn assert_refused(event: &Value, status: u16, param: &Value, code: &str) {
    assert_eq!((&event["type"], &event["status"]), (&json!("error"), &json!(status)), "{event}");
    let error = &event["error"];
    assert_eq!((&error["param"], &error["code"]), (param, &json!(code)), "{event}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{event}");
}

#[test]
fn a_bad_message_is_refused_and_the_next_is_answered() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let mut socket = Socket::open(&program.address);
    let create = |fields: Value| {
        let mut message = json!({"type": "response.create"});
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Message::text(message.to_string())
    };
    let table = [
        (Message::text("hello"), json!(null), "invalid_json"),
        (Message::text(""), json!(null), "invalid_json"),
        (Message::text("[]"), json!(null), "invalid_json"),
        (Message::text(r#"{"type":"response.create""#), json!(null), "invalid_json"),
        (
            Message::binary(br#"{"type":"response.create","model":"m","input":"Hi"}"#.as_slice()),
            json!(null),
            "invalid_json",
        ),
        (Message::text(r#"{"type":"response.create","input":"a","input":"b"}"#), json!("input"), "invalid_value"),
        (Message::text("{}"), json!("type"), "missing_required_field"),
        (Message::text(r#"{"type":"session.update"}"#), json!("type"), "unsupported_value"),
        (Message::text(r#"{"type":5}"#), json!("type"), "unsupported_value"),
        (create(json!({"input": "Hi"})), json!("model"), "missing_required_field"),
        (create(json!({"model": "m"})), json!("input"), "missing_required_field"),
        (create(json!({"model": "m", "input": "Hi", "tools": 5})), json!("tools"), "invalid_type"),
        (
            create(json!({"model": "m", "input": "Hi", "previous_response_id": "resp_none"})),
            json!("previous_response_id"),
            "previous_response_not_found",
        ),
    ];
    for (message, param, code) in table {
        socket.send(message);
        assert_refused(&socket.next(), 400, &param, code);
        socket.ask("Hi", &json!({}));
        assert_eq!(words(&socket.object()), "Hello.", "after {code}");
    }
    socket.ask("Hi", &json!({"conversation": "conv_none", "stream_id": "s"}));
    let refused = socket.next();
    assert_refused(&refused, 404, &json!("conversation"), "conversation_not_found");
    assert_eq!(refused["stream_id"], "s");
    socket.ask("Hi", &json!({"tools": 5, "stream_id": "s"}));
    assert_eq!(socket.next()["stream_id"], "s", "also where the request itself is wrong");
    socket.ask("Hi", &json!({}));
    assert_eq!(words(&socket.object()), "Hello.");
    // A pong shows that the server has finished the response, too.
    socket.ping("over?");
    let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
    for counted in ["status=\"200\"} 14", "status=\"400\"} 14", "status=\"404\"} 1"] {
        let line = format!("callboard_requests_total{{endpoint=\"responses\",{counted}");
        assert!(metrics.contains(&line), "{line} is not on /metrics:\n{metrics}");
    }
}

#[test]
fn requests_over_the_limit_are_refused() {
    let (go, gate) = channel();
    let server = paused_stream(|exchange| exchange.text("One"), |exchange| exchange.finish("stop"), gate);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_LIMITS_IN_FLIGHT", "1")]);
    let (mut first, mut second) = (Socket::open(&program.address), Socket::open(&program.address));
    first.ask("Hi", &json!({}));
    first.read_until("response.output_text.delta");
    second.ask("Hi", &json!({}));
    assert_refused(&second.next(), 503, &json!(null), "overloaded");
    go.send(()).unwrap();
    first.object();
    first.ping("over?");
    go.send(()).unwrap();
    second.ask("Hi", &json!({}));
    assert_eq!(words(&second.object()), "One", "an open connection holds no place");
}

#[test]
fn pings_are_sent_while_the_model_is_silent() {
    let (go, gate) = channel();
    let server = paused_stream(|_| {}, |exchange| exchange.finish("stop"), gate);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_KEEP_ALIVE_SECONDS", "0.05")]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Hi", &json!({}));
    socket.wait_for_ping();
    go.send(()).unwrap();
    socket.object();
}

#[test]
fn a_failing_model_server_is_reported_with_its_status() {
    let server = ModelServer::start(|mut exchange| exchange.json(500, r#"{"error":{"message":"no"}}"#));
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    for _ in 0..2 {
        socket.ask("Hi", &json!({"stream_id": "s"}));
        let event = socket.next();
        assert_refused(&event, 502, &json!(null), "upstream_error");
        assert_eq!(event["stream_id"], "s");
    }
}

#[test]
fn a_reply_that_breaks_off_fails_its_response_only() {
    let server = ModelServer::start(|mut exchange| {
        if exchange.body.contains("Hi") {
            return exchange.answer("Hello.");
        }
        exchange.begin_stream();
        exchange.text("One");
        exchange.event(r#"{"error":{"message":"engine died"}}"#);
    });
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Break.", &json!({}));
    let events = socket.response();
    let [.., failed] = events.as_slice() else { panic!("{events:?}") };
    // Exactly one terminal event and no separate error, which a client would read before the next response.
    assert!(events.iter().all(|event| event["type"] != "error"), "{events:?}");
    assert!(failed["response"]["error"]["message"].as_str().unwrap().contains("upstream_error"), "{failed}");
    assert_eq!((&failed["type"], words(&failed["response"]).as_str()), (&json!("response.failed"), "One"));
    socket.ask("Hi", &json!({}));
    assert_eq!(words(&socket.object()), "Hello.");
}

#[test]
fn a_message_over_the_limit_is_refused_by_name() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_LIMITS_BODY_BYTES", "1000")]);
    let mut socket = Socket::open(&program.address);
    socket.ask(&"x".repeat(1000), &json!({}));
    let refused = socket.next();
    assert_refused(&refused, 413, &json!(null), "request_too_large");
    assert!(refused["error"]["message"].as_str().unwrap().contains("limits.body_bytes of 1000"), "{refused}");
    socket.ask(&"x".repeat(900), &json!({}));
    assert_eq!(words(&socket.object()), "Hello.", "the limit is the message's, not the connection's");
    socket.ask(&"x".repeat(3000), &json!({}));
    assert_eq!(socket.close_code(), Some(1009), "a message that is far too large is not read to its end");
}

#[test]
fn binary_messages_close_the_connection() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.send(Message::Frame(Frame::message(vec![0xff, 0xfe], OpCode::Data(Data::Text), true)));
    assert_eq!(socket.close_code(), Some(1007));
}
