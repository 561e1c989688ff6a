//! The response object: what the client asked for, what came out, and how it ended.
//!
//! It folds the same events that a stream is written from. In a stream it is shown at the beginning and at the end; alone, it
//! is the whole reply, and what the store keeps.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::ResponsesRequest;
use super::echoed_fields;
use super::output::{Output, OutputSettings};
use super::output_item::Status;
use super::stored_items::NewId;
use super::stream_event::StreamEvent;
use crate::model::{Finish, Usage};
use crate::turn::Event;
use crate::wire::{ApiError, ReplyEnd};

/// What the caller knows about a response before it is made.
pub struct ResponseStamp {
    /// `resp_…`.
    pub id: String,
    /// Seconds since 1970.
    pub created_at: u64,
    /// The conversation it belongs to, also where the request names none.
    pub conversation: Option<String>,
    /// Who runs tools here: the character. Calls run here carry it as `server_label`.
    pub server_label: String,
    /// Makes ids for items.
    pub new_id: NewId,
}

const OUTPUT: &str = "\"output\":";

/// An item in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemText {
    /// Its id.
    pub id: String,
    /// All of it.
    pub text: String,
}

/// A response while it is being made, and its final form.
pub struct ResponseObject {
    head: Map<String, Value>,
    output: Output,
    answers: bool,
    /// The final JSON text, once the end is settled; it is both sent and stored.
    settled: Option<Box<RawValue>>,
}

impl ResponseObject {
    /// A response that has not begun.
    #[must_use]
    pub fn new(request: &ResponsesRequest, stamp: ResponseStamp) -> Self {
        let ResponseStamp { id, created_at, conversation, server_label, new_id } = stamp;
        let summary = request.get("reasoning").and_then(|reasoning| reasoning.get("summary"));
        let summaries = summary.and_then(Value::as_str).is_some_and(|word| word != "none");
        let tools = request.tools.clone();
        let output = Output::new(OutputSettings { new_id, tools, server_label, summaries });
        Self { head: head(request, id, created_at, conversation), output, answers: request.generate, settled: None }
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.head.get("id").and_then(Value::as_str).unwrap_or_default()
    }

    /// Takes one event of the turn.
    pub fn event(&mut self, event: Event) {
        self.stream_event(event, &mut Vec::new());
    }

    /// The turn is over.
    pub fn finish(&mut self, end: &ReplyEnd<'_>) {
        self.stream_settling(end, &mut Vec::new());
    }

    /// The turn failed, or could not be stored; the output so far stays.
    pub fn fail(&mut self, error: &ApiError) {
        self.output.abandon();
        self.set("completed_at", Value::Null);
        self.set("incomplete_details", Value::Null);
        self.set("status", "failed".into());
        self.set("error", json!({"code": error_code(error), "message": format!("{} ({})", error.message, error.code)}));
    }

    /// The turn was cancelled; the output so far stays.
    pub fn cancel(&mut self) {
        self.output.abandon();
        self.set("status", "cancelled".into());
    }

    /// The items of the output, as they are stored and listed.
    #[must_use]
    pub fn output_items(&self) -> Vec<Value> {
        self.output.items().iter().map(|item| serde_json::to_value(item).unwrap_or_default()).collect()
    }

    /// The items of the output, each as JSON text.
    #[must_use]
    pub fn output_texts(&self) -> Vec<ItemText> {
        let text = |item| serde_json::to_string(item).unwrap_or_default();
        self.output.items().iter().map(|item| ItemText { id: item.id().to_owned(), text: text(item) }).collect()
    }

    /// The object as it is now with an empty `output`; `output` is the JSON text that is left out.
    #[must_use]
    pub fn to_text_without(&self, output: &str) -> String {
        let written = self.settled.is_none().then(|| self.to_text());
        let text = written.as_ref().or(self.settled.as_ref()).map(|text| text.get()).unwrap_or_default();
        // No other key before it has this name, and inside of strings quotes are escaped.
        match text.split_once(OUTPUT).and_then(|(before, after)| Some((before, after.strip_prefix(output)?))) {
            Some((before, after)) => [before, OUTPUT, "[]", after].concat(),
            None => text.to_owned(),
        }
    }

    /// The object as it is now.
    #[must_use]
    pub fn to_text(&self) -> Box<RawValue> {
        let written = || serde_json::value::to_raw_value(self).unwrap_or_default();
        self.settled.clone().unwrap_or_else(written)
    }

    pub(super) fn stream_event(&mut self, event: Event, events: &mut Vec<StreamEvent>) {
        self.output.event(event, events);
    }

