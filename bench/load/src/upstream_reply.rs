//! The bytes the upstream sends, made once before the first request: a whole reply, and a stream as
//! the list of its writes, with and without the usage event that a request may ask for.

use serde_json::{Value, json};

use crate::responses_events::responses_events;
use crate::scenario::Scenario;

pub(crate) struct Reply {
    whole: Vec<u8>,
    stream: Vec<Vec<u8>>,
    stream_with_usage: Vec<Vec<u8>>,
    responses: Vec<Vec<u8>>,
}

impl Reply {
    pub(crate) fn to(scenario: Scenario) -> Self {
        let choice = json!({ "index": 0, "message": scenario.message(), "logprobs": null,
            "finish_reason": scenario.finish_reason() });
        let mut whole = envelope(scenario, "chat.completion", &choice);
        if let Some(fields) = whole.as_object_mut() {
            fields.insert("usage".into(), usage());
        }
        Self {
            whole: with_length("200 OK", &whole),
            stream: writes(&sse(events(scenario, false))),
            stream_with_usage: writes(&sse(events(scenario, true))),
            responses: writes(&responses_events(scenario)),
        }
    }

    pub(crate) fn whole(&self) -> &[u8] {
        &self.whole
    }

    /// One element is one event and one write.
    pub(crate) fn stream(&self, with_usage: bool) -> &[Vec<u8>] {
        if with_usage { &self.stream_with_usage } else { &self.stream }
    }

    /// The same reply in the Responses API, for gateways that pass requests for it on.
    pub(crate) fn responses(&self) -> &[Vec<u8>] {
        &self.responses
    }
}

/// A reply of known length.
pub(crate) fn with_length(status: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn events(scenario: Scenario, with_usage: bool) -> Vec<String> {
    let chunk = |delta: Value, finish_reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
        envelope(scenario, "chat.completion.chunk", &choice)
    };
    let mut chunks: Vec<Value> = scenario.deltas().into_iter().map(|delta| chunk(delta, Value::Null)).collect();
    chunks.push(chunk(json!({}), scenario.finish_reason().into()));
    if with_usage {
        let mut last = chunk(json!({}), Value::Null);
        if let Some(fields) = last.as_object_mut() {
            fields.insert("choices".into(), json!([]));
            fields.insert("usage".into(), usage());
        }
        chunks.push(last);
    }
    chunks.iter().map(Value::to_string).chain(["[DONE]".to_owned()]).collect()
}

fn sse(events: Vec<String>) -> Vec<String> {
    events.into_iter().map(|data| format!("data: {data}\n\n")).collect()
}

/// Each event as a chunk of its own; the head goes with the first, the end with the last.
fn writes(events: &[String]) -> Vec<Vec<u8>> {
    let last = events.len().saturating_sub(1);
    let write = |(place, event): (usize, &String)| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
            cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
        let head = if place == 0 { head } else { "" };
        let end = if place == last { "0\r\n\r\n" } else { "" };
        format!("{head}{:x}\r\n{event}\r\n{end}", event.len()).into_bytes()
    };
    events.iter().enumerate().map(write).collect()
}

fn envelope(scenario: Scenario, object: &str, choice: &Value) -> Value {
    json!({ "id": "chatcmpl-4f0c9d2b7a6e41c3b85d", "object": object, "created": 1_767_225_600,
        "model": scenario.name(), "choices": [choice] })
}

fn usage() -> Value {
    json!({ "prompt_tokens": 1450, "completion_tokens": 200, "total_tokens": 1650 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_the_promised_number_of_events() {
        let rows = [
            (Scenario::StreamedToolCall, 25),
            (Scenario::StreamedText, 204),
            (Scenario::UnpacedText, 204),
            (Scenario::ShortText, 9),
        ];
        for (scenario, count) in rows {
            let reply = Reply::to(scenario);
            assert_eq!(reply.stream(true).len(), count);
            assert_eq!(reply.stream(false).len(), count - 1);
        }
    }
}
