//! Replies in every format that HTTP and server-sent events allow, and in some that they do not: all are accepted.

use callboard_test_support::{ModelServer, Program, post};
use serde_json::json;

const HEAD: &str = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"fi"}}]}"#;
const TAIL: &str = r#"{"choices":[{"index":0,"delta":{"content":"ne"}}]}"#;
const FINISH: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const WHOLE: &str =
    r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}]}"#;

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// A stream with this before each event's data, and this after it.
fn stream(before: &str, behind: &str) -> String {
    [HEAD, TAIL, FINISH, "[DONE]"].map(|data| format!("{before}{data}{behind}")).concat()
}

fn lined(head: &str, text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{head}content-length: {}\r\n\r\n{text}", text.len())
}

fn typed(kind: &str, text: &str) -> String {
    lined(&format!("content-type: {kind}\r\n"), text)
}

/// Chunked, with this chunk size, extensions and a trailer.
fn chunked(kind: &str, text: &str, size: usize) -> String {
    let pieces = text.as_bytes().chunks(size).map(|piece| String::from_utf8_lossy(piece).into_owned());
    let pieces: String = pieces.map(|piece| format!("{:X};a=b\r\n{piece}\r\n", piece.len())).collect();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n{pieces}0\r\nx-sum: 1\r\n\r\n"
    )
}

fn replies() -> Vec<(&'static str, String)> {
    let plain = stream("data: ", "\n\n");
    let many_lines = stream("data: ", "\n\n").replace("\"choices\":", "\"choices\":\ndata: ");
    vec![
        ("a whole body until the connection closes", format!("HTTP/1.0 200 OK\r\ncontent-type: {JSON}\r\n\r\n{WHOLE}")),
        ("a stream until the connection closes", format!("HTTP/1.0 200 OK\r\ncontent-type: {EVENTS}\r\n\r\n{plain}")),
        ("the same by the newer protocol", format!("HTTP/1.1 200 OK\r\ncontent-type: {EVENTS}\r\n\r\n{plain}")),
        ("a stream with a length", typed(EVENTS, &plain)),
        ("a stream in single bytes", chunked(EVENTS, &plain, 1)),
        ("a body in small chunks", chunked(JSON, WHOLE, 3)),
        ("lines that end in CRLF", typed(EVENTS, &stream("data: ", "\r\n\r\n"))),
        ("lines that end in CR", typed(EVENTS, &stream("data: ", "\r\r"))),
        ("no space behind the colon", typed(EVENTS, &stream("data:", "\n\n"))),
        (
            "comments, names, ids and times",
            typed(EVENTS, &stream(": ping\n\nevent: message\nid: 7\nretry: 10\ndata: ", "\n\n")),
        ),
        ("one event on several lines", typed(EVENTS, &many_lines)),
        ("a mark of the byte order", typed(EVENTS, &format!("\u{feff}{plain}"))),
        ("a mark of the byte order before a body", typed(JSON, &format!("\u{feff}{WHOLE}"))),
        ("blank lines first", typed(EVENTS, &format!("\n\n{plain}"))),
        ("no end of the last event", typed(EVENTS, plain.trim_end())),
        ("no end of the stream", typed(EVENTS, plain.trim_end().trim_end_matches("data: [DONE]"))),
        (
            "no finish in a stream that ends as it should",
            chunked(EVENTS, &stream("data: ", "\n\n").replace(FINISH, "{}"), 50),
        ),
        ("a stream that is called JSON", typed(JSON, &plain)),
        ("a stream that is called text", typed("text/plain; charset=utf-8", &plain)),
        ("a stream without a type", lined("", &plain)),
        ("a stream that begins with a comment and is called JSON", typed(JSON, &format!(": hello\n\n{plain}"))),
        ("a body that is called a stream", typed(EVENTS, WHOLE)),
        ("a body that is called a page", typed("text/html", &format!("\n {WHOLE}\n"))),
        ("a type in capitals", typed("Text/Event-Stream; charset=UTF-8", &plain)),
        ("a hint before the reply", format!("HTTP/1.1 103 Early Hints\r\n\r\n{}", typed(JSON, WHOLE))),
        ("another kind of success", typed(JSON, WHOLE).replace("200 OK", "201 Created")),
        ("pings in the stream", typed(EVENTS, &stream("data: {\"type\":\"ping\"}\n\ndata: ", "\n\n"))),
        (
            "an error field that says nothing",
            typed(EVENTS, &plain.replace("{\"choices\"", "{\"error\":null,\"choices\"")),
        ),
        (
            "choices that are null",
            typed(EVENTS, &format!("data: {{\"choices\":null}}\n\ndata: {{\"choices\":[]}}\n\n{plain}")),
        ),
        ("more behind the end", typed(EVENTS, &format!("{plain}data: {{\"error\":\"late\"}}\n\ndata: <html>\n\n"))),
    ]
}

