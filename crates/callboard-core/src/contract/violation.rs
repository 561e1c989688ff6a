//! Violations of the contract by a model.

use std::fmt;

/// Five violations by tool calls, and one by structured answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViolationKind {
    /// The name is not among the tools on offer.
    UnknownTool,
    /// The arguments are not one JSON object.
    MalformedArguments,
    /// The arguments do not fit the tool's schema.
    InvalidArguments,
    /// `tool_choice` was not followed.
    ChoiceUnmet,
    /// The reply has more calls than are accepted.
    TooManyCalls,
    /// The answer does not fit `response_format`.
    InvalidFormat,
}

impl ViolationKind {
    /// The error code that clients see, and the label on `/metrics`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool_call",
            Self::MalformedArguments => "malformed_tool_arguments",
            Self::InvalidArguments => "invalid_tool_arguments",
            Self::ChoiceUnmet => "tool_choice_unmet",
            Self::TooManyCalls => "too_many_tool_calls",
            Self::InvalidFormat => "invalid_response_format",
        }
    }
}

/// One violation of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which rule.
    pub kind: ViolationKind,
    /// What is wrong, for the model and for people.
    pub message: String,
    /// The tool, where the call names one.
    pub tool: Option<String>,
    /// The places in the arguments, as JSON Pointers, where there are some.
    pub paths: Vec<String>,
}

impl Violation {
    /// A violation with its message.
    pub fn new(kind: ViolationKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), tool: None, paths: Vec::new() }
    }

    /// The same violation, by a call of this tool.
    #[must_use]
    pub(super) fn of_tool(self, tool: &str) -> Self {
        Self { tool: Some(tool.to_owned()), ..self }
    }

    /// The same violation, at these places.
    #[must_use]
    pub(super) fn at(self, paths: Vec<String>) -> Self {
        Self { paths, ..self }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
