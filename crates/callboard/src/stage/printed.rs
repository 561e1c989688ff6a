//! What characters print: shown on the terminal, or kept for a test.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use callboard_python::OutputSink;

/// Printed lines that are kept.
#[derive(Clone, Default)]
pub struct Printed {
    text: Arc<Mutex<String>>,
}

impl Printed {
    /// A sink that keeps lines here.
    pub fn sink(&self) -> OutputSink {
        let text = Arc::clone(&self.text);
        OutputSink::new(move |line| {
            let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
            text.push_str(line.text);
            text.push('\n');
        })
    }

    /// What was printed since the last time.
    pub fn take(&self) -> String {
        std::mem::take(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A sink that writes lines to the terminal, each with its character's name before it.
pub fn terminal() -> OutputSink {
    OutputSink::new(|line| {
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    })
}
