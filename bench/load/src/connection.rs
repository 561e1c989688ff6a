//! The part of HTTP/1.1 that both ends need: one buffered TCP connection that reads a message head and
//! then its body, by content-length or chunked. Callers decide what is sent.

use std::io::{Error, ErrorKind, Result};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const LARGEST_MESSAGE: usize = 16 << 20;

/// How the body of a message is delimited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Framing {
    Length(usize),
    Chunked,
}

/// The start line of a message and the headers that matter here.
#[derive(Debug, PartialEq)]
pub(crate) struct Head {
    pub(crate) start_line: String,
    pub(crate) framing: Framing,
    pub(crate) closes: bool,
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let text = str::from_utf8(bytes).map_err(|_| malformed("head is not text"))?;
        let mut lines = text.split("\r\n");
        let start_line = lines.next().unwrap_or_default().to_owned();
        let mut head = Self { start_line, framing: Framing::Length(0), closes: false };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                head.framing = Framing::Length(value.parse().map_err(|_| malformed("content-length"))?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") && value.eq_ignore_ascii_case("chunked") {
                head.framing = Framing::Chunked;
            } else if name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("close") {
                head.closes = true;
            }
        }
        Ok(head)
    }
}

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Bytes before this position in `buffer` have been consumed.
    place: usize,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 << 10), place: 0 })
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await
    }

    /// The next head, or `None` when the peer closed the connection between messages.
    pub(crate) async fn read_head(&mut self) -> Result<Option<Head>> {
        self.buffer.drain(..self.place);
        self.place = 0;
        if self.buffer.is_empty() && self.stream.read_buf(&mut self.buffer).await? == 0 {
            return Ok(None);
        }
        let end = self.find(b"\r\n\r\n").await?;
        let head = Head::parse(self.take(end))?;
        self.place += 4;
        Ok(Some(head))
    }

    /// Appends the body to `body` and returns its number of chunks.
    pub(crate) async fn read_body(&mut self, framing: Framing, body: &mut Vec<u8>) -> Result<usize> {
        let Framing::Length(length) = framing else {
            return self.read_chunks(body).await;
        };
        self.fill_to(length).await?;
        body.extend_from_slice(self.take(length));
        Ok(1)
    }

    async fn read_chunks(&mut self, body: &mut Vec<u8>) -> Result<usize> {
        for chunks in 0.. {
            let end = self.find(b"\r\n").await?;
            let size = str::from_utf8(self.take(end)).ok().and_then(|line| usize::from_str_radix(line.trim(), 16).ok());
            let size = size.filter(|size| *size < LARGEST_MESSAGE).ok_or_else(|| malformed("chunk size"))?;
            self.place += 2;
            self.fill_to(size + 2).await?;
            body.extend_from_slice(self.take(size));
            self.place += 2;
            if size == 0 {
                return Ok(chunks);
            }
        }
        Err(malformed("endless chunks"))
    }

    /// The distance from `place` to the next `mark`, reading until there is one.
    async fn find(&mut self, mark: &[u8]) -> Result<usize> {
        loop {
            if let Some(distance) = self.rest().windows(mark.len()).position(|window| window == mark) {
                return Ok(distance);
            }
            self.read_more().await?;
        }
    }

    async fn fill_to(&mut self, length: usize) -> Result<()> {
        while self.rest().len() < length {
            self.read_more().await?;
        }
        Ok(())
    }

    async fn read_more(&mut self) -> Result<()> {
        if self.buffer.len() > LARGEST_MESSAGE {
            return Err(malformed("message too large"));
        }
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.place..).unwrap_or_default()
    }

    fn take(&mut self, length: usize) -> &[u8] {
        let start = self.place;
        self.place = (start + length).min(self.buffer.len());
        self.buffer.get(start..self.place).unwrap_or_default()
    }
}

fn malformed(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("malformed HTTP: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_tells_its_framing() {
        let cases = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 12", Framing::Length(12), false),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nConnection: close", Framing::Chunked, true),
            ("GET / HTTP/1.1\r\nhost: a", Framing::Length(0), false),
        ];
        for (text, framing, closes) in cases {
            let head = Head::parse(text.as_bytes()).expect(text);
            assert_eq!((head.framing, head.closes), (framing, closes), "{text}");
        }
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\ncontent-length: x").is_err());
    }
}
