//! A plain HTTP client that shows everything: status, headers, and the body as it comes.

use std::io::{self, BufRead, BufReader, Read, Write};
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
        Self::try_send(address, method, path, headers, body).unwrap()
    }

    fn try_send(address: &str, method: &str, path: &str, headers: &[&str], body: &str) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes())?;
        Ok(Self { reader: BufReader::new(stream) })
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
        Answer::of(&all)
    }
}

impl Answer {
    fn of(all: &str) -> Self {
        let (headers, body) = all.split_once("\r\n\r\n").unwrap_or((all, ""));
        let status = headers.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Self { status, headers: headers.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// The body without the marks of its chunks; none where it broke off.
    fn whole(mut self) -> Option<Self> {
        if !self.headers.contains("transfer-encoding: chunked") {
            let length = self.headers.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            return (length == Some(self.body.len())).then_some(self);
        }
        let (mut body, mut rest) = (String::new(), self.body.as_str());
        loop {
            let (length, after) = rest.split_once("\r\n")?;
            match usize::from_str_radix(length, 16).ok()? {
                0 => break,
                length => {
                    body.push_str(after.get(..length)?);
                    rest = after.get(length + 2..)?;
                }
            }
        }
        self.body = body;
        Some(self)
    }
}

/// Asks a program that may die at any moment; none where no whole answer came.
pub(crate) fn ask_mortal(address: &str, method: &str, path: &str, headers: &[&str], body: &str) -> Option<Answer> {
    let mut connection = Connection::try_send(address, method, path, headers, body).ok()?;
    let mut all = String::new();
    connection.reader.read_to_string(&mut all).ok()?;
    Answer::of(&all).whole()
}

pub(crate) fn ask(address: &str, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
    Connection::send(address, method, path, headers, body).rest()
}

pub(crate) fn post(address: &str, body: &str) -> Answer {
    ask(address, "POST", "/v1/chat/completions", &[], body)
}
