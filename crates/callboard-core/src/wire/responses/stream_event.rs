//! The events of a response stream; these types are the wire format. The writer adds the sequence number.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::output_item::{OutputItem, OutputPart};

/// One event of a stream.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type")]
pub(super) enum StreamEvent {
    #[serde(rename = "response.created")]
    Created { response: Box<RawValue> },
    #[serde(rename = "response.in_progress")]
    InProgress { response: Box<RawValue> },
    #[serde(rename = "response.completed")]
    Completed { response: Box<RawValue> },
    #[serde(rename = "response.incomplete")]
    Incomplete { response: Box<RawValue> },
    #[serde(rename = "response.failed")]
    Failed { response: Box<RawValue> },
    #[serde(rename = "error")]
    Error { code: String, message: String, param: Option<String>, error: Value },
    #[serde(rename = "response.output_item.added")]
    ItemAdded { output_index: usize, item: OutputItem },
    #[serde(rename = "response.output_item.done")]
    ItemDone { output_index: usize, item: OutputItem },
    #[serde(rename = "response.content_part.added")]
    PartAdded { item_id: String, output_index: usize, content_index: usize, part: OutputPart },
    #[serde(rename = "response.content_part.done")]
    PartDone { item_id: String, output_index: usize, content_index: usize, part: OutputPart },
    #[serde(rename = "response.output_text.delta")]
    TextDelta { item_id: String, output_index: usize, content_index: usize, delta: String, logprobs: Vec<Value> },
    #[serde(rename = "response.output_text.done")]
    TextDone { item_id: String, output_index: usize, content_index: usize, text: String, logprobs: Vec<Value> },
    #[serde(rename = "response.output_text.annotation.added")]
    AnnotationAdded {
        item_id: String,
        output_index: usize,
        content_index: usize,
        annotation_index: usize,
        annotation: Value,
    },
    #[serde(rename = "response.refusal.delta")]
    RefusalDelta { item_id: String, output_index: usize, content_index: usize, delta: String },
    #[serde(rename = "response.refusal.done")]
    RefusalDone { item_id: String, output_index: usize, content_index: usize, refusal: String },
    #[serde(rename = "response.reasoning_text.delta")]
    ReasoningDelta { item_id: String, output_index: usize, content_index: usize, delta: String },
    #[serde(rename = "response.reasoning_text.done")]
    ReasoningDone { item_id: String, output_index: usize, content_index: usize, text: String },
    #[serde(rename = "response.reasoning_summary_part.added")]
    SummaryPartAdded { item_id: String, output_index: usize, summary_index: usize, part: OutputPart },
    #[serde(rename = "response.reasoning_summary_part.done")]
    SummaryPartDone { item_id: String, output_index: usize, summary_index: usize, part: OutputPart },
    #[serde(rename = "response.reasoning_summary_text.delta")]
    SummaryDelta { item_id: String, output_index: usize, summary_index: usize, delta: String },
    #[serde(rename = "response.reasoning_summary_text.done")]
    SummaryDone { item_id: String, output_index: usize, summary_index: usize, text: String },
    #[serde(rename = "response.function_call_arguments.delta")]
    CallDelta { item_id: String, output_index: usize, delta: String },
    #[serde(rename = "response.function_call_arguments.done")]
    CallDone { item_id: String, output_index: usize, name: String, arguments: String },
    #[serde(rename = "response.custom_tool_call_input.delta")]
    CustomDelta { item_id: String, output_index: usize, delta: String },
    #[serde(rename = "response.custom_tool_call_input.done")]
    CustomDone { item_id: String, output_index: usize, input: String },
    #[serde(rename = "response.mcp_call.in_progress")]
    McpInProgress { item_id: String, output_index: usize },
    #[serde(rename = "response.mcp_call_arguments.delta")]
    McpDelta { item_id: String, output_index: usize, delta: String },
    #[serde(rename = "response.mcp_call_arguments.done")]
    McpDone { item_id: String, output_index: usize, arguments: String },
    #[serde(rename = "response.mcp_call.completed")]
    McpCompleted { item_id: String, output_index: usize },
    #[serde(rename = "response.mcp_call.failed")]
    McpFailed { item_id: String, output_index: usize },
}

/// The position of a part.
#[derive(Debug, Clone)]
pub(super) struct PartPosition {
    pub(super) item_id: String,
    pub(super) output_index: usize,
    pub(super) index: usize,
}

impl StreamEvent {
    /// A part begins.
    pub(super) fn part_added(at: PartPosition, part: OutputPart) -> Self {
        let PartPosition { item_id, output_index, index } = at;
        match part {
            OutputPart::SummaryText { .. } => {
                Self::SummaryPartAdded { item_id, output_index, summary_index: index, part }
            }
            _ => Self::PartAdded { item_id, output_index, content_index: index, part },
        }
    }

    /// A part grows.
    pub(super) fn part_delta(at: PartPosition, part: &OutputPart, delta: String, logprobs: Vec<Value>) -> Self {
        let PartPosition { item_id, output_index, index: content_index } = at;
        match part {
            OutputPart::OutputText { .. } => Self::TextDelta { item_id, output_index, content_index, delta, logprobs },
            OutputPart::Refusal { .. } => Self::RefusalDelta { item_id, output_index, content_index, delta },
            OutputPart::ReasoningText { .. } => Self::ReasoningDelta { item_id, output_index, content_index, delta },
            OutputPart::SummaryText { .. } => {
                Self::SummaryDelta { item_id, output_index, summary_index: content_index, delta }
            }
        }
    }

    /// A part is complete: its content, and its end.
    pub(super) fn part_done(at: PartPosition, part: OutputPart) -> [Self; 2] {
        let PartPosition { item_id, output_index, index: content_index } = at;
        let id = item_id.clone();
        let said = match part.clone() {
            OutputPart::OutputText { text, logprobs, .. } => {
                Self::TextDone { item_id, output_index, content_index, text, logprobs }
            }
            OutputPart::Refusal { refusal } => Self::RefusalDone { item_id, output_index, content_index, refusal },
            OutputPart::ReasoningText { text } => Self::ReasoningDone { item_id, output_index, content_index, text },
            OutputPart::SummaryText { text } => {
                Self::SummaryDone { item_id, output_index, summary_index: content_index, text }
            }
        };
        let over = match part {
            OutputPart::SummaryText { .. } => {
                Self::SummaryPartDone { item_id: id, output_index, summary_index: content_index, part }
            }
            _ => Self::PartDone { item_id: id, output_index, content_index, part },
        };
        [said, over]
    }
}
