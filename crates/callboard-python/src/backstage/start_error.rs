//! Why a company cannot be started.

use std::io;
use std::time::Duration;

use thiserror::Error;

use super::protocol::VERSION;
use crate::interpreter::InterpreterError;

/// Why a company cannot be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// The interpreter does not fit.
    #[error(transparent)]
    Interpreter(#[from] InterpreterError),
    /// The system refuses a thread, a socket or a process.
    #[error("Python's processes cannot be started: {0}")]
    System(#[from] io::Error),
    /// The interpreter did not say hello.
    #[error("Python did not start in {} s{}", .waited.as_secs(), said(.stderr))]
    NoAnswer {
        /// How long it was waited for.
        waited: Duration,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The interpreter runs another version of the host.
    #[error("Python's side speaks protocol {theirs:?}, ours is {VERSION}; they must come from the same build")]
    Version {
        /// The version it speaks, where it said one.
        theirs: Option<u32>,
    },
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it wrote: {stderr}") }
}
