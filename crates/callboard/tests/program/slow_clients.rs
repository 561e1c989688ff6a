//! Stalled clients: one that sends no body, and one that reads no reply. Neither blocks other clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use callboard_test_support::{Connection, Program, ask, endless_stream, greeting_server, new_conversation, post};
use serde_json::{Value, json};

const BODY: &str = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/v1/conversations"];

/// A client that has sent a head, and whose server waits for the body.
fn announce(address: &str, path: &str, length: usize) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).unwrap();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    for due in ["HTTP/1.1 100 Continue\r\n", "\r\n"] {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, due);
    }
    reader
}

#[test]
fn a_body_that_stalls_times_out() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_TIMEOUTS_BODY_SECONDS", "2")]);
    for path in PATHS {
        let mut client = announce(&program.address, path, BODY.len());
        client.get_mut().write_all(b"{").unwrap();
        let mut answer = String::new();
        // Reads to EOF: the connection is closed, since the rest of the body may still arrive.
        client.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 408 "), "{path}: {answer}");
        let error = &serde_json::from_str::<Value>(body).unwrap()["error"];
        assert_eq!((&error["type"], &error["code"]), (&json!("invalid_request_error"), &json!("request_timeout")));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("timeouts.body_seconds") && message.contains("2 s"), "{message}");
    }
}

#[test]
fn a_body_that_stalls_takes_no_slot() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_LIMITS_IN_FLIGHT", "1")]);
    for path in ["/v1/chat/completions", "/v1/responses"] {
        let mut slow = announce(&program.address, path, BODY.len());
        assert_eq!(post(&program.address, BODY).status, 200, "{path}");
        slow.get_mut().write_all(&vec![b' '; BODY.len()]).unwrap();
        let mut line = String::new();
        slow.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 400 Bad Request\r\n", "{path}: it was waited for");
    }
}

/// It keeps its connection open but stops reading: other turns of its conversation can run.
#[test]
fn a_client_that_stops_reading_times_out() {
    let program = Program::with_upstream(&endless_stream().url, &[("CALLBOARD_TIMEOUTS_CLIENT_SECONDS", "1")]);
    let conversation = new_conversation(&program.address);
    let body = json!({"model": "m", "input": "Talk.", "conversation": conversation, "stream": true});
    let mut client = Connection::send(&program.address, "POST", "/v1/responses", &[], &body.to_string());
    let created = client.read_until("data: ").unwrap();
    let next = json!({"model": "m", "input": "…", "conversation": conversation, "generate": false});
    let next = ask(&program.address, "POST", "/v1/responses", &[], &next.to_string());
    assert_eq!(next.status, 200, "{next:?}");
    let created: Value = serde_json::from_str(created.trim_start_matches("data: ")).unwrap();
    let path = format!("/v1/responses/{}", created["response"]["id"].as_str().unwrap());
    let kept: Value = ask(&program.address, "GET", &path, &[], "").json();
    assert_eq!(kept["status"], json!("cancelled"));
    drop(client);
}