    /// All of the end but its last event, which is [`Self::last_stream_event`].
    pub(super) fn stream_settling(&mut self, end: &ReplyEnd<'_>, events: &mut Vec<StreamEvent>) {
        let reason = match end.finish {
            Finish::Stop | Finish::ToolCalls => None,
            Finish::Length => Some("max_output_tokens"),
            Finish::ContentFilter => Some("content_filter"),
        };
        if reason.is_none() && self.answers {
            self.output.ensure_answer(events);
        }
        let status = if reason.is_some() { Status::Incomplete } else { Status::Completed };
        self.output.finish(status, events);
        self.set("usage", usage_json(end.usage));
        if let Some(tier) = &end.usage.service_tier {
            self.set("service_tier", tier.as_str().into());
        }
        match reason {
            None => {
                self.set("status", "completed".into());
                self.set("completed_at", end.completed_at.into());
            }
            Some(reason) => {
                self.set("status", "incomplete".into());
                self.set("incomplete_details", json!({"reason": reason}));
            }
        }
        self.settled = Some(self.to_text());
    }

    pub(super) fn last_stream_event(&self) -> StreamEvent {
        let response = self.to_text();
        match self.head.get("incomplete_details") {
            None | Some(Value::Null) => StreamEvent::Completed { response },
            Some(_) => StreamEvent::Incomplete { response },
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        self.settled = None;
        self.head.insert(key.to_owned(), value);
    }
}

/// What was asked for may be large, so nothing of it is copied for being written.
impl Serialize for ResponseObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.head.len()))?;
        for (key, value) in &self.head {
            match key.as_str() {
                "output" => map.serialize_entry(key, self.output.items())?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

fn head(request: &ResponsesRequest, id: String, created_at: u64, conversation: Option<String>) -> Map<String, Value> {
    let conversation = conversation.or_else(|| request.conversation.clone()).map(|id| json!({"id": id}));
    let mut head = Map::new();
    let mut set = |key: &str, value: Value| {
        head.insert(key.to_owned(), value);
    };
    set("id", id.into());
    set("object", "response".into());
    set("created_at", created_at.into());
    set("status", "in_progress".into());
    set("completed_at", Value::Null);
    set("background", false.into());
    set("conversation", conversation.unwrap_or_default());
    set("error", Value::Null);
    set("incomplete_details", Value::Null);
    set("model", request.model.as_str().into());
    set("output", Value::Array(Vec::new()));
    set("store", request.store.into());
    head.extend(echoed_fields::fields(request));
    head.insert("usage".to_owned(), Value::Null);
    head
}

/// This wire has a closed list of codes. Only errors of the request itself are about the prompt, not a key that a model server
/// refuses or a conflict over a conversation.
fn error_code(error: &ApiError) -> &'static str {
    match error.status {
        429 => "rate_limit_exceeded",
        400 | 413 | 422 => "invalid_prompt",
        _ => "server_error",
    }
}

pub(super) fn usage_json(usage: &Usage) -> Value {
    let detail = |group: &str, key: &str| {
        usage.details.get(group).and_then(|details| details.get(key)).and_then(Value::as_u64).unwrap_or(0)
    };
    let cached = detail("prompt_tokens_details", "cached_tokens");
    let written = detail("prompt_tokens_details", "cache_write_tokens");
    let reasoning = detail("completion_tokens_details", "reasoning_tokens");
    json!({
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": usage.total_tokens(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_out_stands_apart_whatever_else_is_written() {
        let nasty = r#"\",\"output\":[],"output":[1] é"#;
        let tool = json!({"type": "function", "name": "f", "parameters": {"output": []}});
        let request = json!({"model": nasty, "input": "x", "instructions": nasty, "tools": [tool]});
        let request = ResponsesRequest::read(request.to_string().into_bytes()).unwrap();
        let mut object = ResponseObject::new(
            &request,
            ResponseStamp {
                id: "resp_1".to_owned(),
                created_at: 1,
                conversation: Some(nasty.to_owned()),
                server_label: String::new(),
                new_id: Box::new(|prefix| format!("{prefix}_1")),
            },
        );
        let end = ReplyEnd { finish: Finish::Stop, usage: &Usage::default(), completed_at: 2 };
        for step in 0..4 {
            match step {
                1 => object.event(Event::Text(nasty.to_owned())),
                2 => object.finish(&end),
                3 => object.fail(&ApiError::new(500, "ours", nasty)),
                _ => {}
            }
            let whole: Value = serde_json::from_str(object.to_text().get()).unwrap();
            let texts: Vec<String> = object.output_texts().into_iter().map(|item| item.text).collect();
            let output = format!("[{}]", texts.join(","));
            let mut body: Value = serde_json::from_str(&object.to_text_without(&output)).unwrap();
            assert_eq!(body["output"], json!([]));
            body["output"] = serde_json::from_str(&output).unwrap();
            assert_eq!(body, whole);
            assert_eq!(body["output"].as_array().unwrap().len(), usize::from(step > 0));
        }
    }

    #[test]
    fn only_what_is_wrong_with_the_request_is_about_the_prompt() {
        let code = |status| error_code(&ApiError::new(status, "ours", "words"));
        for (status, expected) in [
            (400, "invalid_prompt"),
            (422, "invalid_prompt"),
            (429, "rate_limit_exceeded"),
            (401, "server_error"),
            (404, "server_error"),
            (409, "server_error"),
            (502, "server_error"),
        ] {
            assert_eq!(code(status), expected, "{status}");
        }
    }
}
