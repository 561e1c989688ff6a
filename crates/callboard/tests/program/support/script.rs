//! A model server that gives prepared replies in order, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{ModelServer, Visit};

#[derive(Clone, Default)]
pub(crate) struct Script {
    inner: Arc<Mutex<(VecDeque<Value>, Vec<Value>)>>,
}

/// A reply in words.
pub(crate) fn text(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// A reply with words and calls, each a name and arguments.
pub(crate) fn calls(text: &str, calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| {
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            json!({"type": "function", "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    json!({"role": "assistant", "content": text, "tool_calls": calls})
}

impl Script {
    pub(crate) fn start(replies: impl IntoIterator<Item = Value>) -> (Self, ModelServer) {
        let script = Self::default();
        script.then(replies);
        let playing = script.clone();
        let server = ModelServer::start(move |visit| playing.answer(visit));
        (script, server)
    }

    /// More replies.
    pub(crate) fn then(&self, replies: impl IntoIterator<Item = Value>) {
        self.inner.lock().unwrap().0.extend(replies);
    }

    /// What was asked since the last time.
    pub(crate) fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut self.inner.lock().unwrap().1)
    }

    fn answer(&self, mut visit: Visit) {
        if visit.path == "/v1/models" {
            return visit.json(200, r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#);
        }
        let request: Value = serde_json::from_str(&visit.body).unwrap();
        let message = {
            let mut inner = self.inner.lock().unwrap();
            inner.1.push(request);
            inner.0.pop_front().unwrap_or_else(|| text("The script is empty."))
        };
        reply(&mut visit, &message);
    }
}

/// Sends a message of the model, streamed or whole as it was asked for.
pub(crate) fn reply(visit: &mut Visit, message: &Value) {
    let finish = if message["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    if !visit.body.contains("\"stream\":true") {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        return visit.json(200, &json!({"choices": [choice]}).to_string());
    }
    visit.begin_stream();
    if let Some(words) = message["content"].as_str().filter(|words| !words.is_empty()) {
        visit.event(&json!({"choices": [{"index": 0, "delta": {"content": words}}]}).to_string());
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let mut call = call.clone();
        call["index"] = json!(index);
        visit.event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string());
    }
    visit.finish(finish);
}
