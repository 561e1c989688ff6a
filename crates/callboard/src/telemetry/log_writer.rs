//! Standard error, with the lines of requests written together.
//!
//! There is a line for each request, and a system call for each would cost as much as a third of the request. They are written
//! a moment later, or in front of any other line, which is written at once.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// How long a line may wait.
const DELAY: Duration = Duration::from_millis(100);
/// More than this is written without waiting.
const MOST_BYTES: usize = 16 << 10;

/// The writer of all log lines; clones share it.
#[derive(Clone, Default)]
pub(super) struct LogWriter(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    lines: Mutex<Vec<u8>>,
    begun: Condvar,
}

/// The writer of one line.
pub(super) struct LineWriter<'a> {
    waiting: &'a Waiting,
    may_wait: bool,
}

impl LogWriter {
    /// A writer, and the thread that writes what waits.
    pub(super) fn start() -> io::Result<Self> {
        let writer = Self::default();
        let waiting = Arc::clone(&writer.0);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || waiting.write_for_ever())?;
        Ok(writer)
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_for_ever(&self) {
        loop {
            let lines = self.begun.wait_while(self.lock(), |lines| lines.is_empty());
            let lines = lines.unwrap_or_else(PoisonError::into_inner);
            let (mut lines, _) = self.begun.wait_timeout(lines, DELAY).unwrap_or_else(PoisonError::into_inner);
            write_out(&mut lines);
        }
    }
}

/// A log that cannot be written is not worth ending the program for.
fn write_out(lines: &mut Vec<u8>) {
    let _ = io::stderr().lock().write_all(lines);
    lines.clear();
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> LineWriter<'a> {
        LineWriter { waiting: &self.0, may_wait: false }
    }

    fn make_writer_for(&'a self, line: &Metadata<'_>) -> LineWriter<'a> {
        let is_request = line.target().ends_with("::request_log") && *line.level() >= Level::INFO;
        LineWriter { waiting: &self.0, may_wait: is_request }
    }
}

impl Write for LineWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut lines = self.waiting.lock();
        let was_empty = lines.is_empty();
        lines.extend_from_slice(line);
        if !self.may_wait || lines.len() > MOST_BYTES {
            write_out(&mut lines);
        } else if was_empty {
            self.waiting.begun.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
