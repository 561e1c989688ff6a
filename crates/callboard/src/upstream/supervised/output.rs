//! What a server prints: written to the log line by line, and the last lines kept for when it ends.
//!
//! Until it is ready it can say nothing of users, so these lines are logged at info level; later ones may quote prompts, and are logged,
//! and shown after its end, at debug level only.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe;

use super::handle::SupervisedServer;

const READ_AT_ONCE: usize = 16 << 10;
/// A longer line is cut into several.
const MOST_LINE_BYTES: usize = 1 << 10;
const MOST_TAIL_LINES: usize = 20;
/// More lines of one start are logged at debug level, except for its last ones where it fails.
const MOST_INFO_LINES: usize = 100;

/// The output of one process.
pub(super) struct ServerOutput<'a> {
    server: &'a SupervisedServer,
    tail: VecDeque<String>,
    lines: usize,
}

/// One of its streams.
pub(super) struct OutputPipe {
    reader: pipe::Receiver,
    partial_line: Vec<u8>,
    is_closed: bool,
}

impl<'a> ServerOutput<'a> {
    pub(super) fn new(server: &'a SupervisedServer) -> Self {
        Self { server, tail: VecDeque::new(), lines: 0 }
    }

    /// The last lines; none where they may quote users and must not be shown.
    pub(super) fn into_tail(self) -> Vec<String> {
        let (name, may_quote_users) = (&self.server.launch.name, self.may_quote_users());
        if may_quote_users && !self.server.launch.rules.shows_content {
            return Vec::new();
        }
        let unlogged = self.lines.saturating_sub(MOST_INFO_LINES).min(self.tail.len());
        for line in self.tail.iter().skip(self.tail.len() - unlogged).filter(|_| !may_quote_users) {
            tracing::info!(upstream = name, "{line}");
        }
        self.tail.into()
    }

    fn may_quote_users(&self) -> bool {
        self.server.ready_for().is_some()
    }

    fn take(&mut self, line: &[u8]) {
        let line = printable(&String::from_utf8_lossy(line.trim_ascii_end()));
        if line.is_empty() {
            return;
        }
        let name = &self.server.launch.name;
        self.lines += 1;
        match self.lines {
            ..=MOST_INFO_LINES if !self.may_quote_users() => tracing::info!(upstream = name, "{line}"),
            _ => tracing::debug!(upstream = name, "{line}"),
        }
        self.tail.push_back(line);
        self.tail.drain(..self.tail.len().saturating_sub(MOST_TAIL_LINES));
    }
}

impl OutputPipe {
    /// A new stream, and the end that the process prints to.
    pub(super) fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = io::pipe()?;
        let reader = pipe::Receiver::from_owned_fd(reader.into())?;
        Ok((Self { reader, partial_line: Vec::new(), is_closed: false }, writer.into()))
    }

    /// Waits until there is something to read; for ever once the stream has ended.
    pub(super) async fn readable(&self) {
        if self.is_closed || self.reader.readable().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Reads what is there, and passes whole lines on.
    pub(super) fn read(&mut self, output: &mut ServerOutput<'_>) {
        let mut chunk = [0; READ_AT_ONCE];
        match self.reader.try_read(&mut chunk) {
            Ok(length @ 1..) => self.cut(chunk.get(..length).unwrap_or_default(), output),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => self.is_closed = true,
        }
    }

    /// Reads to the end of the stream.
    pub(super) async fn read_to_end(&mut self, output: &mut ServerOutput<'_>) {
        while !self.is_closed {
            self.readable().await;
            self.read(output);
        }
    }

    /// Passes on what is left of a line without an end.
    pub(super) fn flush(&mut self, output: &mut ServerOutput<'_>) {
        output.take(&std::mem::take(&mut self.partial_line));
    }

    /// Bars of progress end with a carriage return only.
    fn cut(&mut self, bytes: &[u8], output: &mut ServerOutput<'_>) {
        for byte in bytes {
            let ends = matches!(byte, b'\n' | b'\r');
            if !ends {
                self.partial_line.push(*byte);
            }
            if ends || self.partial_line.len() >= MOST_LINE_BYTES {
                self.flush(output);
            }
        }
    }
}

/// The line without what a terminal would obey.
fn printable(line: &str) -> String {
    line.chars().map(|letter| if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter }).collect()
}
