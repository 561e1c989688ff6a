//! A model server that is silent for a long time, such as during prefill of a long history: the client gets keep-alives, the
//! request is not retried, and later failures are sent in the stream.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use callboard_test_support::{Connection, Exchange, ModelServer, Program, ask};
use serde_json::{Value, json};

const OFTEN: [(&str, &str); 1] = [("CALLBOARD_TIMEOUTS_KEEP_ALIVE_SECONDS", "0.05")];
const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

/// A model server that sends nothing, not even a head, before it is released. It reports each request.
fn silent(answer: impl Fn(&mut Exchange) + Send + Sync + 'static) -> (ModelServer, Receiver<()>, Sender<()>) {
    let ((came, coming), (go, gate)) = (channel(), channel());
    let state = Mutex::new((came, gate));
    let server = ModelServer::start(move |mut exchange| {
        let state = state.lock().unwrap();
        state.0.send(()).unwrap();
        state.1.recv().unwrap();
        answer(&mut exchange);
    });
    (server, coming, go)
}

fn request(path: &str, stream: bool) -> String {
    let said = json!({"role": "user", "content": "Count."});
    let key = if path == CHAT { "messages" } else { "input" };
    json!({"model": "m", "stream": stream, key: [said]}).to_string()
}

#[test]
fn keep_alives_are_sent_before_the_reply_begins() {
    let (server, coming, go) = silent(|exchange| exchange.answer("One."));
    let program = Program::with_upstream(&server.url, &OFTEN);
    for (path, first, last) in
        [(CHAT, ": keep-alive", "data: [DONE]"), (RESPONSES, "event: response.created", "event: response.completed")]
    {
        let mut client = Connection::send(&program.address, "POST", path, &[], &request(path, true));
        for line in ["200 OK", first, ": keep-alive", ": keep-alive"] {
            assert!(client.read_until(line).is_some(), "{path}: {line}");
        }
        go.send(()).unwrap();
        assert!(client.read_until("One.").is_some() && client.read_until(last).is_some(), "{path}");
        assert_eq!((coming.try_recv().is_ok(), coming.try_recv().is_ok()), (true, false), "{path}: asked once");
    }
}

#[test]
fn failures_after_a_keep_alive_are_sent_in_the_stream() {
    let (server, _coming, go) = silent(|exchange| exchange.json(400, r#"{"error":{"message":"too long a history"}}"#));
    let program = Program::with_upstream(&server.url, &OFTEN);
    let mut client = Connection::send(&program.address, "POST", CHAT, &[], &request(CHAT, true));
    client.read_until(": keep-alive").unwrap();
    go.send(()).unwrap();
    let error: Value = serde_json::from_str(client.read_until("data: ").unwrap().trim_start_matches("data: ")).unwrap();
    assert!(error["error"]["message"].as_str().unwrap().contains("too long a history"), "{error}");
    assert_eq!(client.read_until("data: "), None, "nothing follows, and no [DONE]");

    let mut client = Connection::send(&program.address, "POST", RESPONSES, &[], &request(RESPONSES, true));
    client.read_until(": keep-alive").unwrap();
    go.send(()).unwrap();
    for line in ["event: error", "event: response.failed"] {
        assert!(client.read_until(line).is_some(), "{line}");
    }
}

/// Nothing is sent of a whole reply before it is complete, so it keeps its status.
#[test]
fn a_whole_reply_keeps_its_status() {
    let (server, _coming, go) = silent(|exchange| exchange.json(400, r#"{"error":{"message":"too long a history"}}"#));
    let program = Program::with_upstream(&server.url, &OFTEN);
    for path in [CHAT, RESPONSES] {
        go.send(()).unwrap();
        assert_eq!(ask(&program.address, "POST", path, &[], &request(path, false)).status, 400, "{path}");
    }
}
