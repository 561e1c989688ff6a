//! What a company is started with: which interpreter, which limits, and where the output of characters goes.
//!
//! Every number has a default that suits small tools on one machine. Nothing here is read from a file or the
//! environment: that is the program's part.

use std::path::PathBuf;
use std::time::Duration;

use crate::output::OutputSink;

/// What a company is started with.
#[derive(Debug, Clone)]
pub struct CompanySettings {
    /// The Python to run, such as `python3` or the one of a virtual environment.
    pub interpreter: PathBuf,
    /// What characters may use.
    pub limits: Limits,
    /// Where lines go that characters print.
    pub output: OutputSink,
}

/// What characters may use. Each limit is kept for every process or call on its own, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory that a worker, or a file while it is imported, may fill.
    pub memory: u64,
    /// Files, sockets and pipes that may be open at the same time.
    pub open_files: u64,
    /// Bytes that one call, or one import, may print; the rest is cut.
    pub output: usize,
    /// Bytes of text that a tool may return.
    pub result: usize,
    /// Bytes of state, as JSON, that a conversation may keep.
    pub state: usize,
    /// How long importing and checking a file may take.
    pub import: Duration,
    /// How long making a system prompt, a turn's context, names or a list of tools may take.
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
