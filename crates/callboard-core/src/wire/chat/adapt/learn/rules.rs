//! The rules by which a complaint is understood, the surest first.

use super::complaint::Complaint;
use super::fields::{self, refuses};
use super::roles;
use super::sent::Sent;
use crate::wire::chat::adapt::Quirk;

/// What a complaint means for a request, if this rule knows it.
pub(super) type Rule = fn(&Complaint, &Sent<'_>) -> Option<Quirk>;

pub(super) const RULES: [Rule; 16] = [
    short_call_ids,
    tools_need_setup,
    fields::message_field,
    roles::user_after_tool,
    roles::alternation,
    roles::role,
    content_shape,
    part_field,
    empty_content,
    strict,
    response_format,
    tool_choice,
    parallel_tool_calls,
    limit_by_another_name,
    tools,
    fields::field,
];

/// Rules whose words mean nothing else, whatever the status.
pub(super) const CERTAIN: [Rule; 7] =
    [short_call_ids, tools_need_setup, roles::user_after_tool, roles::alternation, roles::role, content_shape, tools];

fn any(words: &str, signs: &[&str]) -> bool {
    signs.iter().any(|sign| words.contains(sign))
}

fn short_call_ids(Complaint { words, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let nine = ["length of 9", "length 9", "9 characters", "9 alphanumeric", "9-character", "{9}"];
    (words.contains("id") && any(words, &nine) && sent.has_other_ids()).then_some(Quirk::ShortCallIds)
}

/// Servers that would take tools if they had been started otherwise, and templates that take one call at a time.
fn tools_need_setup(Complaint { words, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let setup = ["--enable-auto-tool-choice", "--tool-call-parser", "--jinja", "cannot use tools with stream"];
    let single = words.contains("single tool-call") && sent.has_several_calls();
    (single || any(words, &setup) && sent.has_tools()).then_some(Quirk::Tools)
}

/// Content that is null, or a list, where a string is wanted.
fn content_shape(complaint: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let Complaint { words, path, .. } = complaint;
    if !speaks_of_content(complaint) {
        return None;
    }
    let null_is_named = any(
        words,
        &["null", "none is not", "nil", "received undefined", "missing field", "field required", "is required"],
    );
    let list_is_named = any(
        words,
        &[
            "sequence",
            "but is array",
            "got an array",
            "array into",
            "got array",
            "got list",
            "from array",
            "received array",
        ],
    );
    let string_is_due = any(
        words,
        &[
            "expected a string",
            "expected 'string'",
            "must be a string",
            "be a valid string",
            "be a string",
            "must be string",
            "str type expected",
            "only supports string",
            "converted to system.string",
            "of untagged enum",
            "unknown content type",
            "unsupported types string and sequence",
        ],
    );
    let list_is_fine =
        any(words, &["string or an array", "string or array", "string or a list", "string or list", "or an object"]);
    let null = sent.has_null_content(path) && (null_is_named || string_is_due && !list_is_named);
    let parts = sent.has_text_parts(path) && (list_is_named || string_is_due && !null_is_named && !list_is_fine);
    if null {
        return Some(Quirk::NullContent);
    }
    parts.then_some(Quirk::ContentParts)
}

/// Some name only the message, or only the JSON type.
fn speaks_of_content(Complaint { words, path, .. }: &Complaint) -> bool {
    let in_message = path.first().is_some_and(|root| root == "messages");
    match path.last() {
        Some(last) if in_message && last == "content" => true,
        Some(last) if in_message && last.bytes().all(|byte| byte.is_ascii_digit()) => true,
        Some(_) if in_message => path.iter().any(|part| part == "content"),
        _ => words.contains("content") || any(words, &["must be string, but is", "types string and sequence"]),
    }
}

/// A field of a part that is not known, such as a mark for a cache: the text can do without.
fn part_field(Complaint { words, path, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let within = path.iter().skip_while(|part| *part != "content").count() > 1;
    let in_message = path.first().is_some_and(|root| root == "messages");
    (in_message && within && refuses(words) && sent.has_text_parts(path)).then_some(Quirk::ContentParts)
}

fn empty_content(complaint: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let Complaint { words, path, .. } = complaint;
    let empty = ["empty", "at least 1 character", "blank", "too short", "non-whitespace", "must have content"];
    let about = ["content", "text"];
    let empty = any(words, &empty) && (any(words, &about) || path.last().is_some_and(|last| last == "content"));
    if !empty {
        return None;
    }
    if sent.has_empty_content(path) {
        return Some(Quirk::EmptyContent);
    }
    sent.has_null_content(path).then_some(Quirk::NullContent)
}

fn response_format(Complaint { words, path, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let format = sent.format()?;
    let named = ["response_format", "response format", "json_schema", "json_object", "json mode", "structured output"];
    if !any(words, &named) && path.first().is_none_or(|root| root != "response_format") {
        return None;
    }
    let only_schemas = any(words, &["must be 'json_schema'", "must be \"json_schema\"", "must be `json_schema`"]);
    if only_schemas && format != "json_schema" {
        return Some(Quirk::JsonObject);
    }
    let refused =
        refuses(words) || any(words, &["invalid", "unknown variant", "input should be", "cannot be combined"]);
    // What is wrong within a schema is the client's to mend.
    let about_schema = path.iter().any(|part| part == "json_schema") && path.last().is_some_and(|last| last != "type");
    (refused && !about_schema && format != "text").then_some(Quirk::ResponseFormat)
}

fn strict(Complaint { words, path, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let named = path.last().is_some_and(|last| last == "strict") || fields::names(words, "strict");
    (named && refuses(words) && sent.has_strict()).then_some(Quirk::Strict)
}

fn tool_choice(Complaint { words, path, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let named = any(words, &["tool_choice", "tool choice", "toolchoice"]);
    let named = named || path.first().is_some_and(|root| root == "tool_choice");
    let wrong =
        ["invalid", "must be", "must either be", "expected", "unknown variant", "input should be", "only support"];
    (named && sent.forces_call() && (refuses(words) || any(words, &wrong))).then_some(Quirk::ToolChoice)
}

fn parallel_tool_calls(Complaint { words, path, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let named = any(words, &["parallel_tool_calls", "parallel tool call", "parallel function call"]);
    let named = named || path.first().is_some_and(|root| root == "parallel_tool_calls");
    (named && refuses(words) && sent.has("parallel_tool_calls")).then_some(Quirk::ParallelToolCalls)
}

/// `Use 'max_completion_tokens' instead`, and the reverse.
fn limit_by_another_name(Complaint { words, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let instead = words.split("use ").skip(1).map(|rest| rest.trim_start_matches(['\'', '"', '`']));
    instead.into_iter().find_map(|rest| {
        if rest.starts_with("max_completion_tokens") && sent.has("max_tokens") {
            return Some(Quirk::MaxTokens);
        }
        (rest.starts_with("max_tokens") && sent.has("max_completion_tokens")).then_some(Quirk::MaxCompletionTokens)
    })
}

/// A server or model without native tools.
fn tools(Complaint { words, path, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    if !sent.has_tools() {
        return None;
    }
    let named =
        any(words, &["tool use", "tool calling", "tool calls", "tool-calling", "function call", "functions are"]);
    let named = named || words.starts_with("tools ") || fields::names(words, "tools") || path.as_slice() == ["tools"];
    // A list of validation errors names every field in sight; what it refuses is said by the rules before this one.
    let other = any(words, &["parallel", "tool_choice", "type of tool", "tool type", "input should be"]);
    (named && !other && refuses(words)).then_some(Quirk::Tools)
}
