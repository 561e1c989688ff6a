//! A plain HTTP client that shows everything: status, headers, and the body as it comes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A whole reply.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn error(&self, key: &str) -> String {
        let value: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"));
        value["error"][key].as_str().unwrap_or_default().to_owned()
    }
}

/// A request on its way, whose reply can be read piece by piece.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn send(address: &str, method: &str, path: &str, headers: &[&str], body: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}").unwrap();
        Self { reader: BufReader::new(stream) }
    }

    /// Reads on until a line holds this text; the line comes back, or nothing if the reply ends before.
    pub(crate) fn read_until(&mut self, text: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if !matches!(self.reader.read_line(&mut line), Ok(1..)) {
                return None;
            }
            if line.contains(text) {
                return Some(line);
            }
        }
    }

    pub(crate) fn rest(mut self) -> Answer {
        let mut all = String::new();
        self.reader.read_to_string(&mut all).unwrap();
        let (headers, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
        let status = headers.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Answer { status, headers: headers.to_ascii_lowercase(), body: body.to_owned() }
    }
}

pub(crate) fn ask(address: &str, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
    Connection::send(address, method, path, headers, body).rest()
}

pub(crate) fn post(address: &str, body: &str) -> Answer {
    ask(address, "POST", "/v1/chat/completions", &[], body)
}
