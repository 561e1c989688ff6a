//! How starting Python and running a character can fail.
//!
//! A failure of the character's own code is a result like any other; a failure of our processes is not its fault. The
//! texts that a model receives for each are in this file only; details are for the log.

use std::io;
use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;

use crate::interpreter_check::InterpreterError;

/// Why a character returned nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallError {
    /// The character's code failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The processes that run it failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// How a character's code fails.
#[derive(Debug, Clone, PartialEq, Eq, Error, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolError {
    /// No tool has this name.
    #[error("there is no tool {name:?}")]
    UnknownTool {
        /// The name that was called.
        name: String,
    },
    /// It passed its deadline and was killed.
    #[error("it was killed after more than {} ms", .limit.as_millis())]
    #[serde(skip)]
    TimedOut {
        /// How long it may run.
        limit: Duration,
    },
    /// It raised an exception.
    #[error("it raised {}", raised(.exception, .message))]
    Raised {
        /// The exception's class.
        exception: String,
        /// Its message, cut where it is long.
        message: String,
        /// Where it came from, for the log.
        traceback: String,
    },
    /// It returned something other than text.
    #[error("it returned {got}, not text")]
    WrongType {
        /// The type that it returned.
        got: String,
    },
    /// Its process ended.
    #[error("its process {how}")]
    #[serde(skip)]
    Crashed {
        /// What happened to the process, such as `ended by SIGSEGV`.
        how: String,
        /// The end of what it wrote to standard error.
        stderr_tail: String,
    },
    /// It returned too much text.
    #[error("it returned {size} bytes, at most {limit} are allowed")]
    OutputTooLarge {
        /// The size of the text.
        size: u64,
        /// How large it may be.
        limit: u64,
    },
    /// Its state contains something that JSON cannot represent.
    #[error("{path} is {found}, and so cannot be kept; {remedy}")]
    StateNotJson {
        /// Where it is, such as `self.scores['ann']`.
        path: String,
        /// What is there.
        found: String,
        /// What to keep instead.
        remedy: String,
    },
    /// Its state is too large.
    #[error("its state is {size} bytes of JSON, at most {limit} are allowed")]
    StateTooLarge {
        /// The size of the state.
        size: u64,
        /// How large it may be.
        limit: u64,
    },
}

/// How our own processes fail. None of these is the character's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostError {
    /// The host has been shut down.
    #[error("the Python host is shut down")]
    Closed,
    /// A process could not be started.
    #[error("a process could not be started: {0}")]
    NotStarted(String),
    /// A process sent an unexpected message.
    #[error("a process broke the protocol: {0}")]
    Protocol(String),
    /// The arguments or the state of a call are not valid JSON.
    #[error("{0}")]
    InvalidRequest(String),
}

/// Why the host cannot be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// The interpreter is missing or unsuitable.
    #[error(transparent)]
    Interpreter(#[from] InterpreterError),
    /// The kernel cannot enforce the sandbox.
    #[error(
        "the kernel offers no {0}, which the sandbox needs; set [python] sandbox to \"off\", or run another kernel"
    )]
    Sandbox(&'static str),
    /// The system refuses a thread, a socket or a process.
    #[error("Python's processes cannot be started: {0}")]
    System(#[from] io::Error),
    /// The interpreter did not say hello.
    #[error("Python did not start in {} s{}", .waited.as_secs(), wrote(.stderr))]
    NoAnswer {
        /// How long the start may take.
        waited: Duration,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The interpreter runs another version of the host.
    #[error("Python's side speaks protocol {theirs:?}, ours is {ours}; they must come from the same build")]
    Version {
        /// Our version.
        ours: u32,
        /// The version it speaks, where it sent one.
        theirs: Option<u32>,
    },
}

fn wrote(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it wrote: {stderr}") }
}

impl CallError {
    /// The tool's result as the model sees it.
    pub fn to_model_text(&self) -> String {
        match self {
            Self::Tool(error) => error.to_model_text(),
            Self::Host(_) => "Error: Tool execution failed - internal error".to_owned(),
        }
    }

    /// The label of `character_tool_errors_total`.
    pub fn error_type(&self) -> &'static str {
        match self {
            Self::Tool(ToolError::TimedOut { .. }) => "timeout",
            Self::Tool(ToolError::UnknownTool { .. }) => "validation",
            _ => "execution",
        }
    }
}

impl ToolError {
    /// The tool's result as the model sees it.
    pub fn to_model_text(&self) -> String {
        match self {
            Self::UnknownTool { name } => format!("Error: Unknown tool: {name}"),
            Self::TimedOut { .. } => "Error: Tool execution timed out".to_owned(),
            Self::Raised { exception, message, .. } => format!("Error: {}", raised(exception, message)),
            Self::WrongType { .. } => "Error: Tool must return string".to_owned(),
            Self::Crashed { .. } => "Error: Tool execution failed - the tool crashed".to_owned(),
            Self::OutputTooLarge { size, limit } => {
                format!("Error: Tool result too large - {size} bytes, at most {limit} are allowed")
            }
            Self::StateNotJson { .. } | Self::StateTooLarge { .. } => {
                "Error: Tool execution failed - its changes could not be kept".to_owned()
            }
        }
    }
}

fn raised(exception: &str, message: &str) -> String {
    if message.is_empty() { exception.to_owned() } else { format!("{exception}: {message}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_texts_are_fixed() {
        let text = |value: &str| value.to_owned();
        let raised = |message: &str| ToolError::Raised {
            exception: text("ValueError"),
            message: text(message),
            traceback: text("line 3"),
        };
        let rows = [
            (ToolError::UnknownTool { name: text("dance") }, "Error: Unknown tool: dance"),
            (ToolError::TimedOut { limit: Duration::from_millis(100) }, "Error: Tool execution timed out"),
            (raised("no such side"), "Error: ValueError: no such side"),
            (raised(""), "Error: ValueError"),
            (ToolError::WrongType { got: text("dict") }, "Error: Tool must return string"),
        ];
        for (error, expected) in rows {
            assert_eq!(error.to_model_text(), expected);
        }
    }
}
