//! How starting Python and running a character can fail.
//!
//! A failure of the character's own code is a result like any other; a failure of our processes is not its fault. The
//! texts that a model receives for each are in this file only; details are for the log.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
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
        /// Where in the character's own files it came from.
        place: Option<Box<CodePlace>>,
        /// How it came there.
        traceback: String,
    },
    /// It returned something other than text.
    #[error("it returned {}", not_text(.got))]
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

/// A place in a character's own files.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CodePlace {
    /// The file.
    pub file: PathBuf,
    /// The line.
    pub line: u32,
    /// The function that the line is in.
    pub function: String,
}

impl fmt::Display for CodePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} in {}", self.file.display(), self.line, self.function)
    }
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

    /// What went wrong and what to do about it, for the character's author. `took` is how long the tool ran.
    pub fn to_author_text(&self, tool: &str, took: Duration) -> String {
        match self {
            Self::Tool(ToolError::Raised { exception, message, place, .. }) => {
                let place = place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
                format!("{}{place}", raised(exception, message))
            }
            Self::Tool(ToolError::TimedOut { limit }) => {
                let (took, limit, more) = (took.as_millis(), limit.as_millis(), limit.as_millis().saturating_mul(2));
                format!(
                    "it was stopped after {took} ms, its limit is {limit} ms; make it faster, or write TOOL_TIMEOUT_MS = \
                     {{\"{tool}\": {more}}}"
                )
            }
            Self::Tool(ToolError::Crashed { stderr_tail, .. }) => format!("{self}{}", wrote(stderr_tail)),
            failure => failure.to_string(),
        }
    }

    /// Where an exception came from.
    pub fn place(&self) -> Option<&CodePlace> {
        match self {
            Self::Tool(ToolError::Raised { place, .. }) => place.as_deref(),
            _ => None,
        }
    }

    /// The traceback of an exception.
    pub fn traceback(&self) -> Option<&str> {
        match self {
            Self::Tool(ToolError::Raised { traceback, .. }) if !traceback.is_empty() => Some(traceback),
            _ => None,
        }
    }

    /// The same failure, with its place in a folder.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        if let Self::Tool(ToolError::Raised { place: Some(place), .. }) = &mut self {
            place.file = folder.join(&place.file);
        }
        self
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

/// A returned value that is not text, and what to return instead.
fn not_text(got: &str) -> String {
    let remedy = match got {
        "NoneType" => return "None, not text; is a `return` missing?".to_owned(),
        "dict" | "list" | "tuple" => "return json.dumps(…)",
        "bytes" | "bytearray" => "return it with .decode()",
        _ => "return str(…)",
    };
    format!("a value of the type {got}, not text; {remedy}")
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
            place: None,
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

    #[test]
    fn authors_get_the_place_and_the_remedy() {
        let took = Duration::from_millis(104);
        let place = CodePlace { file: "bard.py".into(), line: 7, function: "take_note".to_owned() };
        let raised = |place| ToolError::Raised {
            exception: "ValueError".to_owned(),
            message: "no such side".to_owned(),
            place,
            traceback: String::new(),
        };
        let returned = |got: &str| ToolError::WrongType { got: got.to_owned() };
        let rows = [
            (raised(Some(Box::new(place))), "ValueError: no such side at characters/bard.py:7 in take_note"),
            (raised(None), "ValueError: no such side"),
            (
                ToolError::TimedOut { limit: Duration::from_millis(100) },
                "it was stopped after 104 ms, its limit is 100 ms; make it faster, or write TOOL_TIMEOUT_MS = {\"roll\": 200}",
            ),
            (returned("NoneType"), "it returned None, not text; is a `return` missing?"),
            (returned("dict"), "it returned a value of the type dict, not text; return json.dumps(…)"),
            (returned("int"), "it returned a value of the type int, not text; return str(…)"),
        ];
        for (error, expected) in rows {
            let error = CallError::Tool(error).in_folder(Path::new("characters"));
            assert_eq!(error.to_author_text("roll", took), expected);
        }
    }
}
