//! One chunk of a reply, or a whole reply, as deltas. Odd forms of servers are normalised here.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess};
use serde_json::{Map, Value};

use super::chunk_lists::{First, Items};
use super::chunk_object::{ChunkObject, keep, read_object};
use super::read_finish_reason;
use super::reply_content;
use super::reply_fault::ReplyFault;
use crate::model::{CallFragment, Delta, OtherFields, Usage};

// Every field may have the wrong type: fields that should be text are read as any value.

#[derive(Default)]
struct Chunk {
    model: Value,
    choices: Option<First<Choice>>,
    usage: Option<Value>,
    service_tier: Value,
    error: Option<Value>,
    other: Map<String, Value>,
}

impl ChunkObject for Chunk {
    fn read_field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "id" | "object" | "created" => map.next_value::<IgnoredAny>().map(drop)?,
            "model" => self.model = map.next_value()?,
            "choices" => self.choices = map.next_value()?,
            "usage" => self.usage = map.next_value()?,
            "service_tier" => self.service_tier = map.next_value()?,
            "error" => self.error = map.next_value()?,
            _ => keep(&mut self.other, key, map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Chunk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

#[derive(Default)]
struct Choice {
    delta: Option<Message>,
    message: Option<Message>,
    finish_reason: Value,
    logprobs: Option<Value>,
    error: Option<Value>,
    other: Map<String, Value>,
}

impl ChunkObject for Choice {
    fn read_field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "index" => map.next_value::<IgnoredAny>().map(drop)?,
            "delta" => self.delta = map.next_value()?,
            "message" => self.message = map.next_value()?,
            "finish_reason" => self.finish_reason = map.next_value()?,
            "logprobs" => self.logprobs = map.next_value()?,
            "error" => self.error = map.next_value()?,
            _ => keep(&mut self.other, key, map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

#[derive(Default)]
struct Message {
    content: Value,
    reasoning_content: Value,
    reasoning: Value,
    refusal: Value,
    tool_calls: Option<Items<WireCall>>,
    function_call: Option<WireFunction>,
    other: Map<String, Value>,
}

impl ChunkObject for Message {
    fn read_field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "role" => map.next_value::<IgnoredAny>().map(drop)?,
            "content" => self.content = map.next_value()?,
            "reasoning_content" => self.reasoning_content = map.next_value()?,
            "reasoning" => self.reasoning = map.next_value()?,
            "refusal" => self.refusal = map.next_value()?,
            "tool_calls" => self.tool_calls = map.next_value()?,
            "function_call" => self.function_call = map.next_value()?,
            _ => keep(&mut self.other, key, map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

#[derive(Default)]
struct WireCall {
    index: Value,
    id: Value,
    function: Option<WireFunction>,
    other: Map<String, Value>,
}

impl ChunkObject for WireCall {
    fn read_field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" => map.next_value::<IgnoredAny>().map(drop)?,
            "index" => self.index = map.next_value()?,
            "id" => self.id = map.next_value()?,
            "function" => self.function = map.next_value()?,
            _ => keep(&mut self.other, key, map)?,
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for WireCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireFunction {
    name: Value,
    arguments: Value,
}

/// What a reply contains besides its deltas.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    /// There was a choice, even an empty one.
    pub(super) has_choice: bool,
    /// The server's name for the model.
    pub(super) model: Option<String>,
    /// The unknown fields that are the same in most chunks. Shared, because marks are copied and these may be large.
    repeated: Arc<OtherFields>,
}

impl Marks {
    /// The fields that say something new. Those of a message always do.
    fn new_fields(&mut self, mut fields: OtherFields) -> Option<Delta> {
        retain_new(&mut fields.reply, &self.repeated.reply);
        retain_new(&mut fields.choice, &self.repeated.choice);
        if !(fields.reply.is_empty() && fields.choice.is_empty()) {
            let known = Arc::make_mut(&mut self.repeated);
            known.reply.extend(fields.reply.clone());
            known.choice.extend(fields.choice.clone());
        }
        fields.message.retain(|_, value| !value.is_null());
        (!fields.is_empty()).then(|| Delta::Other(Box::new(fields)))
    }
}

fn retain_new(fields: &mut Map<String, Value>, known: &Map<String, Value>) {
    fields.retain(|key, value| !value.is_null() && known.get(key) != Some(value));
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
    let service_tier = text(chunk.service_tier);
    let mut other = OtherFields { reply: chunk.other, ..OtherFields::default() };
    other.reply.extend(service_tier.iter().map(|tier| ("service_tier".to_owned(), tier.as_str().into())));
    if let Some(choice) = chunk.choices.and_then(|First(choice)| choice) {
        marks.has_choice = true;
        read_choice(choice, whole, &mut other, deltas)?;
    }
    deltas.extend(marks.new_fields(other));
    if let Some(Value::Object(usage)) = chunk.usage {
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

fn read_choice(
    choice: Choice,
    whole: bool,
    other: &mut OtherFields,
    deltas: &mut Vec<Delta>,
) -> Result<(), ReplyFault> {
    other.choice = choice.other;
    if let Some(mut message) = choice.delta.or(choice.message) {
        other.message = std::mem::take(&mut message.other);
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
    let reasoning =
        reply_content::joined(message.reasoning_content).or_else(|| reply_content::joined(message.reasoning));
    let reasons = reasoning.is_some();
    deltas.extend(reasoning.map(Delta::Reasoning));
    reply_content::read(message.content, reasons, deltas);
    deltas.extend(text(message.refusal).map(Delta::Refusal));
    let calls = message.tool_calls.map_or_else(Vec::new, |Items(calls)| calls);
    // Some servers send the old form as well as the new one; it is the same call.
    let old_form = message.function_call.filter(|_| calls.is_empty());
    for call in calls {
        let mut other = call.other;
        other.retain(|_, value| !value.is_null());
        let fragment = fragment(index(&call.index), text(call.id), call.function, whole);
        deltas.push(Delta::Call(CallFragment { other, ..fragment }));
    }
    if let Some(function) = old_form {
        deltas.push(Delta::Call(fragment(Some(0), None, Some(function), whole)));
    }
}

fn fragment(index: Option<u64>, id: Option<String>, function: Option<WireFunction>, whole: bool) -> CallFragment {
    let Some(function) = function else { return CallFragment { index, id, whole, ..CallFragment::default() } };
    let object = !matches!(function.arguments, Value::Null | Value::String(_));
    let (name, arguments) = (text(function.name), arguments(function.arguments));
    CallFragment { index, id, name, arguments, object, whole, ..CallFragment::default() }
}

/// A string that is not empty.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
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
