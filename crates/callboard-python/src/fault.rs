//! How running a character can fail: its own code failed, which is a value like any other result, or our plumbing did.
//!
//! The words that a model is given for each are here, and nowhere else; details are for the log.

use std::time::Duration;

use thiserror::Error;

/// Why a character gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Failure {
    /// The character's code failed.
    #[error(transparent)]
    Fault(#[from] ToolFault),
    /// The processes that run it failed.
    #[error(transparent)]
    Stage(#[from] StageFailure),
}

/// How a character's code fails.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ToolFault {
    /// No tool has this name.
    #[error("there is no tool {name:?}")]
    UnknownTool {
        /// The name that was called.
        name: String,
    },
    /// It ran past its deadline and was killed.
    #[error("it was killed, since it took longer than {} ms", .limit.as_millis())]
    TimedOut {
        /// How long it may take.
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
    Crashed {
        /// What became of the process, such as `ended by SIGSEGV`.
        how: String,
        /// The last it wrote to standard error.
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
    /// It keeps something that JSON cannot hold.
    #[error("{path} is {found}, and so cannot be kept; {remedy}")]
    StateNotJson {
        /// Where it is kept, such as `self.scores['ann']`.
        path: String,
        /// What is there.
        found: String,
        /// What to keep instead.
        remedy: String,
    },
    /// It keeps too much.
    #[error("its state is {size} bytes of JSON, at most {limit} are allowed")]
    StateTooLarge {
        /// The size of the state.
        size: u64,
        /// How large it may be.
        limit: u64,
    },
}

/// How our own plumbing fails. None of these is the character's doing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StageFailure {
    /// The company has been shut down.
    #[error("the company is closed")]
    Closed,
    /// A process could not be started.
    #[error("a process could not be started: {0}")]
    NotStarted(String),
    /// A process said something it should not.
    #[error("a process broke the protocol: {0}")]
    Protocol(String),
    /// What was handed in is not JSON of the right form.
    #[error("{0}")]
    InvalidOrder(String),
}

impl Failure {
    /// What the model is told.
    pub fn to_model_text(&self) -> String {
        match self {
            Self::Fault(fault) => fault.to_model_text(),
            Self::Stage(_) => "Error: Tool execution failed - internal error".to_owned(),
        }
    }

    /// The label of `character_tool_errors_total`.
    pub fn error_type(&self) -> &'static str {
        match self {
            Self::Fault(ToolFault::TimedOut { .. }) => "timeout",
            Self::Fault(ToolFault::UnknownTool { .. }) => "validation",
            _ => "execution",
        }
    }
}

impl ToolFault {
    /// What the model is told.
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
    fn models_are_told_in_fixed_words() {
        let text = |value: &str| value.to_owned();
        let raised = |message: &str| ToolFault::Raised {
            exception: text("ValueError"),
            message: text(message),
            traceback: text("line 3"),
        };
        let rows = [
            (ToolFault::UnknownTool { name: text("dance") }, "Error: Unknown tool: dance"),
            (ToolFault::TimedOut { limit: Duration::from_millis(100) }, "Error: Tool execution timed out"),
            (raised("no such side"), "Error: ValueError: no such side"),
            (raised(""), "Error: ValueError"),
            (ToolFault::WrongType { got: text("dict") }, "Error: Tool must return string"),
        ];
        for (fault, expected) in rows {
            assert_eq!(fault.to_model_text(), expected);
        }
    }
}
