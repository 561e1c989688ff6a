//! How a server ended, as operators see it.

use std::time::{Duration, Instant};

/// One end of a server.
#[derive(Debug, Clone)]
pub struct ServerExit {
    /// What happened to it, as the predicate of a sentence: `exited with status 1`.
    pub words: String,
    /// When.
    pub at: Instant,
    /// How long it had been ready; none if it never was.
    pub ready_for: Option<Duration>,
    /// The last lines of its output, as far as they may be shown.
    pub output: Vec<String>,
}

impl ServerExit {
    /// A server that could not be started at all.
    pub(super) fn unstarted(reason: &str) -> Self {
        Self {
            words: format!("could not be started: {reason}"),
            at: Instant::now(),
            ready_for: None,
            output: Vec::new(),
        }
    }

    /// The words, with the last line of its output.
    pub fn with_last_line(&self) -> String {
        match self.output.iter().rfind(|line| !line.trim().is_empty()) {
            Some(line) => format!("{}: {}", self.words, line.trim()),
            None => self.words.clone(),
        }
    }
}
