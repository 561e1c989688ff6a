//! A reply as one body: the same events as a stream, folded.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::chunk::{Stamp, json_text, push_fields, push_json_text, usage_json};
use super::old_form::CallForm;
use crate::model::{Finish, OtherFields, Usage};
use crate::turn::Event;

/// A reply in the making.
#[derive(Debug, Default)]
pub struct Completion {
    content: String,
    reasoning: String,
    refusal: String,
    logprobs: Option<Value>,
    calls: Vec<FoldedCall>,
    other: OtherFields,
}

#[derive(Debug)]
struct FoldedCall {
    id: String,
    name: String,
    arguments: String,
    other: Map<String, Value>,
}

impl Completion {
    /// Takes one event.
    pub fn event(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.content.push_str(&text),
            Event::Reasoning(text) => self.reasoning.push_str(&text),
            Event::Refusal(text) => self.refusal.push_str(&text),
            Event::Logprobs(value) => self.logprobs(value),
            Event::Other(fields) => self.other.add(*fields),
            Event::Call(call) => {
                let (id, arguments) = (call.id.to_string(), call.arguments.as_str().to_owned());
                self.calls.push(FoldedCall { id, name: call.name, arguments, other: call.other });
            }
            Event::CallBegins { id, name, other } => {
                self.calls.push(FoldedCall { id: id.to_string(), name, arguments: String::new(), other });
            }
            Event::CallGrows(text) => {
                if let Some(call) = self.calls.last_mut() {
                    call.arguments.push_str(&text);
                }
            }
            // Chat clients of a character get its text only; the tools that ran are in the conversation.
            Event::RunsTool(_) | Event::RanTool(_) => {}
        }
    }

    /// The body as JSON text.
    #[must_use]
    pub fn finish(mut self, stamp: &Stamp, finish: Finish, usage: &Usage) -> String {
        let finish = self.without_cut_call(finish);
        let mut out = String::with_capacity(512 + self.content.len());
        let (id, model) = (json_text(&stamp.id), json_text(&stamp.model));
        let _ = write!(out, "{{\"id\":{id},\"object\":\"chat.completion\",\"created\":{},", stamp.created);
        let _ = write!(out, "\"model\":{model}");
        push_fields(&mut out, &self.other.reply);
        out.push_str(",\"choices\":[{\"index\":0,\"message\":");
        self.message(stamp.form, &mut out);
        let logprobs = self.logprobs.as_ref().map_or_else(|| "null".to_owned(), Value::to_string);
        let _ = write!(out, ",\"logprobs\":{logprobs},\"finish_reason\":\"{}\"", stamp.form.finish_word(finish));
        push_fields(&mut out, &self.other.choice);
        out.push_str("}]");
        let _ = write!(out, ",\"usage\":{}}}", usage_json(usage));
        out
    }

    /// With another finish than `tool_calls`, the limit cut the last call off while it was streamed. A whole reply leaves it out.
    fn without_cut_call(&mut self, finish: Finish) -> Finish {
        let cut = finish != Finish::ToolCalls && self.calls.pop().is_some();
        if cut && !self.calls.is_empty() { Finish::ToolCalls } else { finish }
    }

    fn message(&self, form: CallForm, out: &mut String) {
        let silent = self.content.is_empty() && !(self.calls.is_empty() && self.refusal.is_empty());
        out.push_str("{\"role\":\"assistant\",\"content\":");
        push_text_or_null((!silent).then_some(&self.content), out);
        out.push_str(",\"refusal\":");
        push_text_or_null((!self.refusal.is_empty()).then_some(&self.refusal), out);
        if !self.reasoning.is_empty() {
            out.push_str(",\"reasoning_content\":");
            push_json_text(&self.reasoning, out);
        }
        push_fields(out, &self.other.message);
        match (form, self.calls.as_slice()) {
            (_, []) => {}
            (CallForm::Function, [call, ..]) => {
                let (name, arguments) = (json_text(&call.name), json_text(&call.arguments));
                let _ = write!(out, ",\"function_call\":{{\"name\":{name},\"arguments\":{arguments}}}");
            }
            (CallForm::Tools, calls) => {
                for (number, call) in calls.iter().enumerate() {
                    out.push_str(if number == 0 { ",\"tool_calls\":[" } else { "," });
                    call.write(out);
                }
                out.push(']');
            }
        }
        out.push('}');
    }

    /// Appends the probabilities of later pieces to those of earlier ones.
    fn logprobs(&mut self, value: Value) {
        let Some(Value::Object(sum)) = &mut self.logprobs else {
            self.logprobs = Some(value);
            return;
        };
        let Value::Object(more) = value else { return };
        for (key, list) in more {
            match (sum.get_mut(&key), list) {
                (Some(Value::Array(all)), Value::Array(new)) => all.extend(new),
                (_, list) => {
                    sum.insert(key, list);
                }
            }
        }
    }
}

fn push_text_or_null(text: Option<&String>, out: &mut String) {
    match text {
        Some(text) => push_json_text(text, out),
        None => out.push_str("null"),
    }
}

impl FoldedCall {
    fn write(&self, out: &mut String) {
        out.push_str("{\"id\":");
        push_json_text(&self.id, out);
        out.push_str(",\"type\":\"function\",\"function\":{\"name\":");
        push_json_text(&self.name, out);
        out.push_str(",\"arguments\":");
        push_json_text(&self.arguments, out);
        out.push('}');
        push_fields(out, &self.other);
        out.push('}');
    }
}
