//! One chunk of a reply, or a whole reply, as deltas. Odd forms of servers are normalised here.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::finish_reason;
use super::lenient_text::LenientText;
use super::reply_fault::ReplyFault;
use crate::model::{CallFragment, Delta, Usage};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(default, borrow)]
    model: LenientText<'a>,
    #[serde(default, borrow)]
    choices: Option<Vec<Option<Choice<'a>>>>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default, borrow)]
    service_tier: LenientText<'a>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default, borrow)]
    delta: Option<Message<'a>>,
    #[serde(default, borrow)]
    message: Option<Message<'a>>,
    #[serde(default, borrow)]
    finish_reason: LenientText<'a>,
    #[serde(default)]
    logprobs: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default, borrow)]
    content: LenientText<'a>,
    #[serde(default, borrow)]
    reasoning_content: LenientText<'a>,
    #[serde(default, borrow)]
    reasoning: LenientText<'a>,
    #[serde(default, borrow)]
    refusal: LenientText<'a>,
    #[serde(default, borrow)]
    tool_calls: Option<Vec<Option<WireCall<'a>>>>,
    #[serde(default, borrow)]
    function_call: Option<WireFunction<'a>>,
}

#[derive(Deserialize)]
struct WireCall<'a> {
    #[serde(default, borrow)]
    index: LenientText<'a>,
    #[serde(default, borrow)]
    id: LenientText<'a>,
    #[serde(default, borrow)]
    function: Option<WireFunction<'a>>,
}

#[derive(Deserialize)]
struct WireFunction<'a> {
    #[serde(default, borrow)]
    name: LenientText<'a>,
    #[serde(default, borrow)]
    arguments: LenientText<'a>,
}

/// What a reply says besides its deltas.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// There was a choice, even if it said nothing.
    pub(super) has_choice: bool,
    /// The model that answers, by the name that the server gives it.
    pub(super) model: Option<String>,
}

/// Appends the deltas of a chunk.
pub(super) fn read_chunk(
    data: &[u8],
    whole: bool,
    marks: &mut Marks,
    deltas: &mut Vec<Delta>,
) -> Result<(), ReplyFault> {
    let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|error| ReplyFault::unreadable(data, &error))?;
    if let Some(error) = chunk.error.filter(says_something) {
        return Err(ReplyFault::reported(&error));
    }
    if chunk.choices.is_none() && chunk.usage.is_none() {
        return error_without_a_name(data).map_or(Ok(()), Err);
    }
    if marks.model.is_none() {
        marks.model = chunk.model.into_text();
    }
    if let Some(choice) = chunk.choices.into_iter().flatten().flatten().next() {
        marks.has_choice = true;
        read_choice(choice, whole, deltas)?;
    }
    if let Some(Value::Object(usage)) = chunk.usage {
        let service_tier = chunk.service_tier.into_text();
        deltas.push(Delta::Usage(Usage { service_tier, ..read_usage(usage) }));
    }
    Ok(())
}

/// Some servers send an empty field with every chunk.
fn says_something(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// Some servers send a bare error instead of a chunk: `{"object": "error", "message": …}`, `{"detail": …}`.
fn error_without_a_name(data: &[u8]) -> Option<ReplyFault> {
    let value: Value = serde_json::from_slice(data).ok()?;
    let named = ["object", "type"].iter().any(|key| value.get(key).is_some_and(|kind| kind == "error"));
    let worded = value.get("detail").is_some() || value.get("message").is_some_and(Value::is_string);
    (named || worded).then(|| ReplyFault::reported(&value))
}

fn read_choice(choice: Choice<'_>, whole: bool, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
    if let Some(message) = choice.delta.or(choice.message) {
        read_message(message, whole, deltas);
    }
    if let Some(logprobs) = choice.logprobs.filter(|value| !value.is_null()) {
        deltas.push(Delta::Logprobs(logprobs));
    }
    if let Some(error) = choice.error.filter(says_something) {
        return Err(ReplyFault::reported(&error));
    }
    match choice.finish_reason.into_text() {
        Some(word) => deltas.push(Delta::Finish(finish_reason::read(&word)?)),
        None if whole => deltas.push(Delta::Text(String::new())),
        None => {}
    }
    Ok(())
}

fn read_message(message: Message<'_>, whole: bool, deltas: &mut Vec<Delta>) {
    let reasoning = message.reasoning_content.into_content().or_else(|| message.reasoning.into_content());
    deltas.extend(reasoning.map(Delta::Reasoning));
    deltas.extend(message.content.into_content().map(Delta::Text));
    deltas.extend(message.refusal.into_text().map(Delta::Refusal));
    let calls: Vec<WireCall<'_>> = message.tool_calls.into_iter().flatten().flatten().collect();
    // Some servers send the old form as well as the new one; it is the same call.
    let old_form = message.function_call.filter(|_| calls.is_empty());
    for call in calls {
        let index = call.index.as_index();
        let id = call.id.into_text();
        deltas.push(Delta::Call(fragment(index, id, call.function, whole)));
    }
    if let Some(function) = old_form {
        deltas.push(Delta::Call(fragment(Some(0), None, Some(function), whole)));
    }
}

fn fragment(index: Option<u64>, id: Option<String>, function: Option<WireFunction<'_>>, whole: bool) -> CallFragment {
    let Some(function) = function else { return CallFragment { index, id, whole, ..CallFragment::default() } };
    let object = matches!(function.arguments, LenientText::Other(_));
    let (name, arguments) = (function.name.into_text(), function.arguments.into_arguments());
    CallFragment { index, id, name, arguments, object, whole }
}

fn read_usage(mut usage: Map<String, Value>) -> Usage {
    let mut count = |key: &str| usage.remove(key).and_then(|value| value.as_u64()).unwrap_or(0);
    let (prompt_tokens, completion_tokens, _) =
        (count("prompt_tokens"), count("completion_tokens"), count("total_tokens"));
    Usage { prompt_tokens, completion_tokens, details: usage, ..Usage::default() }
}
