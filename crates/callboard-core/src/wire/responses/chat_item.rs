//! Reads and checks one item of a conversation, as sent by a client or stored: what it means to a chat model.
//!
//! Items without a meaning for chat models (reasoning, calls of hosted tools) are skipped, because clients send their whole
//! history. An item of an unknown kind is refused, because it would be lost in silence.

use std::collections::HashSet;

use serde_json::Value;

use super::call_pairing::call_id_of;
use super::content::Content;
use super::typed_fields::Fields;
use super::{compaction_item, custom_tool};
use crate::model::BadRequest;

/// Kinds that are skipped, besides all that end in `_call` and `_call_output`.
const SKIPPED_KINDS: [&str; 9] = [
    "reasoning",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "tool_search_output",
    "program",
    "program_output",
    "additional_tools",
    "configuration_update",
];

/// The result of a tool whose turn ended while it ran.
const NO_RESULT: &str = "Error: the turn ended before this tool gave a result";

/// What an item means to a chat model.
#[derive(Debug, Clone)]
pub(super) enum ChatItem {
    /// A message.
    Message {
        /// Its role.
        role: MessageRole,
        /// Its content.
        content: Content,
    },
    /// The model called a tool of the client.
    Call(PastCall),
    /// The output of a client's tool.
    Output {
        /// The call that is answered.
        call_id: String,
        /// The answer.
        content: Content,
    },
    /// A tool that the server ran, with its result.
    Ran {
        /// The call.
        call: PastCall,
        /// The result, or the error.
        output: String,
    },
    /// A stored item, by its id.
    Reference(String),
    /// Nothing.
    Skipped,
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageRole {
    /// `system` and `developer`: not every chat server knows the second, so both are the first.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A call in a history.
#[derive(Debug, Clone)]
pub(super) struct PastCall {
    pub(super) call_id: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) arguments: String,
    /// False for a call that was cut off, or whose response failed; it needs no output.
    pub(super) whole: bool,
}

impl ChatItem {
    /// Reads and checks an item; `place` is its place in the request, such as `input[2]`.
    pub(super) fn read(item: &Value, place: &str) -> Result<Self, BadRequest> {
        let fields = Fields::at(item, place)?;
        match fields.text("type")? {
            Some("message") => message(fields),
            Some("function_call") => function_call(fields),
            Some("function_call_output" | "custom_tool_call_output") => output(fields),
            Some("custom_tool_call") => custom_call(fields),
            Some("mcp_call") => ran(fields),
            Some("item_reference") => reference(fields),
            Some("compaction") => compaction(fields),
            Some(kind) => skipped(kind, fields),
            None if fields.get("role").is_some() => message(fields),
            None if fields.get("id").is_some() => reference(fields),
            None => {
                let place = fields.place("type");
                Err(BadRequest::missing(&place, format!("{place} is missing, for instance \"message\"")))
            }
        }
    }
}

impl ChatItem {
    /// The call that this item answers.
    pub(super) fn answers(&self) -> Option<&str> {
        match self {
            Self::Output { call_id, .. } => Some(call_id),
            _ => None,
        }
    }

