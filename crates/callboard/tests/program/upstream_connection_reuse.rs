//! Pooled connections to model servers, and servers that close them at the worst moment.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callboard_test_support::{Program, ask, post};
use serde_json::json;

const ANSWER: &str = r#"{"data":[{"id":"m","object":"model"}],"choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}]}"#;

/// One connection, seen from the server.
struct Line(TcpStream);

impl Line {
    /// Reads exactly one head; none when the client has disconnected.
    fn read_head(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if !matches!(self.0.read(&mut byte), Ok(1)) {
                return None;
            }
            head.push(byte[0]);
        }
        Some(String::from_utf8(head).unwrap().to_ascii_lowercase())
    }

    /// Reads a request and returns its head.
    fn read_request(&mut self) -> Option<String> {
        let head = self.read_head()?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        self.0.read_exact(&mut vec![0; length.unwrap_or(0)]).ok()?;
        Some(head)
    }

    fn answer(&mut self) {
        self.write(&format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{ANSWER}",
            ANSWER.len()
        ));
    }

    fn write(&mut self, text: &str) {
        let _ = self.0.write_all(text.as_bytes());
    }

    /// Closes the connection after flushing all that was written.
    fn close(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// A server that passes each connection to a function. Dropping a connection with unread bytes resets it.
fn server(serve: impl Fn(Line) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(Line(stream)));
        }
    });
    url
}

type Behaviour = (&'static str, fn(&mut Line));

/// What a server does on a connection after its first reply.
const BEHAVIOURS: &[Behaviour] = &[
    ("closes at once", |line| line.close()),
    ("resets when the next request arrives", |line| drop(line.0.read(&mut [0]))),
    ("resets behind the head of the next request", |line| drop(line.read_head())),
    ("closes behind the next request", |line| {
        line.read_request();
        line.close();
    }),
    ("sends the head of the next reply and closes", |line| {
        line.read_request();
        line.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
        line.close();
    }),
    ("sends the head of the next reply and closes; with a length", |line| {
        line.read_request();
        line.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n");
        line.close();
    }),
];

const ENVIRONMENT: [(&str, &str); 2] = [("CALLBOARD_LIMITS_RETRIES", "0"), ("CALLBOARD_THREADS", "1")];

fn request(stream: bool, words: &str) -> String {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": words}]}).to_string()
}

#[test]
fn a_broken_pooled_connection_is_replaced() {
    for (name, behave) in BEHAVIOURS {
        let url = server(|mut line| {
            if line.read_request().is_some() {
                line.answer();
                behave(&mut line);
            }
        });
        let program = Program::with_upstream(&url, &ENVIRONMENT);
        let long = "x".repeat(1 << 20);
        for number in 0..12 {
            let words = if number % 3 == 0 { &long } else { "Hi" };
            let answer = post(&program.address, &request(number % 2 == 0, words));
            assert_eq!(answer.status, 200, "{name}, {number}: {answer:?}");
            assert!(answer.body.contains("fine"), "{name}, {number}: {answer:?}");
        }
        // A head without a body is no reply to a request as short as this one.
        if !name.contains("head of the next reply") {
            for number in 0..6 {
                assert_eq!(ask(&program.address, "GET", "/ready", &[], "").status, 200, "{name}, {number}");
            }
        }
        assert!(ask(&program.address, "GET", "/v1/upstreams", &[], "").body.contains("\"set_aside\":false"), "{name}");
    }
}

#[test]
fn a_new_connection_that_is_closed_without_a_reply_is_replaced_once() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let url = server(move |mut line| {
        let is_question = line.read_request().is_some_and(|head| head.starts_with("post"));
        count.fetch_add(usize::from(is_question), Ordering::SeqCst);
        line.close();
    });
    let program = Program::with_upstream(&url, &ENVIRONMENT);
    for number in 1..4 {
        assert_eq!(post(&program.address, &request(false, "Hi")).status, 502);
        assert_eq!(
            asked.load(Ordering::SeqCst),
            2 * number,
            "a request that may have killed its server is repeated once"
        );
    }
}

#[test]
fn one_closed_connection_is_not_noticed_by_the_client() {
    for close in [|line: &mut Line| line.close(), |line: &mut Line| drop(line.0.read(&mut [0]))] {
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let url = server(move |mut line| {
            if count.fetch_add(1, Ordering::SeqCst) == 0 {
                return close(&mut line);
            }
            while line.read_request().is_some() {
                line.answer();
            }
        });
        let program = Program::with_upstream(&url, &ENVIRONMENT);
        let answer = post(&program.address, &request(true, "Hi"));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(connections.load(Ordering::SeqCst) > 1);
    }
}

#[test]
fn a_request_is_not_retried_after_the_first_text() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let url = server(move |mut line| {
        while let Some(head) = line.read_request() {
            if head.starts_with("get") || count.fetch_add(1, Ordering::SeqCst) == 0 {
                line.answer();
                continue;
            }
            line.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
            let event = "data: {\"choices\":[{\"delta\":{\"content\":\"One\"}}]}\n\n";
            line.write(&format!("{:x}\r\n{event}\r\n", event.len()));
            return line.close();
        }
    });
    let program = Program::with_upstream(&url, &ENVIRONMENT);
    assert_eq!(post(&program.address, &request(true, "Hi")).status, 200);
    let answer = post(&program.address, &request(true, "Hi"));
    assert!(answer.body.contains("One") && answer.body.contains("upstream_error"), "{answer:?}");
    assert!(!answer.body.contains("[DONE]"), "{answer:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}