#[test]
fn every_reply_format_is_accepted() {
    for (name, reply) in replies() {
        let server = ModelServer::start(move |mut exchange| {
            exchange.write(&reply);
            let _ = exchange.stream.shutdown(std::net::Shutdown::Both);
        });
        let program = Program::with_upstream(&server.url, &[("CALLBOARD_LIMITS_RETRIES", "0")]);
        for stream in [true, false] {
            let body = json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hi"}]});
            let answer = post(&program.address, &body.to_string());
            let text: String = match stream {
                true => answer.body.split("\"content\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect(),
                false => answer.body.clone(),
            };
            let whole = if stream { "[DONE]" } else { "\"finish_reason\":\"stop\"" };
            assert!(answer.status == 200 && text.contains("fine") && answer.body.contains(whole), "{name}: {answer:?}");
        }
    }
}

#[test]
fn no_compression_is_requested() {
    let server = ModelServer::start(|mut exchange| {
        let asked = exchange.headers.contains("accept-encoding: identity\r\n");
        exchange.answer(if asked { "as it is" } else { "compressed" });
    });
    let program = Program::with_upstream(&server.url, &[]);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).to_string();
    assert!(post(&program.address, &body).body.contains("as it is"));
}

#[test]
fn a_reply_over_the_limit_fails_with_the_name_of_the_limit() {
    let long = "x".repeat(5000);
    // Whether text is sent before the limit is reached.
    let replies = [
        (typed(EVENTS, &format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{long}\"}}}}]}}\n\n")), false),
        (typed(EVENTS, &format!("data: {long}")), false),
        (typed(EVENTS, &"data: {\n".repeat(1000)), false),
        (typed(JSON, &WHOLE.replace("fine", &long)), false),
        (typed(EVENTS, &format!("data: {HEAD}\n\n").repeat(2001)), true),
        // What carries no content: comments, blank lines, unknown fields, empty deltas.
        (typed(EVENTS, &": ping\n\n".repeat(600)), false),
        (typed(EVENTS, &"\n".repeat(5000)), false),
        (typed(JSON, &"\n".repeat(5000)), false),
        (typed(EVENTS, &"id: 1\n".repeat(1000)), false),
        (typed(EVENTS, &"data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n".repeat(150)), false),
        (typed(EVENTS, &format!("data: {HEAD}\n\n{}", ": ping\n\n".repeat(600))), true),
    ];
    for (reply, begins) in replies {
        let start: String = reply.chars().take(90).collect();
        let server = ModelServer::start(move |mut exchange| exchange.write(&reply));
        let program = Program::with_upstream(&server.url, &[("CALLBOARD_LIMITS_REPLY_BYTES", "4000")]);
        for stream in [true, false] {
            let body = json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hi"}]});
            let answer = post(&program.address, &body.to_string());
            assert!(answer.body.contains("limits.reply_bytes"), "{start}");
            assert_eq!(answer.status, if begins && stream { 200 } else { 502 }, "{start}");
            assert!(!answer.body.contains("[DONE]"), "{start}");
        }
    }
}
