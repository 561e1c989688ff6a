//! Lines that characters print, and where they go.
//!
//! This crate cuts output into lines, limits it and says whose it is; writing it somewhere is the program's part.

use std::fmt;
use std::sync::Arc;

/// One line that a character printed, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLine<'a> {
    /// The character's id.
    pub character: &'a str,
    /// Where it printed it.
    pub stream: OutputStream,
    /// The line. Control characters are written out, so that it cannot steer a terminal.
    pub text: &'a str,
}

impl fmt::Display for OutputLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.character, self.text)
    }
}

/// The stream that a line was printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Takes lines. It is called on the company's own thread, so it must not block: hand the line on, or drop it.
#[derive(Clone)]
pub struct OutputSink(Arc<dyn Fn(OutputLine<'_>) + Send + Sync>);

impl OutputSink {
    /// A sink that hands each line to a function.
    pub fn new(take: impl Fn(OutputLine<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// A sink that drops everything.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    pub(crate) fn take(&self, line: OutputLine<'_>) {
        (self.0)(line);
    }
}

impl fmt::Debug for OutputSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutputSink")
    }
}
