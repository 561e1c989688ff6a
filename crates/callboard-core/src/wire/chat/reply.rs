//! An upstream's reply, whole or streamed, as the deltas it stands for. Read leniently: servers differ, promises do not.

use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use super::loose::Loose;
use crate::model::{CallFragment, Delta, Finish, Usage};
use crate::wire::sse::{SseEvent, SseReader};

/// Why a reply cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplyFault {
    /// The server put an error into its reply.
    #[error("the model server reported: {message}")]
    Reported {
        /// Its words.
        message: String,
        /// The status it gave, where it gave one.
        status: Option<u16>,
    },
    /// Not JSON, or not a reply.
    #[error("{0}")]
    Unreadable(String),
    /// It ended before it was whole.
    #[error("the reply broke off before it was whole")]
    BrokeOff,
}

impl ReplyFault {
    /// What happened, without any words of the model: for the log.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Reported { .. } => "it reported an error within its reply",
            Self::Unreadable(_) => "its reply cannot be read",
            Self::BrokeOff => "its reply broke off",
        }
    }
}

/// Turns bytes into deltas.
#[derive(Debug)]
pub struct ReplyReader {
    form: Form,
    most: usize,
    ended: bool,
    heard: bool,
}

#[derive(Debug)]
enum Form {
    Stream(SseReader),
    Whole(Vec<u8>),
}

impl ReplyReader {
    /// A reader for a stream of events.
    #[must_use]
    pub fn stream(most: usize) -> Self {
        Self { form: Form::Stream(SseReader::new(most)), most, ended: false, heard: false }
    }

    /// A reader for a whole body.
    #[must_use]
    pub fn whole(most: usize) -> Self {
        Self { form: Form::Whole(Vec::new()), most, ended: false, heard: false }
    }

    /// True once the reply has said that nothing more comes.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Takes bytes and appends the deltas they complete.
    pub fn feed(&mut self, bytes: &[u8], deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
        let Self { form, most, ended, heard } = self;
        match form {
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                let too_long = || {
                    ReplyFault::Unreadable(format!("it is longer than the limit limits.reply_bytes of {most} bytes"))
                };
                if body.len() > *most { Err(too_long()) } else { Ok(()) }
            }
            Form::Stream(reader) => {
                let mut result = Ok(());
                let fed = reader.feed(bytes, |event| {
                    if result.is_ok() && !*ended {
                        result = read_event(&event, ended, deltas);
                    }
                });
                *heard |= !deltas.is_empty();
                fed.map_err(|error| ReplyFault::Unreadable(error.to_string()))?;
                result
            }
        }
    }

    /// The bytes have ended properly: reads a whole body, or what a stream left.
    pub fn finish(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
        let Self { form, ended, heard, .. } = self;
        match form {
            Form::Whole(body) => read_body(body, deltas)?,
            Form::Stream(reader) => {
                let mut result = Ok(());
                reader.finish(|event| {
                    if result.is_ok() && !*ended {
                        result = read_event(&event, ended, deltas);
                    }
                });
                result?;
                if !*ended && !*heard && deltas.is_empty() {
                    return Err(ReplyFault::BrokeOff);
                }
            }
        }
        *ended = true;
        Ok(())
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(default, borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<Map<String, Value>>,
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
    finish_reason: Loose<'a>,
    #[serde(default)]
    logprobs: Option<Value>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default, borrow)]
    content: Loose<'a>,
    #[serde(default, borrow)]
    reasoning_content: Loose<'a>,
    #[serde(default, borrow)]
    reasoning: Loose<'a>,
    #[serde(default, borrow)]
    refusal: Loose<'a>,
    #[serde(default, borrow)]
    tool_calls: Option<Vec<WireCall<'a>>>,
    #[serde(default, borrow)]
    function_call: Option<WireFunction<'a>>,
}

