//! Items of a conversation as chat messages, in an order that every chat server accepts.
//!
//! Chat servers want the results of calls right after the message with the calls, and many accept only one system message, at
//! the start. So calls that belong together go into one message, messages between a call and its result are moved after all
//! results, and all instructions before the first turn become one system message.

use serde_json::{Value, json};

use super::call_pairing::CallOutputs;
use super::chat_item::{ChatItem, MessageRole, PastCall};
use super::content::Content;
use super::tools::Tools;
use crate::model::BadRequest;
use crate::wire::chat::{MessageFacts, is_object};

/// The text of a tool result that consists of media only.
pub(super) const SEE_BELOW: &str = "(see the next message)";

/// Chat messages that are being built.
pub(super) struct ChatMessages<'a> {
    tools: &'a Tools,
    system: Vec<String>,
    /// True once there is anything besides the instructions.
    begun: bool,
    done: Vec<Value>,
    calls: CallOutputs,
    /// The client's calls in the last message with calls, until all of them have results: id and place.
    open: Vec<(String, String)>,
    open_at: usize,
    /// The last message with calls, as long as the server ran all of them and nothing follows their results.
    ran_at: Option<usize>,
    missing: usize,
    waiting: Vec<Value>,
    /// Whether some call's arguments are no JSON object.
    needs_healing: bool,
}

impl<'a> ChatMessages<'a> {
    /// No messages yet.
    pub(super) fn new(tools: &'a Tools, instructions: Option<&str>) -> Self {
        Self {
            tools,
            system: instructions.filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect(),
            begun: false,
            done: Vec::new(),
            calls: CallOutputs::default(),
            open: Vec::new(),
            open_at: 0,
            ran_at: None,
            missing: 0,
            waiting: Vec::new(),
            needs_healing: false,
        }
    }

    /// Adds the next item; `place` is its place in the request.
    pub(super) fn push(&mut self, spoken: &ChatItem, place: &str) -> Result<(), BadRequest> {
        self.begun |= !matches!(spoken, ChatItem::Reference(_) | ChatItem::Skipped);
        if !matches!(spoken, ChatItem::Call(_) | ChatItem::Ran { .. } | ChatItem::Reference(_)) {
            self.ran_at = None;
        }
        match spoken {
            ChatItem::Message { role, content } => self.message(*role, content),
            ChatItem::Call(call) => self.call(call, place)?,
            ChatItem::Output { call_id, content } => self.output(call_id, content, place)?,
            ChatItem::Ran { call, output } => self.ran(call, output, place)?,
            ChatItem::Reference(_) | ChatItem::Skipped => {}
        }
        Ok(())
    }

    /// All messages. A call without a result is refused, because chat servers would refuse it with a worse error.
    pub(super) fn finish(self) -> Result<(Vec<Value>, MessageFacts), BadRequest> {
        if let Some((id, place)) = self.open.iter().find(|(id, _)| self.calls.awaits(id)) {
            let message = format!(
                "the call {id:?} has no output; send a function_call_output with this call_id before anything else is said"
            );
            return Err(BadRequest::at(place.as_str(), "missing_tool_output", message));
        }
        if !self.begun {
            let message = "there is nothing to answer; send input, as a string or as a list of items";
            return Err(BadRequest::missing("input", message));
        }
        let system = (!self.system.is_empty()).then(|| json!({"role": "system", "content": self.system.join("\n\n")}));
        let ends_with_result = self.done.last().is_some_and(|last| last.get("role").is_some_and(|role| role == "tool"));
        let facts = MessageFacts { ids: self.calls.into_ids(), needs_healing: self.needs_healing, ends_with_result };
        Ok((system.into_iter().chain(self.done).collect(), facts))
    }

    fn message(&mut self, role: MessageRole, content: &Content) {
        match role {
            MessageRole::System if self.done.is_empty() => self.system.push(content.text()),
            MessageRole::System => self.say(json!({"role": "system", "content": content.text()})),
            MessageRole::Assistant => self.answer(content.text()),
            MessageRole::User => self.say(json!({"role": "user", "content": content.to_chat()})),
        }
    }

