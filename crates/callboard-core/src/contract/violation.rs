//! What a model did wrong, in words it can act on.

use std::fmt;

/// The four ways a tool call can break its promise, and the one for structured answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViolationKind {
    /// The name is not among the tools on offer.
    UnknownTool,
    /// The arguments are not one JSON object.
    MalformedArguments,
    /// The arguments do not fit the tool's schema.
    InvalidArguments,
    /// `tool_choice` was not kept.
    ChoiceUnmet,
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
            Self::InvalidFormat => "invalid_response_format",
        }
    }
}

/// One broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise.
    pub kind: ViolationKind,
    /// What is wrong, for the model and for people.
    pub message: String,
}

impl Violation {
    /// A violation with its words.
    pub fn new(kind: ViolationKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
