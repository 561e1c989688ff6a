//! A reply as one body: the same events as a stream, folded.

use serde_json::{Map, Value, json};

use super::chunk::{Stamp, usage_json};
use crate::model::{Finish, Usage};
use crate::turn::Event;

/// A reply in the making.
#[derive(Debug, Default)]
pub struct Completion {
    content: String,
    reasoning: String,
    refusal: String,
    logprobs: Option<Value>,
    calls: Vec<FoldedCall>,
}

#[derive(Debug)]
struct FoldedCall {
    id: String,
    name: String,
    arguments: String,
}

impl Completion {
    /// Takes one event.
    pub fn event(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.content.push_str(&text),
            Event::Reasoning(text) => self.reasoning.push_str(&text),
            Event::Refusal(text) => self.refusal.push_str(&text),
            Event::Logprobs(value) => self.logprobs(value),
            Event::Call(call) => {
                let (id, arguments) = (call.id.to_string(), call.arguments.as_str().to_owned());
                self.calls.push(FoldedCall { id, name: call.name, arguments });
            }
            Event::CallBegins { id, name } => {
                self.calls.push(FoldedCall { id: id.to_string(), name, arguments: String::new() });
            }
            Event::CallGrows(text) => {
                if let Some(call) = self.calls.last_mut() {
                    call.arguments.push_str(&text);
                }
            }
        }
    }

    /// The body.
    #[must_use]
    pub fn finish(self, stamp: &Stamp, finish: Finish, usage: &Usage) -> Value {
        let logprobs = self.logprobs.clone();
        let choice =
            json!({"index": 0, "message": self.message(), "logprobs": logprobs, "finish_reason": finish.as_word()});
        json!({
            "id": stamp.id,
            "object": "chat.completion",
            "created": stamp.created,
            "model": stamp.model,
            "choices": [choice],
            "usage": usage_json(usage),
        })
    }

    fn message(self) -> Value {
        let silent = self.content.is_empty() && !(self.calls.is_empty() && self.refusal.is_empty());
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        message.insert("content".to_owned(), if silent { Value::Null } else { self.content.into() });
        message.insert("refusal".to_owned(), if self.refusal.is_empty() { Value::Null } else { self.refusal.into() });
        if !self.reasoning.is_empty() {
            message.insert("reasoning_content".to_owned(), self.reasoning.into());
        }
        if !self.calls.is_empty() {
            let calls: Vec<Value> = self.calls.into_iter().map(FoldedCall::into_json).collect();
            message.insert("tool_calls".to_owned(), calls.into());
        }
        Value::Object(message)
    }

    /// Probabilities of later pieces are put behind those of earlier ones.
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

impl FoldedCall {
    fn into_json(self) -> Value {
        json!({"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}})
    }
}
