//! The settings of the Python host: interpreter, limits and output sink.
//!
//! The defaults suit small tools on one machine. Nothing here is read from a file or the environment.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::output::OutputSink;

/// The settings of a [`PythonHost`](crate::PythonHost).
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// The Python to run, such as `python3` or the one of a virtual environment.
    pub interpreter: PathBuf,
    /// What characters may use.
    pub limits: Limits,
    /// Receives the lines that characters print.
    pub output: OutputSink,
    /// Environment variables that characters see beside the usual ones: names, or beginnings of names followed by `*`.
    pub environment: Vec<String>,
    /// After how long without a call a character's processes end; the next call starts them again. `None` is never.
    pub rest_after: Option<Duration>,
    /// Whether characters give up files, network and programs.
    pub sandbox: bool,
}

impl HostSettings {
    /// Default limits, no output, no rest and no sandbox.
    pub fn new(interpreter: impl Into<PathBuf>) -> Self {
        let (limits, output) = (Limits::default(), OutputSink::none());
        let (environment, rest_after, sandbox) = (Vec::new(), None, false);
        Self { interpreter: interpreter.into(), limits, output, environment, rest_after, sandbox }
    }
}

/// What characters may use. Each limit holds per process or call, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Bytes of memory that a worker or an import may use.
    pub memory: u64,
    /// Files, sockets and pipes that may be open at the same time.
    pub open_files: u64,
    /// Bytes that one call, or one import, may print; the rest is dropped.
    pub output: usize,
    /// Bytes of text that a tool may return.
    pub result: usize,
    /// Bytes of a conversation's state, as JSON.
    pub state: usize,
    /// How long importing and checking a file may take.
    pub import: Duration,
    /// How long a system prompt, a turn context, names or a list of tools may take.
    pub prompt: Duration,
    /// Workers of one character.
    pub workers_per_character: usize,
    /// Workers of all characters together.
    pub workers: usize,
    /// Files that are imported at the same time.
    pub imports: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            memory: 512 << 20,
            open_files: 64,
            output: 64 << 10,
            result: 1 << 20,
            state: 1 << 20,
            import: Duration::from_secs(5),
            prompt: Duration::from_secs(5),
            workers_per_character: (cores * 2).max(4),
            workers: 64,
            imports: (cores * 2).max(8),
        }
    }
}
