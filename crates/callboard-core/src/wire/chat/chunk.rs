//! A reply as a stream of chunks: role first, one call delta per chunk, one finish chunk, usage only when asked for, `[DONE]`.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::old_form::CallForm;
use crate::contract::Report;
use crate::model::{Finish, OtherFields, Usage};
use crate::turn::Event;

/// What a chunk with text has around its head and its text, at most.
const CHUNK_FRAME: usize = 128;

/// Unknown fields of the reply are repeated in every chunk, as servers do with `system_fingerprint`, unless they are longer than this, as
/// the token ids of a prompt are.
const LONGEST_REPEATED: usize = 256;

/// What every chunk and every whole reply carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// `chatcmpl-…`.
    pub id: String,
    /// Seconds since 1970.
    pub created: u64,
    /// The model as the client named it.
    pub model: String,
    /// How the client gets calls.
    pub form: CallForm,
}

/// Writes the events of one reply as server-sent events.
#[derive(Debug)]
pub struct ChunkWriter {
    stamp: Stamp,
    head: String,
    other: OtherFields,
    /// Unknown fields of the reply that are too long to be in every chunk: they are in the next one and in the last.
    long: Map<String, Value>,
    long_is_new: bool,
    tail: &'static str,
    begun: bool,
    calls: usize,
    logprobs: Option<Value>,
    usage_asked: bool,
}

impl ChunkWriter {
    /// A writer for one reply.
    #[must_use]
    pub fn new(stamp: &Stamp, usage_asked: bool) -> Self {
        let head = head(stamp, &[]);
        let tail = if usage_asked { "],\"usage\":null}\n\n" } else { "]}\n\n" };
        Self {
            stamp: stamp.clone(),
            head,
            other: OtherFields::default(),
            long: Map::new(),
            long_is_new: false,
            tail,
            begun: false,
            calls: 0,
            logprobs: None,
            usage_asked,
        }
    }

    /// Writes one event.
    pub fn event(&mut self, event: Event, out: &mut String) {
        match event {
            Event::Text(text) => {
                out.reserve(self.head.len() + text.len() + CHUNK_FRAME);
                self.delta(out, |out| field(out, "content", &text));
            }
            Event::Reasoning(text) => self.delta(out, |out| field(out, "reasoning_content", &text)),
            Event::Refusal(text) => self.delta(out, |out| field(out, "refusal", &text)),
            Event::Logprobs(value) => {
                self.logprobs = Some(value);
                self.delta(out, |_| {});
            }
            Event::Other(fields) => self.other_fields(*fields, out),
            Event::Call(call) => {
                self.call_begins(call.id.as_str(), &call.name, &call.other, out);
                self.call_grows(call.arguments.as_str(), out);
            }
            Event::CallBegins { id, name, other } => self.call_begins(id.as_str(), &name, &other, out),
            Event::CallGrows(text) => self.call_grows(&text, out),
            // Chat clients of a character get its text only; the tools that ran are in the conversation.
            Event::RunsTool(_) | Event::RanTool(_) => {}
        }
    }

    /// Writes the end of a reply: finish, what was done to keep the contract, usage when asked for, `[DONE]`.
    pub fn finish(&mut self, finish: Finish, usage: Option<&Usage>, report: &Report, out: &mut String) {
        self.begin(out);
        self.push_head(true, out);
        let finish = self.stamp.form.finish_word(finish);
        let _ = write!(out, "{{\"index\":0,\"delta\":{{}},\"logprobs\":null,\"finish_reason\":\"{finish}\"");
        push_fields(out, &std::mem::take(&mut self.other.choice));
        out.push('}');
        out.push_str(self.tail);
        if let Some(usage) = usage.filter(|_| self.usage_asked) {
            out.push_str(&self.head);
            let _ = write!(out, "],\"usage\":{}}}\n\n", usage_json(usage));
            if usage.estimated {
                out.push_str(": callboard-usage estimated\n\n");
            }
        }
        let _ = write!(out, ": callboard-contract {report}\n\n");
        out.push_str("data: [DONE]\n\n");
    }

    fn begin(&mut self, out: &mut String) {
        if !self.begun {
            self.begun = true;
            self.choice(out, |out| out.push_str("\"role\":\"assistant\",\"content\":\"\""));
        }
    }

