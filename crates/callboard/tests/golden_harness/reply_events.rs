//! A streamed reply as the client sees it: its events, and what they fold into.

use serde_json::{Value, json};

use super::compact_json::one_line;

/// One event of a stream.
#[derive(Debug)]
pub(super) enum Event {
    /// A comment line, without its colon.
    Comment(String),
    /// A chunk, or an error in its place.
    Data(Value),
    /// `[DONE]`.
    Done,
    /// Anything else.
    Odd(String),
}

/// The events of a body, in order.
pub(super) fn read(body: &str) -> Vec<Event> {
    let event = |text: &str| match text.split_once(": ") {
        Some(("data", "[DONE]")) => Event::Done,
        Some(("data", json)) => serde_json::from_str(json).map_or_else(|_| Event::Odd(text.to_owned()), Event::Data),
        Some(("", words)) => Event::Comment(words.to_owned()),
        _ => Event::Odd(text.to_owned()),
    };
    body.split_terminator("\n\n").map(event).collect()
}

/// A reply as a client assembles it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Folded {
    pub(super) content: String,
    pub(super) reasoning: String,
    pub(super) refusal: String,
    /// Id, name and arguments.
    pub(super) calls: Vec<[String; 3]>,
    pub(super) finish_reason: Value,
}

impl Folded {
    /// Folds a stream.
    pub(super) fn of_stream(events: &[Event]) -> Self {
        let mut folded = Self::default();
        for event in events {
            if let Event::Data(chunk) = event {
                folded.take(&chunk["choices"][0]);
            }
        }
        folded
    }

    /// Reads a whole body.
    pub(super) fn of_body(body: &Value) -> Self {
        let choice = &body["choices"][0];
        let message = &choice["message"];
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        Self {
            content: text(&message["content"]),
            reasoning: text(&message["reasoning_content"]),
            refusal: text(&message["refusal"]),
            calls: calls
                .map(|call| [text(&call["id"]), text(&call["function"]["name"]), text(&call["function"]["arguments"])])
                .collect(),
            finish_reason: choice["finish_reason"].clone(),
        }
    }

    fn take(&mut self, choice: &Value) {
        let delta = &choice["delta"];
        self.content.push_str(&text(&delta["content"]));
        self.reasoning.push_str(&text(&delta["reasoning_content"]));
        self.refusal.push_str(&text(&delta["refusal"]));
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let place =
                usize::try_from(call["index"].as_u64().unwrap_or(0)).unwrap_or(usize::MAX).min(self.calls.len());
            if place == self.calls.len() {
                self.calls.push(Default::default());
            }
            let [id, name, arguments] = &mut self.calls[place];
            id.push_str(&text(&call["id"]));
            name.push_str(&text(&call["function"]["name"]));
            arguments.push_str(&text(&call["function"]["arguments"]));
        }
        if !choice["finish_reason"].is_null() {
            self.finish_reason = choice["finish_reason"].clone();
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The events as text, one line each; adjacent pieces of one kind are joined.
pub(super) fn in_words(events: &[Event]) -> Vec<String> {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for event in events {
        match event {
            Event::Comment(words) => lines.push((":", words.clone())),
            Event::Done => lines.push(("[DONE]", String::new())),
            Event::Odd(words) => lines.push(("odd", format!("{words:?}"))),
            Event::Data(chunk) if chunk.get("error").is_some() => lines.push(("error", one_line(&chunk["error"]))),
            Event::Data(chunk) => describe_chunk(chunk, &mut lines),
        }
    }
    let line = |(kind, words): (&str, String)| match kind {
        "text" | "reasoning" | "refusal" => format!("{kind} {}", json!(words)),
        _ => format!("{kind} {words}"),
    };
    lines.into_iter().map(line).map(|line| line.trim_end().to_owned()).collect()
}

fn describe_chunk(chunk: &Value, lines: &mut Vec<(&'static str, String)>) {
    let choice = &chunk["choices"][0];
    let delta = &choice["delta"];
    if let Some(role) = delta["role"].as_str() {
        lines.push(("role", role.to_owned()));
    }
    for (key, kind) in [("reasoning_content", "reasoning"), ("content", "text"), ("refusal", "refusal")] {
        if let Some(words) = delta[key].as_str().filter(|words| !words.is_empty()) {
            join(lines, kind, words);
        }
    }
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        if call.get("id").is_some() || function.get("name").is_some() {
            lines.push(("call", format!("{} {} {} ", call["index"], text(&call["id"]), text(&function["name"]))));
        }
        join(lines, "call", &text(&function["arguments"]));
    }
    if let Some(word) = choice["finish_reason"].as_str() {
        lines.push(("finish", word.to_owned()));
    }
    if let Some(usage) = chunk.get("usage").filter(|usage| !usage.is_null()) {
        lines.push(("usage", one_line(usage)));
    }
}

fn join(lines: &mut Vec<(&'static str, String)>, kind: &'static str, words: &str) {
    match lines.last_mut() {
        Some((last, so_far)) if *last == kind => so_far.push_str(words),
        _ => lines.push((kind, words.to_owned())),
    }
}
