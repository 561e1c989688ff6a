//! The lines that characters print, and the sink that receives them.
//!
//! This crate cuts output into lines and limits it; the program decides where it is written.

use std::fmt;
use std::sync::Arc;

/// One line that a character printed, without its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLine<'a> {
    /// The character's id.
    pub character: &'a str,
    /// The line. Control characters are escaped, so that it cannot control a terminal.
    pub text: &'a str,
}

impl fmt::Display for OutputLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.character, self.text)
    }
}

/// Receives lines. It is called on the supervisor's thread, so it must not block.
#[derive(Clone)]
pub struct OutputSink(Arc<dyn Fn(OutputLine<'_>) + Send + Sync>);

impl OutputSink {
    /// A sink that calls a function for each line.
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
