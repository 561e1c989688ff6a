//! What a process prints: read as it comes, cut into lines, limited, and handed to the sink.
//!
//! Reading never stops, so that a process cannot get stuck for having printed too much; what is over the limit is
//! dropped and the cut is said. The end of standard error is kept for those who report a crash.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe;

use crate::output::{OutputLine, OutputSink, OutputStream};

const READ_AT_ONCE: usize = 16 << 10;
const TAIL: usize = 2 << 10;

/// Reads at the end of a call. A thread that prints without end must not keep us there.
const LAST_READS: usize = 1 << 10;

/// The output of one process.
pub(crate) struct Relay {
    stdout: Spout,
    stderr: Spout,
    account: RefCell<Account>,
    /// Where a read puts its bytes; kept, so that it need not be cleared for each.
    piece: RefCell<Box<[u8]>>,
}

struct Spout {
    stream: OutputStream,
    pipe: pipe::Receiver,
    closed: Cell<bool>,
}

/// What was printed since the account was opened.
struct Account {
    character: String,
    sink: OutputSink,
    limit: usize,
    printed: usize,
    cut: u64,
    partial: [Vec<u8>; 2],
    tail: Vec<u8>,
    muted: bool,
}

/// A relay for a new process, and the ends of the pipes that it prints to.
pub(crate) fn relay(character: &str, sink: &OutputSink, limit: usize) -> io::Result<(Relay, [OwnedFd; 2])> {
    let (stdout, stdout_end) = spout(OutputStream::Stdout)?;
    let (stderr, stderr_end) = spout(OutputStream::Stderr)?;
    let account = RefCell::new(Account {
        character: character.to_owned(),
        sink: sink.clone(),
        limit,
        printed: 0,
        cut: 0,
        partial: Default::default(),
        tail: Vec::new(),
        muted: false,
    });
    let piece = RefCell::new(vec![0; READ_AT_ONCE].into_boxed_slice());
    Ok((Relay { stdout, stderr, account, piece }, [stdout_end, stderr_end]))
}

fn spout(stream: OutputStream) -> io::Result<(Spout, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    let pipe = pipe::Receiver::from_owned_fd(reader.into())?;
    Ok((Spout { stream, pipe, closed: Cell::new(false) }, writer.into()))
}

impl Relay {
    /// Passes on what is printed, for as long as this is awaited.
    pub(crate) async fn run(&self) {
        loop {
            tokio::select! {
                () = self.stdout.readable() => self.read(&self.stdout),
                () = self.stderr.readable() => self.read(&self.stderr),
            };
        }
    }

    /// Begins a new account: a call's own output, limit and tail.
    pub(crate) fn open_account(&self) {
        let mut account = self.account.borrow_mut();
        account.printed = 0;
        account.cut = 0;
        account.tail.clear();
    }

    /// Ends the account: reads what has been printed already, ends the last line, and says what was cut.
    pub(crate) fn close_account(&self) {
        for spout in [&self.stdout, &self.stderr] {
            for _ in 0..LAST_READS {
                if !self.read(spout) {
                    break;
                }
            }
        }
        self.account.borrow_mut().close();
    }

    /// Whether the process has closed one of its streams, and so cannot print any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.stdout.closed.get() || self.stderr.closed.get()
    }

    /// From now on nothing reaches the sink, only the tail.
    pub(crate) fn mute(&self) {
        self.account.borrow_mut().muted = true;
    }

    /// The last that was printed to standard error since the account was opened.
    pub(crate) fn tail(&self) -> String {
        let account = self.account.borrow();
        let start = account.tail.len().saturating_sub(TAIL);
        String::from_utf8_lossy(account.tail.get(start..).unwrap_or_default()).trim().to_owned()
    }

    /// Reads once. Whether there was anything.
    fn read(&self, spout: &Spout) -> bool {
        let mut piece = self.piece.borrow_mut();
        match spout.pipe.try_read(&mut piece) {
            Ok(0) => spout.closed.set(true),
            Ok(length) => {
                self.account.borrow_mut().take(spout.stream, piece.get(..length).unwrap_or_default());
                return true;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => spout.closed.set(true),
        }
        false
    }
}

impl Spout {
    async fn readable(&self) {
        if self.closed.get() || self.pipe.readable().await.is_err() {
            pending::<()>().await;
        }
    }
}

impl Account {
    fn take(&mut self, stream: OutputStream, bytes: &[u8]) {
        if stream == OutputStream::Stderr {
            self.note_tail(bytes);
        }
        let allowed = bytes.len().min(self.limit.saturating_sub(self.printed));
        let (kept, dropped) = bytes.split_at(allowed);
        self.printed += kept.len();
        self.cut += dropped.len() as u64;
        let mut line = std::mem::take(self.partial_of(stream));
        for piece in kept.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.pass_on(stream, &line);
                line.clear();
            }
        }
        *self.partial_of(stream) = line;
    }

    fn note_tail(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > TAIL * 8 {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }

    fn partial_of(&mut self, stream: OutputStream) -> &mut Vec<u8> {
        let [stdout, stderr] = &mut self.partial;
        if stream == OutputStream::Stdout { stdout } else { stderr }
    }

    fn close(&mut self) {
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            let line = std::mem::take(self.partial_of(stream));
            if !line.is_empty() {
                self.pass_on(stream, &line);
            }
        }
        if self.cut > 0 {
            let words = format!("… {} bytes more were cut (at most {} are shown)", self.cut, self.limit);
            self.pass_on(OutputStream::Stderr, words.as_bytes());
            self.cut = 0;
        }
    }

    fn pass_on(&self, stream: OutputStream, line: &[u8]) {
        if !self.muted {
            let text = without_control(&String::from_utf8_lossy(line.trim_ascii_end()));
            self.sink.take(OutputLine { character: &self.character, stream, text: &text });
        }
    }
}

/// The text with control characters written out.
fn without_control(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() && character != '\t' {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}
