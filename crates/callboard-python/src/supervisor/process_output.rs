//! What a process prints: read as it comes, cut into lines, limited, and handed to the sink.
//!
//! Reading never stops, so that no process blocks on a full pipe; output over the limit is dropped and counted. The
//! tail of standard error is kept for crash reports.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe;

use crate::output::{OutputLine, OutputSink};

const READ_AT_ONCE: usize = 16 << 10;
const STDERR_TAIL: usize = 2 << 10;

/// Bounds a flush while a thread of the process prints without end.
const READS_PER_FLUSH: usize = 1 << 10;

type Read = fn(&pipe::Receiver, &mut [u8]) -> io::Result<usize>;

/// The output of one process.
pub(crate) struct ProcessOutput {
    stdout: OutputPipe,
    stderr: OutputPipe,
    lines: RefCell<LineWriter>,
    /// Reused, so that it is not cleared for every read.
    chunk: RefCell<Box<[u8]>>,
}

struct OutputPipe {
    reader: pipe::Receiver,
    closed: Cell<bool>,
    partial_line: RefCell<Vec<u8>>,
}

/// Writes lines to the sink, up to the limit of a call or an import.
struct LineWriter {
    character: String,
    sink: OutputSink,
    limit: usize,
    printed: usize,
    dropped: usize,
    stderr_tail: Vec<u8>,
    muted: bool,
}

impl ProcessOutput {
    /// The output of a new process, and the pipe ends that it prints to: stdout and stderr.
    pub(crate) fn new(character: &str, sink: &OutputSink, limit: usize) -> io::Result<(Self, [OwnedFd; 2])> {
        let (stdout, stdout_end) = OutputPipe::new()?;
        let (stderr, stderr_end) = OutputPipe::new()?;
        let (character, sink) = (character.to_owned(), sink.clone());
        let stderr_tail = Vec::new();
        let lines = LineWriter { character, sink, limit, printed: 0, dropped: 0, stderr_tail, muted: false };
        let chunk = RefCell::new(vec![0; READ_AT_ONCE].into_boxed_slice());
        Ok((Self { stdout, stderr, lines: lines.into(), chunk }, [stdout_end, stderr_end]))
    }

    /// Forwards output for as long as this is awaited.
    pub(crate) async fn forward(&self) -> Infallible {
        loop {
            tokio::select! {
                () = self.stdout.readable() => self.read_stdout(pipe::Receiver::try_read),
                () = self.stderr.readable() => self.read_stderr(pipe::Receiver::try_read),
            };
        }
    }

    /// Starts the limit and the tail afresh, for a new call.
    pub(crate) fn reset(&self) {
        let mut lines = self.lines.borrow_mut();
        lines.printed = 0;
        lines.dropped = 0;
        lines.stderr_tail.clear();
    }

    /// Forwards everything printed so far, including unfinished lines, and reports what was dropped.
    pub(crate) fn flush(&self) {
        let _ = (0..READS_PER_FLUSH).take_while(|_| self.read_stdout(read_unpolled)).count();
        let _ = (0..READS_PER_FLUSH).take_while(|_| self.read_stderr(read_unpolled)).count();
        let mut lines = self.lines.borrow_mut();
        for pipe in [&self.stdout, &self.stderr] {
            let partial_line = pipe.partial_line.take();
            if !partial_line.is_empty() {
                lines.write(&partial_line);
            }
        }
        lines.report_dropped();
    }

    /// Whether the process has closed one of its streams, and so cannot print any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.stdout.closed.get() || self.stderr.closed.get()
    }

    /// From now on only the tail is kept.
    pub(crate) fn mute(&self) {
        self.lines.borrow_mut().muted = true;
    }

    /// The end of what was printed to standard error since the last reset.
    pub(crate) fn stderr_tail(&self) -> String {
        let lines = self.lines.borrow();
        let start = lines.stderr_tail.len().saturating_sub(STDERR_TAIL);
        String::from_utf8_lossy(lines.stderr_tail.get(start..).unwrap_or_default()).trim().to_owned()
    }

    /// Reads once. Returns whether there was anything.
    fn read_stdout(&self, read: Read) -> bool {
        self.read(&self.stdout, read, |_| {})
    }

    fn read_stderr(&self, read: Read) -> bool {
        self.read(&self.stderr, read, |bytes| self.lines.borrow_mut().add_to_tail(bytes))
    }

    fn read(&self, pipe: &OutputPipe, read: Read, observe: impl FnOnce(&[u8])) -> bool {
        let mut chunk = self.chunk.borrow_mut();
        match read(&pipe.reader, &mut chunk) {
            Ok(length @ 1..) => {
                let bytes = chunk.get(..length).unwrap_or_default();
                observe(bytes);
                self.lines.borrow_mut().add(bytes, &mut pipe.partial_line.borrow_mut());
                return true;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => pipe.closed.set(true),
        }
        false
    }
}

/// Reads without asking the runtime, which may not have seen yet that the pipe is readable: a reply can arrive first.
fn read_unpolled(reader: &pipe::Receiver, chunk: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(reader, chunk)?)
}

impl OutputPipe {
    fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = io::pipe()?;
        let reader = pipe::Receiver::from_owned_fd(reader.into())?;
        Ok((Self { reader, closed: Cell::new(false), partial_line: RefCell::default() }, writer.into()))
    }

    async fn readable(&self) {
        if self.closed.get() || self.reader.readable().await.is_err() {
            pending::<()>().await;
        }
    }
}

impl LineWriter {
    fn add(&mut self, bytes: &[u8], partial_line: &mut Vec<u8>) {
        let allowed = bytes.len().min(self.limit.saturating_sub(self.printed));
        let (kept, dropped) = bytes.split_at(allowed);
        self.printed += kept.len();
        self.dropped += dropped.len();
        for piece in kept.split_inclusive(|byte| *byte == b'\n') {
            partial_line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.write(partial_line);
                partial_line.clear();
            }
        }
    }

    fn add_to_tail(&mut self, bytes: &[u8]) {
        self.stderr_tail.extend_from_slice(bytes);
        if self.stderr_tail.len() > STDERR_TAIL * 8 {
            self.stderr_tail.drain(..self.stderr_tail.len() - STDERR_TAIL);
        }
    }

    fn report_dropped(&mut self) {
        if self.dropped > 0 {
            self.write(format!("… {} bytes more were cut (at most {} are shown)", self.dropped, self.limit).as_bytes());
            self.dropped = 0;
        }
    }

    fn write(&self, line: &[u8]) {
        if !self.muted {
            let text = escape_control(&String::from_utf8_lossy(line.trim_ascii_end()));
            self.sink.take(OutputLine { character: &self.character, text: &text });
        }
    }
}

fn escape_control(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() && character != '\t' {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn a_flush_reads_what_the_runtime_has_not_seen_yet() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&lines);
        let sink = OutputSink::new(move |line| taken.lock().unwrap().push(line.text.to_owned()));
        let (output, [stdout, stderr]) = ProcessOutput::new("printer", &sink, 100).unwrap();
        for (end, text) in [(stdout, "one\ntwo"), (stderr, "three")] {
            File::from(end).write_all(text.as_bytes()).unwrap();
        }
        output.flush();
        assert_eq!(*lines.lock().unwrap(), ["one", "two", "three"]);
    }
}
