//! A reply as a stream of chunks: role first, one call delta per chunk, one finish chunk, usage only when asked for, `[DONE]`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::contract::Report;
use crate::model::{Finish, Usage};
use crate::turn::Event;

/// What a chunk with text has around its head and its text, at most.
const CHUNK_FRAME: usize = 128;

/// What every chunk and every whole reply carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// `chatcmpl-…`.
    pub id: String,
    /// Seconds since 1970.
    pub created: u64,
    /// The model as the client named it.
    pub model: String,
}

/// Writes the events of one reply as server-sent events.
#[derive(Debug)]
pub struct ChunkWriter {
    head: String,
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
        let (id, model) = (json_text(&stamp.id), json_text(&stamp.model));
        let head = format!(
            "data: {{\"id\":{id},\"object\":\"chat.completion.chunk\",\"created\":{},\"model\":{model},\"choices\":[",
            stamp.created
        );
        let tail = if usage_asked { "],\"usage\":null}\n\n" } else { "]}\n\n" };
        Self { head, tail, begun: false, calls: 0, logprobs: None, usage_asked }
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
            Event::Call(call) => {
                self.call_begins(call.id.as_str(), &call.name, out);
                self.call_grows(call.arguments.as_str(), out);
            }
            Event::CallBegins { id, name } => self.call_begins(id.as_str(), &name, out),
            Event::CallGrows(text) => self.call_grows(&text, out),
            // Chat clients of a character get its text only; the tools that ran are in the conversation.
            Event::RunsTool(_) | Event::RanTool(_) => {}
        }
    }

    /// Writes the end of a reply: finish, what was done to keep the contract, usage when asked for, `[DONE]`.
    pub fn finish(&mut self, finish: Finish, usage: Option<&Usage>, report: &Report, out: &mut String) {
        self.begin(out);
        out.push_str(&self.head);
        let _ =
            write!(out, "{{\"index\":0,\"delta\":{{}},\"logprobs\":null,\"finish_reason\":\"{}\"}}", finish.as_word());
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

    fn choice(&mut self, out: &mut String, write: impl FnOnce(&mut String)) {
        out.push_str(&self.head);
        out.push_str("{\"index\":0,\"delta\":{");
        write(out);
        out.push_str("},\"logprobs\":");
        match self.logprobs.take().filter(|_| self.begun) {
            Some(value) => out.push_str(&value.to_string()),
            None => out.push_str("null"),
        }
        out.push_str(",\"finish_reason\":null}");
        out.push_str(self.tail);
    }

    fn call_begins(&mut self, id: &str, name: &str, out: &mut String) {
        let index = self.calls;
        self.calls += 1;
        self.delta(out, |out| {
            let _ = write!(out, "\"tool_calls\":[{{\"index\":{index},\"id\":{},\"type\":\"function\",", json_text(id));
            let _ = write!(out, "\"function\":{{\"name\":{},\"arguments\":\"\"}}}}]", json_text(name));
        });
    }

    fn call_grows(&mut self, text: &str, out: &mut String) {
        let index = self.calls.saturating_sub(1);
        self.delta(out, |out| {
            let _ = write!(out, "\"tool_calls\":[{{\"index\":{index},\"function\":{{");
            field(out, "arguments", text);
            out.push_str("}}]");
        });
    }
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
