//! A model server that sends prepared replies in order and records the requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Exchange, ModelServer};

/// The remaining replies, and the requests since the last call of `asked`.
#[derive(Clone, Default)]
pub struct Script {
    inner: Arc<Mutex<(VecDeque<Value>, Vec<Value>)>>,
}

/// A reply of text.
pub fn text(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// A reply with text and calls, each a name and arguments.
pub fn calls(text: &str, calls: &[(&str, Value)]) -> Value {
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
    /// Starts a model server with these replies.
    pub fn start(replies: impl IntoIterator<Item = Value>) -> (Self, ModelServer) {
        let script = Self::default();
        script.then(replies);
        let playing = script.clone();
        let server = ModelServer::start(move |exchange| playing.answer(exchange));
        (script, server)
    }

    /// Adds replies.
    pub fn then(&self, replies: impl IntoIterator<Item = Value>) {
        self.inner.lock().unwrap().0.extend(replies);
    }

    /// Takes the requests since the last call.
    pub fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut self.inner.lock().unwrap().1)
    }

    fn answer(&self, mut exchange: Exchange) {
        if exchange.path == "/v1/models" {
            return exchange.json(200, r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#);
        }
        let request = exchange.request();
        let message = {
            let mut inner = self.inner.lock().unwrap();
            inner.1.push(request);
            inner.0.pop_front().unwrap_or_else(|| text("The script is empty."))
        };
        reply(&mut exchange, &message);
    }
}

/// Sends a message of the model, streamed or whole as requested.
pub fn reply(exchange: &mut Exchange, message: &Value) {
    let finish = if message["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    if !exchange.body.contains("\"stream\":true") {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        return exchange.json(200, &json!({"choices": [choice]}).to_string());
    }
    exchange.begin_stream();
    if let Some(words) = message["content"].as_str().filter(|words| !words.is_empty()) {
        exchange.event(&json!({"choices": [{"index": 0, "delta": {"content": words}}]}).to_string());
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let mut call = call.clone();
        call["index"] = json!(index);
        exchange.event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string());
    }
    exchange.finish(finish);
}