    fn delta(&mut self, out: &mut String, write: impl FnOnce(&mut String)) {
        self.begin(out);
        self.choice(out, write);
    }

    fn push_head(&self, with_long: bool, out: &mut String) {
        match with_long && !self.long.is_empty() {
            true => out.push_str(&head(&self.stamp, &[&self.other.reply, &self.long])),
            false => out.push_str(&self.head),
        }
    }

    fn choice(&mut self, out: &mut String, write: impl FnOnce(&mut String)) {
        let long_is_new = std::mem::take(&mut self.long_is_new);
        self.push_head(long_is_new, out);
        out.push_str("{\"index\":0,\"delta\":{");
        write(out);
        out.push_str("},\"logprobs\":");
        match self.logprobs.take().filter(|_| self.begun) {
            Some(value) => out.push_str(&value.to_string()),
            None => out.push_str("null"),
        }
        out.push_str(",\"finish_reason\":null");
        push_fields(out, &std::mem::take(&mut self.other.choice));
        out.push('}');
        out.push_str(self.tail);
    }

    /// Short fields of the reply are in every chunk from now on, those of the choice in the next one.
    fn other_fields(&mut self, fields: OtherFields, out: &mut String) {
        let OtherFields { reply, choice, message } = fields;
        if !reply.is_empty() {
            self.reply_fields(reply);
        }
        self.other.choice.extend(choice);
        if !message.is_empty() {
            self.delta(out, |out| out.push_str(fields_json(&message).trim_start_matches(',')));
        }
    }

    fn reply_fields(&mut self, fields: Map<String, Value>) {
        for (key, value) in fields {
            if value.to_string().len() > LONGEST_REPEATED {
                self.other.reply.shift_remove(&key);
                self.long.insert(key, value);
                self.long_is_new = true;
            } else {
                self.long.shift_remove(&key);
                self.other.reply.insert(key, value);
            }
        }
        self.head = head(&self.stamp, &[&self.other.reply]);
    }

    fn call_begins(&mut self, id: &str, name: &str, other: &Map<String, Value>, out: &mut String) {
        let (index, form, name) = (self.calls, self.stamp.form, json_text(name));
        self.calls += 1;
        self.delta(out, |out| {
            let _ = match form {
                CallForm::Function => write!(out, "\"function_call\":{{\"name\":{name},\"arguments\":\"\"}}"),
                CallForm::Tools => write!(
                    out,
                    "\"tool_calls\":[{{\"index\":{index},\"id\":{},\"type\":\"function\",\"function\":{{\"name\":{name},\
                     \"arguments\":\"\"}}{}}}]",
                    json_text(id),
                    fields_json(other),
                ),
            };
        });
    }

    fn call_grows(&mut self, text: &str, out: &mut String) {
        if self.stamp.form == CallForm::Function {
            return self.delta(out, |out| {
                out.push_str("\"function_call\":{");
                field(out, "arguments", text);
                out.push('}');
            });
        }
        let index = self.calls.saturating_sub(1);
        self.delta(out, |out| {
            let _ = write!(out, "\"tool_calls\":[{{\"index\":{index},\"function\":{{");
            field(out, "arguments", text);
            out.push_str("}}]");
        });
    }
}

/// What every chunk begins with.
fn head(stamp: &Stamp, other: &[&Map<String, Value>]) -> String {
    let (id, model, created) = (json_text(&stamp.id), json_text(&stamp.model), stamp.created);
    let mut head =
        format!("data: {{\"id\":{id},\"object\":\"chat.completion.chunk\",\"created\":{created},\"model\":{model}");
    other.iter().for_each(|fields| push_fields(&mut head, fields));
    head.push_str(",\"choices\":[");
    head
}

/// Appends fields to an object that is not empty.
pub(super) fn push_fields(out: &mut String, fields: &Map<String, Value>) {
    for (key, value) in fields {
        let _ = write!(out, ",{}:{value}", json_text(key));
    }
}

/// Fields as they are appended to an object.
pub(super) fn fields_json(fields: &Map<String, Value>) -> String {
    let mut out = String::new();
    push_fields(&mut out, fields);
    out
}

