//! `/v1/responses/compact`: a long conversation becomes its user messages and a summary, which the model writes.
//!
//! Calls that still wait for their outputs are returned behind the summary, so that the outputs can follow.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::ResponsesRequest;
use super::chat_item::{ChatItem, MessageRole};
use super::compaction_item;
use super::object::usage_json;
use super::stored_items::NewId;
use crate::contract::{Report, ToolCache};
use crate::dialect::separate_reasoning;
use crate::model::{BadRequest, Usage};
use crate::turn::{Event, TurnRequest};
use crate::wire::body_object::read_object;
use crate::wire::chat::ChatRequest;
use crate::wire::{ApiError, ReplyEnd, ReplyWriter};

/// What the model is asked for.
const INSTRUCTION: &str = "Summarize the conversation so far for yourself, so that you can continue it without having seen it. \
    Keep what was asked, decided and done, results of tools, names, numbers and open points. Leave out what no longer matters. \
    Write the summary only.";

/// A checked request.
#[derive(Debug)]
pub struct CompactionRequest {
    /// The request as one for a response.
    pub request: ResponsesRequest,
}

/// What a compaction is made from.
#[derive(Debug)]
struct Compacted {
    /// The items that come before the summary.
    kept: Vec<Value>,
    /// Calls without output.
    pending: Vec<Value>,
    /// What was said, in case the model summarizes nothing.
    transcript: String,
}

impl CompactionRequest {
    /// Reads and checks a body.
    pub fn read(body: Vec<u8>) -> Result<Self, BadRequest> {
        let mut fields = read_object(body)?;
        for key in ["tools", "tool_choice", "stream", "stream_options", "text", "conversation", "generate"] {
            fields.shift_remove(key);
        }
        fields.insert("store".to_owned(), false.into());
        let request = ResponsesRequest::of(fields)?;
        if request.input.is_empty() && request.previous_response_id.is_none() {
            let message = "there is nothing to compact; send input or previous_response_id";
            return Err(BadRequest::missing("input", message));
        }
        Ok(Self { request })
    }

    /// The request for a summary, and the writer of the reply. `earlier` are the items of the responses that are continued.
    pub fn prepare(
        &self,
        earlier: Vec<Value>,
        stamp: CompactionStamp,
        cache: &ToolCache,
    ) -> Result<((ChatRequest, TurnRequest), CompactionWriter), BadRequest> {
        let CompactionStamp { id, created_at, model, mut new_id } = stamp;
        let mut items = earlier;
        items.extend(self.request.input_items(&mut new_id));
        let (pending, items) = split_pending(items)?;
        let messages = self.request.messages_of(&items, INSTRUCTION)?;
        let transcript = Value::Array(messages.0.clone()).to_string();
        let parts = self.request.chat_parts(&model, messages);
        let chat = ChatRequest::from_parts(parts, cache)?;
        let compacted = Compacted { kept: user_messages(&items), pending, transcript };
        Ok((chat, CompactionWriter::new(id, created_at, new_id("cmp"), compacted)))
    }
}

/// What the caller knows about a compaction before it is made.
pub struct CompactionStamp {
    /// Of the compaction, which is no response.
    pub id: String,
    /// Seconds since 1970.
    pub created_at: u64,
    /// The model to ask.
    pub model: String,
    /// Makes ids for items.
    pub new_id: NewId,
}

/// The calls that wait for their outputs, and the other items.
fn split_pending(items: Vec<Value>) -> Result<(Vec<Value>, Vec<Value>), BadRequest> {
    let places = pending_calls(&items)?;
    let (mut pending, mut others) = (Vec::with_capacity(places.len()), Vec::with_capacity(items.len()));
    for (place, item) in items.into_iter().enumerate() {
        if places.contains(&place) { pending.push(item) } else { others.push(item) }
    }
    Ok((pending, others))
}

/// Where the calls are that wait for their outputs. An id may be used again once it is answered.
fn pending_calls(items: &[Value]) -> Result<HashSet<usize>, BadRequest> {
    let mut waiting: HashMap<String, usize> = HashMap::new();
    for (place, item) in items.iter().enumerate() {
        match ChatItem::read(item, &format!("input[{place}]"))? {
            ChatItem::Call(call) if call.whole => drop(waiting.insert(call.call_id, place)),
            item => drop(item.answers().and_then(|id| waiting.remove(id))),
        }
    }
    Ok(waiting.into_values().collect())
}

fn user_messages(items: &[Value]) -> Vec<Value> {
    let is_users =
        |item: &&Value| matches!(ChatItem::read(item, "input"), Ok(ChatItem::Message { role: MessageRole::User, .. }));
    items.iter().filter(is_users).cloned().collect()
}

/// Writes a compaction.
#[derive(Debug)]
pub struct CompactionWriter {
    head: Map<String, Value>,
    item_id: String,
    compacted: Compacted,
    summary: String,
    body: String,
}

impl CompactionWriter {
    fn new(id: String, created_at: u64, item_id: String, compacted: Compacted) -> Self {
        let mut head = Map::new();
        head.insert("id".to_owned(), id.into());
        head.insert("object".to_owned(), "response.compaction".into());
        head.insert("created_at".to_owned(), created_at.into());
        Self { head, item_id, compacted, summary: String::new(), body: String::new() }
    }

