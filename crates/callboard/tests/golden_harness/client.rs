//! The client: one request, one response, and word to the model server once text has arrived.

use std::io::{BufReader, Write};
use std::net::TcpStream;

use super::http::{Message, read_message};

/// Posts a request; `on_text` is called when the body holds some text.
pub(super) fn post(address: &str, path: &str, body: &str, on_text: impl Fn()) -> Message {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n");
    exchange(address, &head, body, on_text)
}

/// Fetches a page.
pub(super) fn get(address: &str, path: &str) -> Message {
    exchange(address, &format!("GET {path} HTTP/1.1\r\n"), "", || {})
}

fn exchange(address: &str, head: &str, body: &str, on_text: impl Fn()) -> Message {
    let mut stream = TcpStream::connect(address).expect("a connection to Callboard");
    stream
        .write_all(format!("{head}host: {address}\r\nconnection: close\r\n\r\n{body}").as_bytes())
        .expect("the request goes out");
    let read = read_message(&mut BufReader::new(stream), |so_far| {
        if holds_text(so_far) {
            on_text();
        }
    });
    read.expect("a whole response").expect("a response")
}

/// Whether a stream holds a piece of text that is not empty, in the words of either wire.
fn holds_text(body: &[u8]) -> bool {
    [b"\"content\":\"".as_slice(), b"\"delta\":\"".as_slice()]
        .iter()
        .any(|key| body.windows(key.len() + 1).any(|window| window.starts_with(key) && !window.ends_with(b"\"")))
}
