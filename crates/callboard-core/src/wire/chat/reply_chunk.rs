//! One chunk of a reply, or a whole reply, as deltas. Odd forms of servers are normalised here.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::chunk_lists::{First, Items};
use super::read_finish_reason;
use super::reply_fault::ReplyFault;
use crate::model::{CallFragment, Delta, Usage};

// Every field may have the wrong type: fields that should be text are read as any value.

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk {
    model: Value,
    choices: Option<First<Choice>>,
    usage: Option<Value>,
    service_tier: Value,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice {
    delta: Option<Message>,
    message: Option<Message>,
    finish_reason: Value,
    logprobs: Option<Value>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    content: Value,
    reasoning_content: Value,
    reasoning: Value,
    refusal: Value,
    tool_calls: Option<Items<WireCall>>,
    function_call: Option<WireFunction>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireCall {
    index: Value,
    id: Value,
    function: Option<WireFunction>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireFunction {
    name: Value,
    arguments: Value,
}

/// What a reply contains besides its deltas.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// There was a choice, even an empty one.
    pub(super) has_choice: bool,
    /// The server's name for the model.
    pub(super) model: Option<String>,
}

/// Appends the deltas of a chunk.
pub(super) fn read_chunk(
    data: &[u8],
    whole: bool,
    marks: &mut Marks,
    deltas: &mut Vec<Delta>,
) -> Result<(), ReplyFault> {
    let chunk: Chunk = serde_json::from_slice(data).map_err(|error| ReplyFault::unreadable(data, &error))?;
    if let Some(error) = chunk.error.filter(is_error) {
        return Err(ReplyFault::reported(&error));
    }
    if chunk.choices.is_none() && chunk.usage.is_none() {
        return bare_error(data).map_or(Ok(()), Err);
    }
    if marks.model.is_none() {
        marks.model = text(chunk.model);
    }
    if let Some(choice) = chunk.choices.and_then(|First(choice)| choice) {
        marks.has_choice = true;
        read_choice(choice, whole, deltas)?;
    }
    if let Some(Value::Object(usage)) = chunk.usage {
        let service_tier = text(chunk.service_tier);
        deltas.push(Delta::Usage(Usage { service_tier, ..read_usage(usage) }));
    }
    Ok(())
}

/// Some servers send an empty `error` with every chunk.
fn is_error(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// Some servers send a bare error instead of a chunk: `{"object": "error", "message": …}`, `{"detail": …}`.
fn bare_error(data: &[u8]) -> Option<ReplyFault> {
    let value: Value = serde_json::from_slice(data).ok()?;
    let named = ["object", "type"].iter().any(|key| value.get(key).is_some_and(|kind| kind == "error"));
    let worded = value.get("detail").is_some() || value.get("message").is_some_and(Value::is_string);
    (named || worded).then(|| ReplyFault::reported(&value))
}

fn read_choice(choice: Choice, whole: bool, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
    if let Some(message) = choice.delta.or(choice.message) {
        read_message(message, whole, deltas);
    }
    if let Some(logprobs) = choice.logprobs.filter(|value| !value.is_null()) {
        deltas.push(Delta::Logprobs(logprobs));
    }
    if let Some(error) = choice.error.filter(is_error) {
        return Err(ReplyFault::reported(&error));
    }
    match text(choice.finish_reason) {
        Some(word) => deltas.push(Delta::Finish(read_finish_reason::read(&word)?)),
        None if whole => deltas.push(Delta::Text(String::new())),
        None => {}
    }
    Ok(())
}

fn read_message(message: Message, whole: bool, deltas: &mut Vec<Delta>) {
    let reasoning = content(message.reasoning_content).or_else(|| content(message.reasoning));
    deltas.extend(reasoning.map(Delta::Reasoning));
    deltas.extend(content(message.content).map(Delta::Text));
    deltas.extend(text(message.refusal).map(Delta::Refusal));
    let calls = message.tool_calls.map_or_else(Vec::new, |Items(calls)| calls);
    // Some servers send the old form as well as the new one; it is the same call.
    let old_form = message.function_call.filter(|_| calls.is_empty());
    for call in calls {
        deltas.push(Delta::Call(fragment(index(&call.index), text(call.id), call.function, whole)));
    }
    if let Some(function) = old_form {
        deltas.push(Delta::Call(fragment(Some(0), None, Some(function), whole)));
    }
}

fn fragment(index: Option<u64>, id: Option<String>, function: Option<WireFunction>, whole: bool) -> CallFragment {
    let Some(function) = function else { return CallFragment { index, id, whole, ..CallFragment::default() } };
    let object = !matches!(function.arguments, Value::Null | Value::String(_));
    let (name, arguments) = (text(function.name), arguments(function.arguments));
    CallFragment { index, id, name, arguments, object, whole }
}

/// A string that is not empty.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// The text of a message: a string, or the text parts of a list.
fn content(value: Value) -> Option<String> {
    let Value::Array(parts) = value else { return text(value) };
    let joined: String = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
    (!joined.is_empty()).then_some(joined)
}

/// The arguments of a call: a string as it is, any other value as JSON text.
fn arguments(value: Value) -> Option<String> {
    match value {
        Value::Null | Value::String(_) => text(value),
        other => Some(other.to_string()),
    }
}

/// A number, or a string with one.
fn index(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn read_usage(mut usage: Map<String, Value>) -> Usage {
    let mut count = |key: &str| usage.remove(key).and_then(|value| value.as_u64()).unwrap_or(0);
    let (prompt_tokens, completion_tokens, _) =
        (count("prompt_tokens"), count("completion_tokens"), count("total_tokens"));
    Usage { prompt_tokens, completion_tokens, details: usage, ..Usage::default() }
}
