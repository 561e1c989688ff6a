//! The streamed replies of a model server: a well-formed stream made from a shorthand, or one written out.
//!
//! In a written stream each line is one event. `{"delta": …}` is expanded to a whole chunk; any other JSON and `[DONE]` are sent
//! unchanged as data; [`GATE`] waits for the client; every other line is sent verbatim.

use serde_json::{Value, json};

use super::{Reply, Section};

/// The line at which the server waits until the client has received text.
const GATE: &str = "(waits until the client has read this far)";

/// A piece of a stream.
#[derive(PartialEq)]
pub enum StreamPiece {
    /// Bytes that are sent in one write.
    Bytes(String),
    /// Wait until the client has received text.
    Gate,
}

impl Section {
    /// The stream of this reply; none where the page has only a body for it.
    pub fn stream(&self, number: usize, usage_asked: bool) -> Option<Vec<StreamPiece>> {
        let line_end = if self.option("line ends") == Some("CRLF") { "\r\n" } else { "\n" };
        let event = |text: String| StreamPiece::Bytes(format!("{text}{line_end}{line_end}"));
        if let Some(written) = self.fence("sse") {
            let piece = |line: &str| if line == GATE { StreamPiece::Gate } else { event(written_event(line)) };
            return Some(written.lines().map(piece).collect());
        }
        let reply = Reply::read(&self.fence("reply")?, number);
        Some(
            reply
                .chunks(usage_asked)
                .iter()
                .map(|chunk| event(format!("data: {chunk}")))
                .chain([event("data: [DONE]".into())])
                .collect(),
        )
    }
}

fn written_event(line: &str) -> String {
    match serde_json::from_str::<Value>(line) {
        Ok(short) if short.get("delta").is_some() => {
            let mut whole = chunk(&json!({}), &Value::Null);
            let mut choice = short;
            choice["index"] = 0.into();
            whole["choices"] = json!([choice]);
            format!("data: {whole}")
        }
        Ok(_) => format!("data: {line}"),
        Err(_) if line == "[DONE]" => "data: [DONE]".to_owned(),
        Err(_) => line.to_owned(),
    }
}

fn chunk(delta: &Value, finish_reason: &Value) -> Value {
    json!({"id": "u", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})
}

impl Reply {
    /// The chunks of a well-formed stream.
    fn chunks(&self, usage_asked: bool) -> Vec<Value> {
        let mut deltas = vec![json!({"role": "assistant", "content": ""})];
        deltas
            .extend(self.reasoning.iter().flat_map(|text| words(text)).map(|word| json!({"reasoning_content": word})));
        deltas.extend(self.text.iter().flat_map(|text| words(text)).map(|word| json!({"content": word})));
        for (index, call) in self.calls.iter().enumerate() {
            deltas.extend(call_deltas(index, call));
        }
        let mut chunks: Vec<Value> = deltas.iter().map(|delta| chunk(delta, &Value::Null)).collect();
        chunks.push(chunk(&json!({}), &self.finish_reason.as_str().into()));
        if usage_asked && !self.usage.is_null() {
            let mut last = chunk(&json!({}), &Value::Null);
            last["choices"] = json!([]);
            last["usage"] = self.usage.clone();
            chunks.push(last);
        }
        chunks
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split_inclusive(' ').collect()
}

/// The head of a call, then its arguments eleven characters at a time.
fn call_deltas(index: usize, call: &Value) -> Vec<Value> {
    let mut head = call.clone();
    head["index"] = index.into();
    let arguments = head["function"]["arguments"].as_str().unwrap_or_default().to_owned();
    head["function"]["arguments"] = "".into();
    let letters: Vec<char> = arguments.chars().collect();
    let pieces = letters.chunks(11).map(|piece| {
        let text: String = piece.iter().collect();
        json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
    });
    [json!({"tool_calls": [head]})].into_iter().chain(pieces).collect()
}
