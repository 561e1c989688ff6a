//! As much of HTTP/1.1 as the scripted model server and the client need: one message, its head and its body.

use std::io::{self, BufRead, Read};

/// A request or a response.
#[derive(Debug)]
pub(super) struct Message {
    /// The first line.
    pub(super) start: String,
    headers: Vec<(String, String)>,
    /// The body, without its transfer coding.
    pub(super) body: Vec<u8>,
}

impl Message {
    /// The value of a header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The status of a response.
    pub(super) fn status(&self) -> u16 {
        let word = self.start.split(' ').nth(1).unwrap_or_default();
        word.parse().unwrap_or_else(|_| panic!("no status in {:?}", self.start))
    }
}

/// Reads one message; `on_body` sees the body so far whenever it has grown. None where the other side has hung up.
pub(super) fn read_message(reader: &mut impl BufRead, mut on_body: impl FnMut(&[u8])) -> io::Result<Option<Message>> {
    let start = line(reader)?;
    if start.is_empty() {
        return Ok(None);
    }
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        let Some((key, value)) = line.split_once(':') else { break };
        headers.push((key.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut message = Message { start, headers, body: Vec::new() };
    if message.header("transfer-encoding") == Some("chunked") {
        while read_chunk(reader, &mut message.body)? {
            on_body(&message.body);
        }
    } else {
        let length = message.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        message.body.resize(length, 0);
        reader.read_exact(&mut message.body)?;
    }
    Ok(Some(message))
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

/// Appends one chunk; false at the last one.
fn read_chunk(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<bool> {
    let size = line(reader)?;
    let size =
        u64::from_str_radix(&size, 16).map_err(|_| io::Error::other(format!("{size:?} is no size of a chunk")))?;
    let read = reader.take(size).read_to_end(body)?;
    line(reader)?;
    if u64::try_from(read).ok() == Some(size) { Ok(size > 0) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
