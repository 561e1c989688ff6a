//! The result of a tool that was run here: the text for the model, and the outcome.

use super::character_turn::CANCELLED;
use crate::contract::ViolationKind;
use crate::model::CallId;

/// The result of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call that is answered.
    pub id: CallId,
    /// The text for the model.
    pub text: String,
    /// Success, or the kind of failure.
    pub outcome: ToolOutcome,
    /// The tool, and the arguments it was run with, where it was run.
    pub ran: Option<Ran>,
    /// What the character's author should know about it; not sent to the model.
    pub remark: Option<AuthorRemark>,
}

/// What went wrong with a call, or nearly did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthorRemark {
    /// In one line, with the remedy.
    pub summary: String,
    /// The traceback of an exception.
    pub traceback: Option<String>,
}

/// A tool that was run, with the arguments as it got them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The tool.
    pub tool: String,
    /// JSON text.
    pub arguments: String,
}

/// The outcome of a call; the words are used in traces and metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutcome {
    /// It ran and answered.
    Success,
    /// There is no such tool.
    UnknownTool,
    /// Its arguments were not JSON.
    JsonParse,
    /// Its arguments did not fit.
    Validation,
    /// It exceeded its deadline and was killed.
    Timeout,
    /// It failed.
    Execution,
    /// Not run, because the user interrupted.
    Cancelled,
    /// Not run, because of the limit of calls per response.
    OverLimit,
}

impl ToolOutcome {
    /// True when the tool was started.
    #[must_use]
    pub fn has_run(self) -> bool {
        matches!(self, Self::Success | Self::Timeout | Self::Execution)
    }

    /// True when the call was refused for its name, its arguments or a limit, and the tool was not started.
    #[must_use]
    pub fn is_refused(self) -> bool {
        matches!(self, Self::UnknownTool | Self::JsonParse | Self::Validation | Self::OverLimit)
    }

    /// `ok`, `error` or `cancelled`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "ok",
            Self::Cancelled => "cancelled",
            _ => "error",
        }
    }

    /// The kind of failure, for an error.
    #[must_use]
    pub fn error_type(self) -> Option<&'static str> {
        match self {
            Self::Success | Self::Cancelled => None,
            Self::UnknownTool => Some("unknown_tool"),
            Self::JsonParse => Some("json_parse"),
            Self::Validation => Some("validation"),
            Self::Timeout => Some("timeout"),
            Self::Execution => Some("execution"),
            Self::OverLimit => Some("over_limit"),
        }
    }
}

impl ToolResult {
    /// The result of a call that was cancelled by an interruption.
    #[must_use]
    pub fn cancelled(id: CallId) -> Self {
        Self { id, text: CANCELLED.to_owned(), outcome: ToolOutcome::Cancelled, ran: None, remark: None }
    }

    /// At most `most` characters of the text, with the cut marked.
    #[must_use]
    pub fn shortened_text(&self, most: usize) -> String {
        let Some((at, _)) = self.text.char_indices().nth(most) else { return self.text.clone() };
        let all = self.text.chars().count();
        format!("{}… [cut: {most} of {all} characters]", self.text.get(..at).unwrap_or_default())
    }
}

impl From<ViolationKind> for ToolOutcome {
    fn from(kind: ViolationKind) -> Self {
        match kind {
            ViolationKind::UnknownTool | ViolationKind::ChoiceUnmet => Self::UnknownTool,
            ViolationKind::MalformedArguments => Self::JsonParse,
            ViolationKind::InvalidArguments | ViolationKind::InvalidFormat => Self::Validation,
            ViolationKind::TooManyCalls => Self::OverLimit,
        }
    }
}