    /// A call that is not whole and was not run by the client. It is left out of the history.
    pub(super) fn is_abandoned(&self, answered: &HashSet<&str>) -> bool {
        matches!(self, Self::Call(call) if !call.whole && !answered.contains(call.call_id.as_str()))
    }
}

fn message(fields: Fields<'_>) -> Result<ChatItem, BadRequest> {
    fields.required("role", "write \"user\", \"system\", \"developer\" or \"assistant\"")?;
    let role = match fields.one_of("role", &["user", "system", "developer", "assistant"])? {
        Some("user") => MessageRole::User,
        Some("assistant") => MessageRole::Assistant,
        _ => MessageRole::System,
    };
    let content = fields.required("content", "write a string or a list of parts")?;
    let content = Content::read(content, &fields.place("content"), role == MessageRole::User)?;
    Ok(ChatItem::Message { role, content })
}

fn compaction(fields: Fields<'_>) -> Result<ChatItem, BadRequest> {
    let content = Content::of_text(compaction_item::read(fields)?);
    Ok(ChatItem::Message { role: MessageRole::User, content })
}

fn call(fields: Fields<'_>, arguments: String) -> Result<PastCall, BadRequest> {
    let call_id = fields.required_text("call_id", "it is the id by which the output answers the call")?;
    let name = fields.required_text("name", "it is the tool that was called")?;
    let namespace = fields.text("namespace")?.filter(|namespace| !namespace.is_empty());
    Ok(PastCall {
        call_id: call_id.to_owned(),
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
        arguments,
        whole: !matches!(fields.text("status")?, Some("incomplete" | "in_progress"))
            && !fields.boolean("abandoned")?.unwrap_or(false),
    })
}

fn function_call(fields: Fields<'_>) -> Result<ChatItem, BadRequest> {
    fields.required("arguments", "write the call's JSON text")?;
    let arguments = fields.text("arguments")?.unwrap_or_default();
    call(fields, arguments.to_owned()).map(ChatItem::Call)
}

fn custom_call(fields: Fields<'_>) -> Result<ChatItem, BadRequest> {
    fields.required("input", "write the text that the tool got")?;
    let input = fields.text("input")?.unwrap_or_default();
    call(fields, custom_tool::arguments(input)).map(ChatItem::Call)
}

fn output(fields: Fields<'_>) -> Result<ChatItem, BadRequest> {
    let call_id = fields.required_text("call_id", "it must be the call_id of the call that is answered")?;
    let output = fields.required("output", "an empty string is fine")?;
    let content = Content::read(output, &fields.place("output"), true)?;
    Ok(ChatItem::Output { call_id: call_id.to_owned(), content })
}

fn ran(fields: Fields<'_>) -> Result<ChatItem, BadRequest> {
    let id = fields.required_text("id", "it is the id of the call")?;
    let name = fields.required_text("name", "it is the tool that was run")?;
    let call = PastCall {
        call_id: call_id_of(id),
        namespace: None,
        name: name.to_owned(),
        arguments: fields.text("arguments")?.filter(|text| !text.is_empty()).unwrap_or("{}").to_owned(),
        whole: true,
    };
    let completed = matches!(fields.text("status")?, None | Some("completed"));
    let output = match (fields.text("output")?, fields.get("error")) {
        (Some(output), _) => output.to_owned(),
        (None, Some(error)) => error_text(error),
        (None, None) if completed => String::new(),
        (None, None) => NO_RESULT.to_owned(),
    };
    Ok(ChatItem::Ran { call, output })
}

fn error_text(error: &Value) -> String {
    let content = error.get("content").unwrap_or(error);
    match (content, content.get("message")) {
        (Value::String(text), _) | (_, Some(Value::String(text))) => text.clone(),
        (Value::Array(parts), _) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        _ => content.to_string(),
    }
}

fn reference(fields: Fields<'_>) -> Result<ChatItem, BadRequest> {
    Ok(ChatItem::Reference(fields.required_text("id", "it must be the id of a stored item")?.to_owned()))
}

fn skipped(kind: &str, fields: Fields<'_>) -> Result<ChatItem, BadRequest> {
    if SKIPPED_KINDS.contains(&kind) || kind.ends_with("_call") || kind.ends_with("_call_output") {
        return Ok(ChatItem::Skipped);
    }
    let place = fields.place("type");
    let message = match kind {
        "compaction_trigger" => format!("{place} is {kind:?}; send the items to /v1/responses/compact instead"),
        _ => format!("{place} is {kind:?}; known are message, function_call, function_call_output, item_reference, …"),
    };
    Err(BadRequest::at(place, "unsupported_value", message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn faults_name_their_place() {
        let table = [
            (json!("hello"), "input[2]", "invalid_type"),
            (json!({}), "input[2].type", "missing_required_field"),
            (json!({"type": 1}), "input[2].type", "invalid_type"),
            (json!({"type": "mesage"}), "input[2].type", "unsupported_value"),
            (json!({"type": "compaction"}), "input[2].encrypted_content", "missing_required_field"),
            (json!({"type": "compaction_trigger"}), "input[2].type", "unsupported_value"),
            (json!({"type": "message", "content": "x"}), "input[2].role", "missing_required_field"),
            (json!({"role": "tool", "content": "x"}), "input[2].role", "invalid_value"),
            (json!({"role": "user"}), "input[2].content", "missing_required_field"),
            (json!({"role": "user", "content": 5}), "input[2].content", "invalid_type"),
            (json!({"role": "user", "content": [1]}), "input[2].content[0]", "invalid_type"),
            (json!({"role": "user", "content": [{}]}), "input[2].content[0].type", "missing_required_field"),
            (json!({"role": "user", "content": [{"type": "video"}]}), "input[2].content[0].type", "invalid_value"),
            (
                json!({"role": "user", "content": [{"type": "input_text", "text": 1}]}),
                "input[2].content[0].text",
                "invalid_type",
            ),
            (
                json!({"role": "user", "content": [{"type": "input_image", "file_id": "file_1"}]}),
                "input[2].content[0].file_id",
                "unsupported_value",
            ),
            (
                json!({"role": "user", "content": [{"type": "input_file", "filename": "x"}]}),
                "input[2].content[0].file_data",
                "missing_required_field",
            ),
            (
                json!({"role": "system", "content": [{"type": "input_image", "image_url": "data:,"}]}),
                "input[2].content[0].type",
                "invalid_value",
            ),
            (
                json!({"type": "function_call", "name": "a", "arguments": "{}"}),
                "input[2].call_id",
                "missing_required_field",
            ),
            (
                json!({"type": "function_call", "call_id": "c", "arguments": "{}"}),
                "input[2].name",
                "missing_required_field",
            ),
            (
                json!({"type": "function_call", "call_id": "c", "name": "a", "arguments": {}}),
                "input[2].arguments",
                "invalid_type",
            ),
            (json!({"type": "function_call_output", "output": "x"}), "input[2].call_id", "missing_required_field"),
            (
                json!({"type": "function_call_output", "call_id": "", "output": "x"}),
                "input[2].call_id",
                "invalid_value",
            ),
            (json!({"type": "function_call_output", "call_id": "c"}), "input[2].output", "missing_required_field"),
            (json!({"type": "item_reference"}), "input[2].id", "missing_required_field"),
            (json!({"type": "mcp_call", "name": "a"}), "input[2].id", "missing_required_field"),
        ];
        for (item, param, code) in table {
            let error = ChatItem::read(&item, "input[2]").expect_err(&item.to_string());
            assert_eq!((error.param.as_deref(), error.code), (Some(param), code), "{item}");
        }
    }

    #[test]
    fn what_means_nothing_to_a_chat_model_is_skipped() {
        let kinds = ["reasoning", "web_search_call", "mcp_list_tools"];
        for kind in kinds {
            let item = json!({"type": kind});
            assert!(matches!(ChatItem::read(&item, "input[0]"), Ok(ChatItem::Skipped)), "{kind}");
        }
    }

    #[test]
    fn a_call_run_by_the_server_brings_its_result() {
        let table = [
            (json!({"output": "3"}), "3"),
            (json!({"output": null, "error": {"type": "mcp_protocol_error", "message": "m", "code": 1}}), "m"),
            (json!({"error": {"content": [{"type": "text", "text": "no"}], "type": "mcp_tool_execution_error"}}), "no"),
            (json!({}), ""),
            (json!({"status": "completed", "output": null, "error": null}), ""),
            (json!({"status": "failed", "output": "2"}), "2"),
            (json!({"status": "incomplete", "output": null}), NO_RESULT),
            (json!({"status": "in_progress"}), NO_RESULT),
        ];
        for (rest, expected) in table {
            let letters = "Ab3".repeat(8);
            let mut item =
                json!({"type": "mcp_call", "id": format!("mcp_{letters}"), "name": "roll", "arguments": "{}"});
            item.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            let Ok(ChatItem::Ran { call, output }) = ChatItem::read(&item, "input[0]") else { panic!("{item}") };
            assert_eq!((call.call_id, output.as_str()), (format!("call_{letters}"), expected));
        }
    }
}