#[derive(Deserialize)]
struct WireCall<'a> {
    #[serde(default, borrow)]
    index: Loose<'a>,
    #[serde(default, borrow)]
    id: Loose<'a>,
    #[serde(default, borrow)]
    function: Option<WireFunction<'a>>,
}

#[derive(Deserialize)]
struct WireFunction<'a> {
    #[serde(default, borrow)]
    name: Loose<'a>,
    #[serde(default, borrow)]
    arguments: Loose<'a>,
}

fn read_event(event: &SseEvent<'_>, ended: &mut bool, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
    let data = match event {
        SseEvent::Data(data) => data.trim_ascii(),
        SseEvent::Error(data) => return Err(reported(&serde_json::from_slice(data).unwrap_or_default())),
    };
    match data {
        b"[DONE]" => *ended = true,
        b"" => {}
        _ => read_chunk(data, false, deltas)?,
    }
    Ok(())
}

fn read_body(body: &[u8], deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
    let before = deltas.len();
    read_chunk(body, true, deltas)?;
    if deltas.len() == before {
        return Err(ReplyFault::Unreadable("it holds no choice with a message".to_owned()));
    }
    Ok(())
}

fn read_chunk(data: &[u8], whole: bool, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
    let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|error| unreadable(data, &error))?;
    if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
        return Err(reported(&error));
    }
    if let Some(choice) = chunk.choices.into_iter().flatten().next() {
        read_choice(choice, whole, deltas);
    }
    if let Some(usage) = chunk.usage {
        deltas.push(Delta::Usage(read_usage(usage)));
    }
    Ok(())
}

fn read_choice(choice: Choice<'_>, whole: bool, deltas: &mut Vec<Delta>) {
    if let Some(message) = choice.delta.or(choice.message) {
        read_message(message, whole, deltas);
    }
    if let Some(logprobs) = choice.logprobs.filter(|value| !value.is_null()) {
        deltas.push(Delta::Logprobs(logprobs));
    }
    match choice.finish_reason.into_text() {
        Some(word) => deltas.push(Delta::Finish(Finish::from_word(&word))),
        None if whole => deltas.push(Delta::Text(String::new())),
        None => {}
    }
}

fn read_message(message: Message<'_>, whole: bool, deltas: &mut Vec<Delta>) {
    let reasoning = message.reasoning_content.into_content().or_else(|| message.reasoning.into_content());
    deltas.extend(reasoning.map(Delta::Reasoning));
    deltas.extend(message.content.into_content().map(Delta::Text));
    deltas.extend(message.refusal.into_text().map(Delta::Refusal));
    let calls = message.tool_calls.unwrap_or_default();
    // Some servers send the old form beside the new one; it is the same call.
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
    let object = matches!(function.arguments, Loose::Other(_));
    let (name, arguments) = (function.name.into_text(), function.arguments.into_arguments());
    CallFragment { index, id, name, arguments, object, whole }
}

fn read_usage(mut usage: Map<String, Value>) -> Usage {
    let mut count = |key: &str| usage.remove(key).and_then(|value| value.as_u64()).unwrap_or(0);
    let (prompt_tokens, completion_tokens, _) =
        (count("prompt_tokens"), count("completion_tokens"), count("total_tokens"));
    Usage { prompt_tokens, completion_tokens, details: usage, estimated: false }
}

fn reported(error: &Value) -> ReplyFault {
    let message = error.get("message").or(Some(error)).map(|m| m.as_str().map_or_else(|| m.to_string(), str::to_owned));
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    ReplyFault::Reported {
        message: message.unwrap_or_default(),
        status: status.filter(|code| (400..600).contains(code)),
    }
}

fn unreadable(data: &[u8], error: &serde_json::Error) -> ReplyFault {
    let start = String::from_utf8_lossy(data.get(..data.len().min(80)).unwrap_or_default()).into_owned();
    ReplyFault::Unreadable(format!("it is not the JSON of a chat reply ({error}); it begins {start:?}"))
}