fn field(out: &mut String, key: &str, text: &str) {
    out.push('"');
    out.push_str(key);
    out.push_str("\":");
    push_json_text(text, out);
}

/// Appends a text as a JSON string. Most texts have nothing to escape.
pub(super) fn push_json_text(text: &str, out: &mut String) {
    if text.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..b' ')) {
        return out.push_str(&json_text(text));
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// A text as a JSON string.
pub(super) fn json_text(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Usage with all three counts, followed by the server's details.
pub(super) fn usage_json(usage: &Usage) -> String {
    let (prompt, completion) = (usage.prompt_tokens, usage.completion_tokens);
    let total = usage.total_tokens();
    let mut out = format!("{{\"prompt_tokens\":{prompt},\"completion_tokens\":{completion},\"total_tokens\":{total}");
    for (key, value) in &usage.details {
        let _ = write!(out, ",{}:{value}", json_text(key));
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn chunks(form: CallForm, events: Vec<Event>, finish: Finish) -> Vec<Value> {
        let stamp = Stamp { id: "c".to_owned(), created: 1, model: "m".to_owned(), form };
        let (mut writer, mut out) = (ChunkWriter::new(&stamp, false), String::new());
        events.into_iter().for_each(|event| writer.event(event, &mut out));
        writer.finish(finish, None, &Report::default(), &mut out);
        let data = out.split("\n\n").filter_map(|block| block.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    #[test]
    fn unknown_fields_are_where_they_were() {
        let other = OtherFields {
            reply: map(&json!({"system_fingerprint": "f"})),
            choice: map(&json!({"seed": 7})),
            message: map(&json!({"annotations": [1]})),
        };
        let end = OtherFields { choice: map(&json!({"stop_reason": "eos"})), ..OtherFields::default() };
        let events = vec![
            Event::Text("a".to_owned()),
            Event::Other(Box::new(other)),
            Event::Text("b".to_owned()),
            Event::Other(Box::new(end)),
        ];
        let chunks = chunks(CallForm::Tools, events, Finish::Stop);
        let fingerprints: Vec<bool> = chunks.iter().map(|chunk| chunk["system_fingerprint"] == "f").collect();
        assert_eq!(fingerprints, [false, false, true, true, true]);
        assert_eq!(chunks[2]["choices"][0]["delta"], json!({"annotations": [1]}));
        assert_eq!((&chunks[2]["choices"][0]["seed"], chunks[3]["choices"][0].get("seed")), (&json!(7), None));
        assert_eq!(chunks[4]["choices"][0]["stop_reason"], "eos");
    }

    /// A server that sends the tokens of a long prompt in its first chunk does not have them repeated with every word.
    #[test]
    fn long_fields_are_in_the_next_chunk_and_in_the_last() {
        let tokens: Vec<u32> = (0..1000).collect();
        let reply = map(&json!({"prompt_token_ids": tokens, "system_fingerprint": "f"}));
        let mut events = vec![Event::Other(Box::new(OtherFields { reply, ..OtherFields::default() }))];
        events.extend((0..5).map(|_| Event::Text("a".to_owned())));
        let chunks = chunks(CallForm::Tools, events, Finish::Stop);
        let with = |key: &str| -> Vec<bool> { chunks.iter().map(|chunk| chunk.get(key).is_some()).collect() };
        assert_eq!(with("system_fingerprint"), [true; 7]);
        assert_eq!(with("prompt_token_ids"), [true, false, false, false, false, false, true]);
    }

    #[test]
    fn a_client_of_the_old_form_gets_one_function_call() {
        let id = crate::model::CallId::from_random([7; 24]);
        let begins = Event::CallBegins { id, name: "f".to_owned(), other: Map::new() };
        let chunks = chunks(CallForm::Function, vec![begins, Event::CallGrows("{}".to_owned())], Finish::ToolCalls);
        let call = |number: usize| &chunks[number]["choices"][0]["delta"]["function_call"];
        assert_eq!((call(1), call(2)), (&json!({"name": "f", "arguments": ""}), &json!({"arguments": "{}"})));
        assert_eq!(chunks[3]["choices"][0]["finish_reason"], "function_call");
    }
}