    fn say(&mut self, message: Value) {
        self.target().push(message);
    }

    /// Where the next message goes.
    fn target(&mut self) -> &mut Vec<Value> {
        if self.open.is_empty() { &mut self.done } else { &mut self.waiting }
    }

    /// Texts of one turn become one message: many servers want alternating roles.
    fn answer(&mut self, text: String) {
        let last = self.target().last_mut().filter(|last| is_answer(last));
        match last.and_then(|last| last.get_mut("content")) {
            Some(Value::String(last)) if last.is_empty() => *last = text,
            Some(Value::String(_)) if text.is_empty() => {}
            Some(Value::String(last)) => {
                last.push_str("\n\n");
                last.push_str(&text);
            }
            _ => self.say(json!({"role": "assistant", "content": text})),
        }
    }

    /// A client's call right after calls that the server ran belongs to the same reply.
    fn call(&mut self, call: &PastCall, place: &str) -> Result<(), BadRequest> {
        let message_at = self.ran_at.take().filter(|_| self.open.is_empty());
        let place_of_id = format!("{place}.call_id");
        self.calls.call(&call.call_id, false).map_err(|error| error.at(&place_of_id, &call.call_id))?;
        self.add_call(call, message_at);
        self.open.push((call.call_id.clone(), place.to_owned()));
        self.missing += 1;
        Ok(())
    }

    /// Adds a call to the open message, to the message at `message_at`, or to a new one.
    fn add_call(&mut self, call: &PastCall, message_at: Option<usize>) {
        self.needs_healing |= !is_object(&call.arguments);
        let name = self.tools.past(call.namespace.as_deref(), &call.name);
        let function = json!({"name": name, "arguments": call.arguments});
        let entry = json!({"id": call.call_id, "type": "function", "function": function});
        match message_at {
            Some(place) => self.open_at = place,
            None if self.open.is_empty() => self.begin_calls(),
            None => {}
        }
        match self.done.get_mut(self.open_at).and_then(|message| message.get_mut("tool_calls")) {
            Some(Value::Array(calls)) => calls.push(entry),
            _ => self.done.push(json!({"role": "assistant", "content": null, "tool_calls": [entry]})),
        }
    }

    /// Calls go into the assistant message before them, where there is one.
    fn begin_calls(&mut self) {
        let answer = self.done.last_mut().filter(|last| is_answer(last));
        match answer.and_then(Value::as_object_mut) {
            Some(message) => {
                message.insert("tool_calls".to_owned(), Value::Array(Vec::new()));
            }
            None => self.done.push(json!({"role": "assistant", "content": null, "tool_calls": []})),
        }
        self.open_at = self.done.len().saturating_sub(1);
    }

    fn output(&mut self, call_id: &str, content: &Content, place: &str) -> Result<(), BadRequest> {
        self.calls.output(call_id).map_err(|error| error.at(&format!("{place}.call_id"), call_id))?;
        let (text, media) = (content.text(), content.media());
        let text = if text.is_empty() && !media.is_empty() { SEE_BELOW } else { &text };
        self.done.push(json!({"role": "tool", "tool_call_id": call_id, "content": text}));
        if !media.is_empty() {
            self.waiting.push(json!({"role": "user", "content": media}));
        }
        self.close_calls();
        Ok(())
    }

    fn ran(&mut self, call: &PastCall, output: &str, place: &str) -> Result<(), BadRequest> {
        self.calls.call(&call.call_id, true).map_err(|error| error.at(&format!("{place}.id"), &call.call_id))?;
        self.add_call(call, None);
        self.done.push(json!({"role": "tool", "tool_call_id": call.call_id, "content": output}));
        self.ran_at = self.open.is_empty().then_some(self.open_at);
        Ok(())
    }

    fn close_calls(&mut self) {
        self.missing = self.missing.saturating_sub(1);
        if self.missing == 0 {
            self.open.clear();
            self.done.append(&mut self.waiting);
        }
    }
}

/// Whether a message is an assistant's text without calls.
fn is_answer(message: &Value) -> bool {
    message.get("role").and_then(Value::as_str) == Some("assistant") && message.get("tool_calls").is_none()
}
