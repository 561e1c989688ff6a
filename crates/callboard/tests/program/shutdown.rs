//! Shutdown after the drain timeout: unfinished requests end with an error.

use std::sync::mpsc::channel;

use callboard_test_support::{Connection, ModelServer, Program, ask};
use serde_json::{Value, json};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
/// Long enough for all requests of a test to arrive, short enough to wait for.
const SOON: [(&str, &str); 1] = [("CALLBOARD_TIMEOUTS_DRAIN_SECONDS", "0.2")];

fn request(path: &str, stream: bool) -> String {
    let said = json!({"role": "user", "content": "Count."});
    let key = if path == CHAT { "messages" } else { "input" };
    json!({"model": "m", "stream": stream, key: [said]}).to_string()
}

/// A model server whose replies never end.
fn endless() -> ModelServer {
    ModelServer::start(|mut exchange| {
        if exchange.body.contains("\"stream\":true") {
            exchange.begin_stream();
            exchange.text("One");
        }
        while !exchange.is_closed_by_client() {}
    })
}

fn data(line: &str) -> Value {
    serde_json::from_str(line.trim_start_matches("data: ")).unwrap()
}

#[test]
fn a_stream_ends_with_an_error() {
    let server = endless();
    let program = Program::with_upstream(&server.url, &SOON);
    let send = |path: &str| {
        let mut client = Connection::send(&program.address, "POST", path, &[], &request(path, true));
        client.read_until("One").unwrap();
        client
    };
    let (mut chat, mut response) = (send(CHAT), send(RESPONSES));
    program.terminate();

    let error = data(&chat.read_until("data: ").unwrap());
    assert_eq!(error["error"]["code"], "server_stopping", "{error}");
    assert_eq!(chat.read_until("data: "), None);
    response.read_until("event: error").unwrap();
    assert_eq!(data(&response.read_until("data: ").unwrap())["code"], "server_stopping");
    response.read_until("event: response.failed").unwrap();
    let failed = data(&response.read_until("data: ").unwrap());
    assert!(failed["response"]["error"]["message"].as_str().unwrap().contains("server_stopping"), "{failed}");
    assert_eq!(program.exit_code(), Some(0));
}

#[test]
fn a_whole_reply_is_refused_with_a_status() {
    let (came, coming) = channel();
    let came = std::sync::Mutex::new(came);
    let server = ModelServer::start(move |mut exchange| {
        came.lock().unwrap().send(()).unwrap();
        while !exchange.is_closed_by_client() {}
    });
    let program = Program::with_upstream(&server.url, &SOON);
    let address = program.address.clone();
    let asking = std::thread::spawn(move || ask(&address, "POST", CHAT, &[], &request(CHAT, false)));
    coming.recv().unwrap();
    program.terminate();
    let refused = asking.join().unwrap();
    assert_eq!((refused.status, refused.error("code")), (503, "server_stopping".to_owned()), "{refused:?}");
    assert!(refused.headers.contains("retry-after: 1"), "{refused:?}");
    assert_eq!(program.exit_code(), Some(0));
}
