//! Where the output of characters goes: to the terminal, or to a buffer.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use callboard_python::OutputSink;

/// Captured output.
#[derive(Clone, Default)]
pub struct OutputBuffer {
    text: Arc<Mutex<String>>,
}

impl OutputBuffer {
    /// A sink that captures lines here.
    pub fn sink(&self) -> OutputSink {
        let text = Arc::clone(&self.text);
        OutputSink::new(move |line| {
            let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
            text.push_str(line.text);
            text.push('\n');
        })
    }

    /// Takes what was captured since the last call.
    pub fn take(&self) -> String {
        std::mem::take(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A sink that writes lines to the terminal, each with its character's name before it.
pub fn terminal_output() -> OutputSink {
    OutputSink::new(|line| {
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    })
}
