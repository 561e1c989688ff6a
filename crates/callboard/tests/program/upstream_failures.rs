//! The table of docs/upstreams.md: every way in which a model server can fail, alone and beside one that works, with
//! replies that stream and replies that are whole.

use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use callboard_test_support::{Answer, Exchange, ModelServer, Program, post};
use serde_json::json;

/// What a client sees of a failing server.
#[derive(Debug, Clone, Copy)]
enum Sees {
    /// An error with this status and code.
    Error(u16, &'static str),
    /// Text, then an error event with this code.
    WordsThenError(&'static str),
    /// The reply of the other server.
    Another,
}

use Sees::{Another, Error, WordsThenError};

struct Fault {
    name: &'static str,
    does: fn(&mut Exchange, &Gate),
    /// As the only server: streamed, whole.
    alone: [Sees; 2],
    /// Beside another server: streamed, whole.
    beside: [Sees; 2],
    /// A header of the errors.
    header: &'static str,
}

/// Blocks a server until the test ends.
type Gate = Mutex<Receiver<()>>;

fn hang(gate: &Gate) {
    let _ = gate.lock().unwrap().recv();
}

fn die(exchange: &Exchange) {
    let _ = exchange.stream.shutdown(Shutdown::Both);
}

fn streams(exchange: &Exchange) -> bool {
    exchange.body.contains("\"stream\":true")
}

/// The head of a reply and its first text, streamed or whole as requested, without the end.
fn begin_words(exchange: &mut Exchange) {
    if streams(exchange) {
        exchange.begin_stream();
        exchange.text("One");
    } else {
        exchange
            .write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"choices\":[");
    }
}

/// A reply that ends with an error.
fn give_up(exchange: &mut Exchange) {
    if streams(exchange) {
        exchange.begin_stream();
        exchange.text("One");
        return exchange.finish("abort");
    }
    let message = r#"{"role":"assistant","content":"One"}"#;
    exchange.json(200, &format!(r#"{{"choices":[{{"index":0,"message":{message},"finish_reason":"abort"}}]}}"#));
}

/// An arbitrary body.
fn body(exchange: &mut Exchange, head: &str, text: &str) {
    exchange.write(&format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{text}", text.len()));
}

const BROKEN: Sees = Error(502, "upstream_error");
const LATE: Sees = Error(504, "upstream_timeout");

const FAULTS: &[Fault] = &[
    Fault {
        name: "hangs before the first byte",
        does: |_, gate| hang(gate),
        alone: [LATE, LATE],
        beside: [Another, Another],
        header: "retry-after: ",
    },
    Fault {
        name: "hangs behind the head",
        does: |exchange, gate| {
            exchange.begin_stream();
            hang(gate);
        },
        alone: [LATE, LATE],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "falls silent within a reply",
        does: |exchange, gate| {
            begin_words(exchange);
            hang(gate);
        },
        alone: [WordsThenError("upstream_timeout"), LATE],
        beside: [WordsThenError("upstream_timeout"), Another],
        header: "",
    },
    Fault {
        name: "closes without a reply",
        does: |exchange, _| die(exchange),
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "dies within the head",
        does: |exchange, _| {
            exchange.write("HTTP/1.1 200 OK\r\ncontent-");
            die(exchange);
        },
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "dies before the first word",
        does: |exchange, _| {
            exchange.begin_stream();
            exchange.event(r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#);
            die(exchange);
        },
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "dies behind the first word",
        does: |exchange, _| {
            begin_words(exchange);
            die(exchange);
        },
        alone: [WordsThenError("upstream_error"), BROKEN],
        beside: [WordsThenError("upstream_error"), Another],
        header: "",
    },
    Fault {
        name: "dies in a stream that ends with its connection",
        does: |exchange, _| {
            exchange.write("HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
            exchange.write("data: {\"choices\":[{\"delta\":{\"content\":\"One\"}}]}\n\n");
            die(exchange);
        },
        alone: [WordsThenError("upstream_error"), BROKEN],
        beside: [WordsThenError("upstream_error"), BROKEN],
        header: "",
    },
    Fault {
        name: "speaks no HTTP",
        does: |exchange, _| {
            exchange.write("220 mail.example ESMTP\r\n");
            die(exchange);
        },
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "sends a page",
        does: |exchange, _| body(exchange, "200 OK\r\ncontent-type: text/html", "<html>Sign in</html>"),
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "sends other JSON",
        does: |exchange, _| exchange.json(200, r#"{"status":"fine"}"#),
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "sends garbage as an event",
        does: |exchange, _| {
            exchange.begin_stream();
            exchange.event("<html>no</html>");
            exchange.finish("stop");
        },
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "sends nothing",
        does: |exchange, _| body(exchange, "200 OK\r\ncontent-type: application/json", ""),
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "sends a stream of nothing",
        does: |exchange, _| {
            exchange.begin_stream();
            exchange.write("0\r\n\r\n");
        },
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "sends only the end of a stream",
        does: |exchange, _| {
            exchange.begin_stream();
            exchange.event("[DONE]");
            exchange.write("0\r\n\r\n");
        },
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "has no content",
        does: |exchange, _| exchange.write("HTTP/1.1 204 No Content\r\n\r\n"),
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "compresses",
        does: |exchange, _| {
            body(exchange, "200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip", "\u{1f}");
        },
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "reports an error in a 200",
        does: |exchange, _| exchange.json(200, r#"{"error":{"message":"engine is dead","code":500}}"#),
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "gives up within a reply",
        does: |exchange, _| give_up(exchange),
        alone: [WordsThenError("upstream_error"), BROKEN],
        beside: [WordsThenError("upstream_error"), Another],
        header: "",
    },
    Fault {
        name: "is at its limit for long",
        does: |exchange, _| body(exchange, "429 Too Many Requests\r\nretry-after: 30", r#"{"error":"busy"}"#),
        alone: [Error(429, "upstream_error"); 2],
        beside: [Another, Another],
        header: "retry-after: 30",
    },
    Fault {
        name: "is at its limit until a day long past",
        does: |exchange, _| body(exchange, "429 -\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT", ""),
        alone: [Error(429, "upstream_error"); 2],
        beside: [Another, Another],
        header: "retry-after: 0",
    },
    Fault {
        name: "fails",
        does: |exchange, _| exchange.json(500, r#"{"error":{"message":"out of memory"}}"#),
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "has a proxy before it that fails",
        does: |exchange, _| body(exchange, "502 Bad Gateway\r\ncontent-type: text/html", "<html>nginx</html>"),
        alone: [BROKEN, BROKEN],
        beside: [Another, Another],
        header: "",
    },
    Fault {
        name: "is loading",
        does: |exchange, _| body(exchange, "503 Service Unavailable\r\nretry-after: 30", "loading"),
        alone: [Error(503, "upstream_error"); 2],
        beside: [Another, Another],
        header: "retry-after: 30",
    },
    Fault {
        name: "sends the client elsewhere",
        does: |exchange, _| body(exchange, "307 Temporary Redirect\r\nlocation: https://example.org/v1", ""),
        alone: [BROKEN, BROKEN],
        beside: [BROKEN, BROKEN],
        header: "",
    },
    Fault {
        name: "refuses the request",
        does: |exchange, _| exchange.json(400, r#"{"error":{"message":"no","code":"bad"}}"#),
        alone: [Error(400, "bad"); 2],
        beside: [Error(400, "bad"); 2],
        header: "",
    },
    Fault {
        name: "refuses the request and calls it a failure",
        does: |exchange, _| exchange.json(500, r#"{"detail":[{"loc":["body","n"],"msg":"Input should be 1"}]}"#),
        alone: [Error(400, "upstream_error"); 2],
        beside: [Error(400, "upstream_error"); 2],
        header: "",
    },
    Fault {
        name: "refuses the request within a 200",
        does: |exchange, _| exchange.json(200, r#"{"error":{"message":"the prompt is too long","code":400}}"#),
        alone: [Error(400, "upstream_error"); 2],
        beside: [Error(400, "upstream_error"); 2],
        header: "",
    },
];

const ENVIRONMENT: [(&str, &str); 3] = [
    ("CALLBOARD_LIMITS_RETRIES", "0"),
    ("CALLBOARD_TIMEOUTS_FIRST_BYTE_SECONDS", "4"),
    ("CALLBOARD_TIMEOUTS_IDLE_SECONDS", "4"),
];

fn request(stream: bool) -> String {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hi"}]}).to_string()
}

fn check(answer: &Answer, sees: Sees, fault: &Fault, stream: bool) {
    let about = format!("{}, {}: {answer:?}", fault.name, if stream { "streamed" } else { "whole" });
    match sees {
        Error(status, code) => {
            assert_eq!((answer.status, answer.error("code").as_str()), (status, code), "{about}");
            assert!(answer.headers.contains(fault.header), "{about}");
        }
        WordsThenError(code) => {
            assert!(answer.status == 200 && answer.body.contains("One") && answer.body.contains(code), "{about}");
            let whole = answer.body.contains("[DONE]") || answer.body.contains("\"finish_reason\":\"");
            assert!(!whole, "{about}");
        }
        Another => {
            assert!(answer.status == 200 && answer.body.contains("another"), "{about}");
            assert!(!stream || answer.body.contains("[DONE]"), "{about}");
        }
    }
}

fn play(fault: &'static Fault) {
    let (over, gate) = channel();
    let gate = Mutex::new(gate);
    let failing = ModelServer::start(move |mut exchange| (fault.does)(&mut exchange, &gate));
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let working = ModelServer::start(move |mut exchange| {
        counter.fetch_add(1, Ordering::SeqCst);
        exchange.answer("another");
    });
    let alone = Program::with_upstream(&failing.url, &ENVIRONMENT);
    let beside = Program::with_upstreams(&[&failing.url, &working.url], &ENVIRONMENT);
    for (place, stream) in [true, false].into_iter().enumerate() {
        check(&post(&alone.address, &request(stream)), fault.alone[place], fault, stream);
        let before = asked.load(Ordering::SeqCst);
        check(&post(&beside.address, &request(stream)), fault.beside[place], fault, stream);
        let used = asked.load(Ordering::SeqCst) - before;
        assert_eq!(used, usize::from(matches!(fault.beside[place], Another)), "{}", fault.name);
    }
    drop(over);
}

#[test]
fn every_upstream_failure_becomes_a_reply_or_an_error() {
    std::thread::scope(|scope| {
        for first in 0..4 {
            scope.spawn(move || FAULTS.iter().skip(first).step_by(4).for_each(play));
        }
    });
}