    /// The summary; where the model wrote none, all that was said, which is worse than a summary but better than nothing.
    fn summary(&mut self) -> String {
        let written = std::mem::take(&mut self.summary);
        let summary = separate_reasoning(&written).map_or(written, |separated| separated.answer);
        match summary.trim() {
            "" => std::mem::take(&mut self.compacted.transcript),
            summary => summary.to_owned(),
        }
    }

    fn finished(&mut self, usage: &Usage) -> String {
        let content = compaction_item::content(&self.summary());
        let Compacted { kept, pending, .. } = &mut self.compacted;
        let mut output = std::mem::take(kept);
        output.push(
            json!({"id": self.item_id, "type": "compaction", "status": "completed", "encrypted_content": content}),
        );
        output.append(pending);
        let mut object = std::mem::take(&mut self.head);
        object.insert("output".to_owned(), output.into());
        object.insert("usage".to_owned(), usage_json(usage));
        Value::Object(object).to_string()
    }
}

impl ReplyWriter for CompactionWriter {
    fn event(&mut self, event: Event, _out: &mut String) {
        if let Event::Text(text) = event {
            self.summary.push_str(&text);
        }
    }

    fn complete(&mut self, end: ReplyEnd<'_>, _out: &mut String) {
        self.body = self.finished(end.usage);
    }

    fn finish(&mut self, _report: &Report, _out: &mut String) {}

    fn fail(&mut self, _error: &ApiError, _report: &Report, _out: &mut String) {}

    fn take_body(&mut self) -> String {
        std::mem::take(&mut self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Finish;

    fn compact(input: &Value, said: &str) -> Value {
        let body = json!({"model": "m", "input": input, "tools": [{"type": "function", "name": "f"}], "stream": true});
        let request = CompactionRequest::read(body.to_string().into_bytes()).unwrap();
        let mut number = 0;
        let new_id: NewId = Box::new(move |prefix| {
            number += 1;
            format!("{prefix}_{number}")
        });
        let stamp = CompactionStamp { id: "cmpr_1".to_owned(), created_at: 7, model: "m".to_owned(), new_id };
        let ((chat, turn), mut writer) = request.prepare(Vec::new(), stamp, &ToolCache::default()).unwrap();
        assert!(turn.tools.is_empty() && chat.messages_text().contains(INSTRUCTION));
        writer.event(Event::Text(said.to_owned()), &mut String::new());
        let usage = Usage { prompt_tokens: 5, completion_tokens: 2, ..Usage::default() };
        writer.complete(ReplyEnd { finish: Finish::Stop, usage: &usage, completed_at: 9 }, &mut String::new());
        serde_json::from_str(&writer.take_body()).unwrap()
    }

    fn call(id: &str) -> Value {
        json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"})
    }

    #[test]
    fn user_messages_stay_before_the_summary_and_open_calls_behind_it() {
        let input = json!([
            {"role": "user", "content": "u"},
            call("a"),
            {"type": "function_call_output", "call_id": "a", "output": "7"},
            {"role": "assistant", "content": "Seven."},
            call("b"),
        ]);
        let object = compact(&input, "<think>Hm.</think>It is seven.");
        assert_eq!(object["object"], "response.compaction");
        assert_eq!(object["usage"]["total_tokens"], 7);
        let output = object["output"].as_array().unwrap();
        let kinds: Vec<&str> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["message", "compaction", "function_call"]);
        assert_eq!(output[2]["call_id"], "b");
        let read = ChatItem::read(&output[1], "input[1]").unwrap();
        let ChatItem::Message { role, content } = read else { panic!("{read:?}") };
        assert!(role == MessageRole::User && content.text().ends_with("It is seven."), "{content:?}");
    }

    #[test]
    fn an_id_that_is_used_again_waits_again() {
        let output = json!({"type": "function_call_output", "call_id": "a", "output": "7"});
        let object = compact(&json!([call("a"), output, call("a")]), "Seven.");
        assert_eq!(
            (&object["output"][1]["type"], &object["output"][1]["call_id"]),
            (&json!("function_call"), &json!("a"))
        );
    }

    #[test]
    fn nothing_is_lost_where_the_model_says_nothing() {
        let object = compact(&json!([{"role": "assistant", "content": "The code is 4711."}]), " ");
        assert!(object["output"][0]["encrypted_content"].as_str().unwrap().contains("4711"));
    }

    #[test]
    fn a_summary_of_another_server_and_an_empty_request_are_refused() {
        let foreign = json!({"type": "compaction", "encrypted_content": "gAAAA"});
        let error = ChatItem::read(&foreign, "input[3]").unwrap_err();
        assert_eq!((error.param.as_deref(), error.code), (Some("input[3].encrypted_content"), "unsupported_value"));
        for (body, param) in [(json!({"model": "m"}), "input"), (json!({"input": "x"}), "model")] {
            let error = CompactionRequest::read(body.to_string().into_bytes()).unwrap_err();
            assert_eq!(error.param.as_deref(), Some(param));
        }
    }
}
