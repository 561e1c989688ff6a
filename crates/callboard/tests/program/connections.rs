//! Connections of clients: those that close their side, those that send nothing, and more of them than there are file handles.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use callboard_test_support::{ModelServer, Program, ask, greeting_server};

/// Until a test gives up on a program that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);

fn body(stream: bool) -> String {
    format!(r#"{{"model":"m","stream":{stream},"messages":[{{"role":"user","content":"Hi"}}]}}"#)
}

fn send(address: &str, version: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head =
        format!("POST /v1/chat/completions HTTP/{version}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    stream
}

/// A model server that signals each request, and replies when the test releases it.
fn slow_server() -> (ModelServer, std::sync::mpsc::Receiver<()>, std::sync::mpsc::Sender<()>) {
    let ((asks, asked), (go, gate)) = (channel(), channel::<()>());
    let (asks, gate) = (Mutex::new(asks), Mutex::new(gate));
    let server = ModelServer::start(move |mut exchange| {
        asks.lock().unwrap().send(()).unwrap();
        gate.lock().unwrap().recv().unwrap();
        exchange.answer("Hello.");
    });
    (server, asked, go)
}

/// A client may close its side when it has sent its request, as `nc -N` does.
#[test]
fn a_client_that_closes_its_side_gets_its_reply() {
    let (server, asked, go) = slow_server();
    let program = Program::with_upstream(&server.url, &[]);
    for stream in [false, true] {
        let mut client = send(&program.address, "1.1", &body(stream));
        asked.recv().unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        // The program has noticed the end when its interim response comes.
        let mut reader = BufReader::new(client.try_clone().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 102 Processing\r\n");
        go.send(()).unwrap();
        let mut reply = String::new();
        reader.read_to_string(&mut reply).unwrap();
        assert!(reply.contains("HTTP/1.1 200 OK") && reply.contains("Hello."), "{reply}");
        client.flush().unwrap();
    }
}

#[test]
fn a_client_that_closes_its_side_before_the_program_looks_gets_its_reply() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    for stream in [false, true] {
        let mut client = send(&program.address, "1.1", &body(stream));
        client.shutdown(Shutdown::Write).unwrap();
        let mut reply = String::new();
        client.read_to_string(&mut reply).unwrap();
        assert!(reply.contains("HTTP/1.1 200 OK") && reply.contains("Hello."), "{reply}");
    }
}

/// A client that has read everything closes with the same packet as one that closes its side only.
#[test]
fn a_client_that_closes_the_connection_cancels_its_request() {
    let (left, leaving) = channel();
    let (asks, asked) = channel();
    let (left, asks) = (Mutex::new(left), Mutex::new(asks));
    let server = ModelServer::start(move |mut exchange| {
        if exchange.body.contains("\"stream\":true") {
            exchange.begin_stream();
            exchange.text("One");
        }
        asks.lock().unwrap().send(()).unwrap();
        left.lock().unwrap().send(exchange.is_closed_by_client()).unwrap();
    });
    let program = Program::with_upstream(&server.url, &[]);
    for (version, stream) in [("1.1", false), ("1.1", true), ("1.0", false), ("1.0", true)] {
        let client = send(&program.address, version, &body(stream));
        asked.recv().unwrap();
        if stream {
            let mut reader = BufReader::new(client.try_clone().unwrap());
            let mut line = String::new();
            while !line.contains("One") {
                assert!(reader.read_line(&mut line).unwrap() > 0, "{line}");
            }
        }
        drop(client);
        assert!(leaving.recv_timeout(PATIENCE).unwrap(), "HTTP/{version}, stream {stream}: the model goes on");
    }
}

#[test]
fn a_connection_that_sends_nothing_or_half_a_head_is_closed() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_TIMEOUTS_HEAD_SECONDS", "0.3")]);
    for start in ["", "GET /health HTTP/1.1\r\nhost: localh", "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
        let mut client = TcpStream::connect(&program.address).unwrap();
        // Hyper's own timeout is 30 s.
        client.set_read_timeout(Some(Duration::from_secs(28))).unwrap();
        client.write_all(start.as_bytes()).unwrap();
        client.read_to_end(&mut Vec::new()).expect("the end of the connection");
    }
}

/// The longest idle connection makes room for the next one.
#[test]
fn idle_connections_do_not_keep_others_out() {
    let server = greeting_server();
    let settings = [("CALLBOARD_TIMEOUTS_HEAD_SECONDS", "3600"), ("CALLBOARD_THREADS", "1")];
    let program = Program::start_in_shell("ulimit -n 60", &["--upstream", &server.url], &settings);
    let idle: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&program.address).unwrap()).collect();
    for _ in 0..3 {
        let mut client = send(&program.address, "1.1", &body(false));
        let mut line = String::new();
        BufReader::new(&mut client).read_line(&mut line).expect("a reply");
        assert_eq!(line, "HTTP/1.1 200 OK\r\n");
    }
    drop(idle);
}

/// The hard limit is what the administrator allows.
#[test]
fn the_soft_limit_of_open_files_is_raised() {
    let program = Program::start_in_shell("ulimit -Sn 60", &["--upstream", &greeting_server().url], &[]);
    let idle: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&program.address).unwrap()).collect();
    for mut client in idle {
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let mut line = String::new();
        BufReader::new(&mut client).read_line(&mut line).expect("none was closed to make room");
        assert_eq!(line, "HTTP/1.1 200 OK\r\n");
    }
    assert_eq!(ask(&program.address, "GET", "/health", &[], "").status, 200);
}

/// Writing fails where a file may not grow, as on a full disk: the check notices before a turn does, and as long as it lasts.
#[test]
fn a_store_that_cannot_grow_is_not_ready() {
    let settings = [("CALLBOARD_STORE", "sqlite:full.db"), ("CALLBOARD_TRACE_RECORD_PERCENT", "0")];
    let program = Program::start_in_shell("ulimit -Sf 600", &["--upstream", &greeting_server().url], &settings);
    let ready = || ask(&program.address, "GET", "/ready?store=required", &[], "");
    assert_eq!(ready().status, 200);
    let long = serde_json::json!({"model": "m", "input": "x".repeat(20_000), "generate": false}).to_string();
    while ask(&program.address, "POST", "/v1/responses", &[], &long).status == 200 {}
    for _ in 0..5 {
        // Small changes may still fit.
        ask(&program.address, "POST", "/v1/conversations", &[], "{}");
        let refused = ready();
        assert_eq!((refused.status, refused.error("code").as_str()), (503, "store_unavailable"), "{refused:?}");
    }
}
