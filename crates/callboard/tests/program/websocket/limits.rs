//! Clients that would fill the memory: pings without reading, messages without an end, connections without a use.

use std::io::Write as _;
use std::net::TcpStream;
use std::thread::yield_now;

use callboard_test_support::{Program, ask, greeting_server};
use serde_json::json;
use tungstenite::Message;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

use super::client::{Socket, words};

/// The frame of a client without its data, masked with zeros.
fn head(first_byte: u8, length: u64) -> Vec<u8> {
    let mut head = vec![first_byte, 0x80 | 127];
    head.extend(length.to_be_bytes());
    head.extend([0; 4]);
    head
}

/// The first frame of a text that goes on.
fn fragment(text: &str) -> Message {
    Message::Frame(Frame::message(text.to_owned(), OpCode::Data(Data::Text), false))
}

#[test]
fn pings_of_a_client_that_reads_nothing_are_not_taken_without_end() {
    const MOST: usize = 100 << 20;
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_TIMEOUTS_CLIENT_SECONDS", "1")]);
    let mut socket = Socket::open(&program.address);
    let ping: Vec<u8> = [&[0x89, 0x80 | 125, 0, 0, 0, 0][..], &[b'x'; 125]].concat();
    let pings = ping.repeat(1000);
    let mut sent = 0;
    // Without a limit, all of them are taken, and their pongs are kept.
    while sent < MOST && socket.stream().write_all(&pings).is_ok() {
        sent += pings.len();
    }
    assert!(sent < MOST, "{sent} bytes of pings were taken");
    assert_eq!(ask(&program.address, "GET", "/health", &[], "").status, 200);
}

#[test]
fn a_message_that_is_never_finished_closes_the_connection() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_TIMEOUTS_BODY_SECONDS", "0.3")]);
    let mut frames = Socket::open(&program.address);
    frames.send(fragment("{"));
    let mut frame = Socket::open(&program.address);
    frame.stream().write_all(&[head(0x81, 100), b"{".to_vec()].concat()).unwrap();
    for mut socket in [frames, frame] {
        let (code, reason) = socket.close_frame();
        assert_eq!(code, 1008);
        assert!(reason.contains("timeouts.body_seconds"), "{reason}");
    }
}

/// Pings may come between the frames of a message. They do not extend its time.
#[test]
fn pings_do_not_extend_the_time_of_a_message() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_TIMEOUTS_BODY_SECONDS", "0.3")]);
    let mut socket = Socket::open(&program.address);
    socket.send(fragment("{"));
    loop {
        match socket.try_ping() {
            Some(Message::Close(frame)) => break assert_eq!(frame.map(|frame| frame.code.into()), Some(1008)),
            Some(_) => {}
            None => panic!("no close"),
        }
    }
}

#[test]
fn an_idle_connection_is_closed_and_pings_alone_are_no_message() {
    let settings = [("CALLBOARD_TIMEOUTS_SOCKET_SECONDS", "0.5"), ("CALLBOARD_TIMEOUTS_BODY_SECONDS", "0.1")];
    let program = Program::with_upstream(&greeting_server().url, &settings);
    let mut socket = Socket::open(&program.address);
    socket.send(Message::Ping("here".into()));
    let (code, reason) = socket.close_frame();
    assert_eq!(code, 1000, "{reason}");
    assert!(reason.contains("timeouts.socket_seconds"), "{reason}");
}

#[test]
fn unfinished_messages_share_one_budget() {
    let settings = [("CALLBOARD_LIMITS_BODY_BYTES", "1 MiB"), ("CALLBOARD_LIMITS_MEMORY_BYTES", "3 MiB")];
    let program = Program::with_upstream(&greeting_server().url, &settings);
    let part = [head(0x01, 900 << 10), vec![b' '; 900 << 10]].concat();
    let mut sockets: Vec<Socket> = (0..3).map(|_| Socket::open(&program.address)).collect();
    for socket in &mut sockets {
        socket.stream().write_all(&part).unwrap();
        // A pong shows that the server has read it.
        socket.ping("read?");
    }
    let mut one_more = Socket::open(&program.address);
    let _ = one_more.stream().write_all(&part);
    let (code, reason) = one_more.close_frame();
    assert_eq!(code, 1013);
    assert!(reason.contains("limits.memory_bytes"), "{reason}");
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "x".repeat(500 << 10)}]}).to_string();
    let refused = ask(&program.address, "POST", "/v1/chat/completions", &[], &chat);
    assert_eq!((refused.status, refused.error("code").as_str()), (503, "overloaded"), "{refused:?}");
    assert!(refused.error("message").contains("limits.memory_bytes") && refused.header("retry-after") == Some("1"));
    drop(sockets);
    while ask(&program.address, "POST", "/v1/chat/completions", &[], &chat).status != 200 {
        yield_now();
    }
}

#[test]
fn only_so_many_connections_are_opened() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_LIMITS_SOCKETS", "2")]);
    let (first, mut second) = (Socket::open(&program.address), Socket::open(&program.address));
    let refused = Socket::open_with(&program.address, None).err().expect("two are open");
    assert_eq!((refused.status, &refused.body["error"]["code"]), (503, &json!("overloaded")));
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("limits.sockets"), "{refused:?}");
    second.ask("Hi", &json!({}));
    assert_eq!(words(&second.object()), "Hello.", "the open ones go on");
    drop(first);
    while Socket::open_with(&program.address, None).is_err() {
        yield_now();
    }
}

#[test]
fn a_close_is_answered_with_a_close() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Hi", &json!({}));
    socket.object();
    socket.send(Message::Close(None));
    assert!(socket.is_closed_properly());
    assert!(TcpStream::connect(&program.address).is_ok());
}
