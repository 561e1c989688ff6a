//! The items of a response's output and their parts: these types are the wire format.

use serde::Serialize;
use serde_json::{Value, json};

/// One item of the output.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutputItem {
    /// Text for the user.
    Message { id: String, status: Status, role: &'static str, content: Vec<OutputPart> },
    /// The model's thinking, as content or as its summary.
    Reasoning { id: String, status: Status, summary: Vec<OutputPart>, content: Vec<OutputPart> },
    /// A call of the client's own function.
    FunctionCall {
        id: String,
        status: Status,
        call_id: String,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
        arguments: String,
        #[serde(skip_serializing_if = "is_false")]
        abandoned: bool,
    },
    /// A call of the client's own tool that takes plain text.
    CustomToolCall {
        id: String,
        status: Status,
        call_id: String,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
        input: String,
        #[serde(skip_serializing_if = "is_false")]
        abandoned: bool,
    },
    /// A tool of a character, run here.
    McpCall {
        id: String,
        status: Status,
        server_label: String,
        name: String,
        arguments: String,
        output: Option<String>,
        error: Option<Value>,
        approval_request_id: Option<String>,
    },
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    InProgress,
    Completed,
    Incomplete,
    Failed,
}

/// A piece of a message or of thinking.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutputPart {
    OutputText { text: String, annotations: Vec<Value>, logprobs: Vec<Value> },
    Refusal { refusal: String },
    ReasoningText { text: String },
    SummaryText { text: String },
}

impl OutputItem {
    pub(super) fn message(id: String) -> Self {
        Self::Message { id, status: Status::InProgress, role: "assistant", content: Vec::new() }
    }

    pub(super) fn reasoning(id: String) -> Self {
        Self::Reasoning { id, status: Status::InProgress, summary: Vec::new(), content: Vec::new() }
    }

    /// A call without arguments yet; `own` is the client's namespace and name of the function.
    pub(super) fn function_call(id: String, call_id: String, own: (Option<&str>, &str)) -> Self {
        let (namespace, name) = (own.0.map(str::to_owned), own.1.to_owned());
        let (status, arguments) = (Status::InProgress, String::new());
        Self::FunctionCall { id, status, call_id, name, namespace, arguments, abandoned: false }
    }

    /// A call of a custom tool without its input yet.
    pub(super) fn custom_call(id: String, call_id: String, own: (Option<&str>, &str)) -> Self {
        let (namespace, name) = (own.0.map(str::to_owned), own.1.to_owned());
        let (status, input) = (Status::InProgress, String::new());
        Self::CustomToolCall { id, status, call_id, name, namespace, input, abandoned: false }
    }

    /// A tool that is about to be run here, without arguments yet.
    pub(super) fn mcp_call(id: String, server_label: String, name: String) -> Self {
        let (status, arguments) = (Status::InProgress, String::new());
        let (output, error, approval_request_id) = (None, None, None);
        Self::McpCall { id, status, server_label, name, arguments, output, error, approval_request_id }
    }

    pub(super) fn id(&self) -> &str {
        match self {
            Self::Message { id, .. }
            | Self::Reasoning { id, .. }
            | Self::FunctionCall { id, .. }
            | Self::CustomToolCall { id, .. }
            | Self::McpCall { id, .. } => id,
        }
    }

    pub(super) fn set_status(&mut self, new: Status) {
        match self {
            Self::Message { status, .. }
            | Self::Reasoning { status, .. }
            | Self::FunctionCall { status, .. }
            | Self::CustomToolCall { status, .. }
            | Self::McpCall { status, .. } => *status = new,
        }
    }

    /// The response failed or was cancelled: a whole call of the client's tools needs no output any more.
    pub(super) fn abandon(&mut self) {
        if let Self::FunctionCall { status: Status::Completed, abandoned, .. }
        | Self::CustomToolCall { status: Status::Completed, abandoned, .. } = self
        {
            *abandoned = true;
        }
    }

    pub(super) fn is_message(&self) -> bool {
        matches!(self, Self::Message { .. })
    }

    pub(super) fn is_reasoning(&self) -> bool {
        matches!(self, Self::Reasoning { .. })
    }

    /// The list that takes parts of this kind.
    pub(super) fn parts_mut(&mut self, kind: &OutputPart) -> Option<&mut Vec<OutputPart>> {
        match (self, kind) {
            (Self::Reasoning { summary, .. }, OutputPart::SummaryText { .. }) => Some(summary),
            (Self::Message { content, .. } | Self::Reasoning { content, .. }, _) => Some(content),
            _ => None,
        }
    }

    /// The part that was begun last, and its place among its kind.
    pub(super) fn last_part(&mut self) -> Option<(usize, &mut OutputPart)> {
        let parts = match self {
            Self::Message { content, .. } => content,
            Self::Reasoning { content, summary, .. } if content.is_empty() => summary,
            Self::Reasoning { content, .. } => content,
            Self::FunctionCall { .. } | Self::CustomToolCall { .. } | Self::McpCall { .. } => return None,
        };
        let place = parts.len().checked_sub(1)?;
        Some((place, parts.get_mut(place)?))
    }

    pub(super) fn push_arguments(&mut self, text: &str) {
        if let Self::FunctionCall { arguments, .. } | Self::McpCall { arguments, .. } = self {
            arguments.push_str(text);
        }
    }

    /// The result of a tool that was run here, or the error in its place.
    pub(super) fn set_result(&mut self, text: String, success: bool) {
        let Self::McpCall { status, output, error, .. } = self else { return };
        if success {
            *status = Status::Completed;
            *output = Some(text);
        } else {
            *status = Status::Failed;
            let content = json!([{"type": "text", "text": text}]);
            *error = Some(json!({"type": "mcp_tool_execution_error", "content": content}));
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl OutputPart {
    /// A part of text.
    pub(super) fn text() -> Self {
        Self::OutputText { text: String::new(), annotations: Vec::new(), logprobs: Vec::new() }
    }

    /// Whether both are of the same kind.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    pub(super) fn push(&mut self, more: &str) {
        match self {
            Self::OutputText { text, .. } | Self::ReasoningText { text } | Self::SummaryText { text } => {
                text.push_str(more);
            }
            Self::Refusal { refusal } => refusal.push_str(more),
        }
    }

    /// Adds an annotation and returns its place.
    pub(super) fn push_annotation(&mut self, annotation: Value) -> Option<usize> {
        let Self::OutputText { annotations, .. } = self else { return None };
        annotations.push(annotation);
        annotations.len().checked_sub(1)
    }

    pub(super) fn push_logprobs(&mut self, more: &[Value]) {
        if let Self::OutputText { logprobs, .. } = self {
            logprobs.extend_from_slice(more);
        }
    }
}
