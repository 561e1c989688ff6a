//! A plain HTTP/1.1 client that shows status, headers, and the body as it arrives.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A reply, possibly incomplete.
#[derive(Debug)]
pub struct Answer {
    /// The status code; 0 without one.
    pub status: u16,
    /// The head, with the names of headers in lower case.
    pub headers: String,
    /// The body without its transfer coding.
    pub body: String,
    is_complete: bool,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body of a reply with status 200 as JSON.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// A field of the error in the body; empty where it is missing or null.
    pub fn error(&self, key: &str) -> String {
        self.json()["error"][key].as_str().unwrap_or_default().to_owned()
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(bytes.len());
        let headers = head(&bytes[..end]);
        let sent = bytes.get(end + 4..).unwrap_or_default();
        let status = headers.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        let mut answer = Self { status, headers, body: String::new(), is_complete: false };
        let body = if answer.header("transfer-encoding") == Some("chunked") {
            let (body, is_complete) = without_chunks(sent);
            answer.is_complete = is_complete;
            body
        } else {
            let length = answer.header("content-length").and_then(|length| length.parse().ok());
            answer.is_complete = length == Some(sent.len());
            sent.to_vec()
        };
        // A broken connection may have cut a character.
        answer.body = match String::from_utf8(body) {
            Err(error) if !answer.is_complete => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            text => text.expect("a body of text"),
        };
        answer
    }
}

/// The head with the names of headers in lower case.
fn head(bytes: &[u8]) -> String {
    let lines = String::from_utf8_lossy(bytes);
    let lines = lines.lines().map(|line| match line.split_once(':') {
        Some((name, value)) => format!("{}:{value}\r\n", name.to_ascii_lowercase()),
        None => format!("{line}\r\n"),
    });
    lines.collect()
}

/// The content of the chunks, and whether the last one arrived.
fn without_chunks(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else { return (body, false) };
        let size = std::str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let (Some(size), chunk) = (size, &rest[end + 2..]) else { return (body, false) };
        body.extend_from_slice(&chunk[..size.min(chunk.len())]);
        match chunk.get(size + 2..) {
            Some(_) if size == 0 => return (body, true),
            Some(next) => rest = next,
            None => return (body, false),
        }
    }
}

/// A request in flight, whose reply can be read piece by piece.
pub struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    /// Sends a request.
    pub fn send(address: &str, method: &str, path: &str, headers: &[&str], body: &str) -> Self {
        Self::try_send(address, method, path, headers, body).expect("the request goes out")
    }

    fn try_send(address: &str, method: &str, path: &str, headers: &[&str], body: &str) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        let names_host = headers.iter().any(|header| header.starts_with("host:"));
        let host = if names_host { String::new() } else { format!("host: {address}\r\n") };
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{host}connection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes())?;
        Ok(Self { reader: BufReader::new(stream) })
    }

    /// Reads until a line contains this text and returns the line; none if the reply ends before.
    pub fn read_until(&mut self, text: &str) -> Option<String> {
        loop {
            let line = String::from_utf8(self.line().ok()??).ok()?;
            if line.contains(text) {
                return Some(line);
            }
        }
    }

    /// Reads the rest of the reply.
    pub fn rest(self) -> Answer {
        self.try_rest(|_| {}).expect("a reply that can be read to its end")
    }

    /// Reads the rest of the reply; `on_line` gets each line as it arrives.
    pub fn rest_by_line(self, on_line: impl Fn(&[u8])) -> Answer {
        self.try_rest(on_line).expect("a reply that can be read to its end")
    }

    fn try_rest(mut self, on_line: impl Fn(&[u8])) -> io::Result<Answer> {
        let mut all = Vec::new();
        while let Some(line) = self.line()? {
            on_line(&line);
            all.extend(line);
        }
        Ok(Answer::read(&all))
    }

    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        Ok((self.reader.read_until(b'\n', &mut line)? > 0).then_some(line))
    }
}

/// Sends a request and reads the whole reply.
pub fn ask(address: &str, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
    Connection::send(address, method, path, headers, body).rest()
}

/// The same for a program that may be killed at any moment; none without a complete reply.
pub fn try_ask(address: &str, method: &str, path: &str, headers: &[&str], body: &str) -> Option<Answer> {
    let connection = Connection::try_send(address, method, path, headers, body).ok()?;
    connection.try_rest(|_| {}).ok().filter(|answer| answer.is_complete)
}

/// Posts a chat request.
pub fn post(address: &str, body: &str) -> Answer {
    ask(address, "POST", "/v1/chat/completions", &[], body)
}

/// Creates an empty conversation; its id.
pub fn new_conversation(address: &str) -> String {
    ask(address, "POST", "/v1/conversations", &[], "{}").ok()["id"].as_str().unwrap().to_owned()
}
