//! Requests and replies by scenario. The name of a scenario is also the `model` of its requests, so
//! the upstream can select the reply behind any gateway. All requests are those of a coding agent with
//! five tools; the replies keep the contract, so nothing is repaired.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Outcome;

/// An id in a format that gateways may keep. It differs from the one in the request's history.
const CALL_ID: &str = "call_Zp3nK8vB6tQ1xJ5mD7gS2hUe";
const LAST_WORD: &str = "checked.";
const WORDS: &str = "The delay now doubles with every attempt and stops growing at thirty seconds, while the \
    public fields stay as they were, so callers need no change; the new test walks through the first ten attempts.";

const ARGUMENT_FRAGMENTS: usize = 20;
const TEXT_PIECES: usize = 200;
const SHORT_TEXT_PIECES: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scenario {
    WholeToolCall,
    StreamedToolCall,
    StreamedText,
    /// The same text as fast as it can be written.
    UnpacedText,
    ShortText,
    /// A call, and after its result the short text.
    CallThenText,
    /// A streamed call whose arguments have about this many bytes.
    Arguments(usize),
    /// A text in this many events.
    Text(usize),
}

impl Scenario {
    /// Sizes go up by a factor of ten, so `bench/growth` can see how cost grows with them.
    pub(crate) const ALL: [Self; 14] = [
        Self::WholeToolCall,
        Self::StreamedToolCall,
        Self::StreamedText,
        Self::UnpacedText,
        Self::ShortText,
        Self::CallThenText,
        Self::Arguments(100),
        Self::Arguments(1000),
        Self::Arguments(10_000),
        Self::Arguments(100_000),
        Self::Text(10),
        Self::Text(100),
        Self::Text(1000),
        Self::Text(10_000),
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Self::WholeToolCall => "whole-tool-call".to_owned(),
            Self::StreamedToolCall => "streamed-tool-call".to_owned(),
            Self::StreamedText => "streamed-text".to_owned(),
            Self::UnpacedText => "streamed-text-unpaced".to_owned(),
            Self::ShortText => "short-text".to_owned(),
            Self::CallThenText => "call-then-text".to_owned(),
            Self::Arguments(bytes) => format!("arguments-{bytes}"),
            Self::Text(events) => format!("text-{events}"),
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scenario| scenario.name() == name)
    }

    /// The body of every request.
    pub(crate) fn request(self) -> Outcome<String> {
        let mut body: Value = serde_json::from_str(include_str!("request.json"))?;
        let fields = body.as_object_mut().ok_or("request.json must hold an object")?;
        fields.insert("model".into(), self.name().into());
        if self != Self::WholeToolCall {
            fields.insert("stream".into(), true.into());
            fields.insert("stream_options".into(), json!({ "include_usage": true }));
        }
        Ok(body.to_string())
    }

    /// What a complete and correct reply contains, in any gateway's format.
    pub(crate) fn expected(self) -> &'static [&'static str] {
        match self {
            Self::WholeToolCall => &["\"tool_calls\"", CALL_ID, "src/retry.rs"],
            Self::StreamedToolCall | Self::Arguments(_) => &["\"tool_calls\"", CALL_ID, "[DONE]"],
            Self::StreamedText | Self::UnpacedText | Self::ShortText | Self::CallThenText | Self::Text(_) => {
                &[LAST_WORD, "\"stop\"", "[DONE]"]
            }
        }
    }

    /// The pause before each event after the first, as between the tokens of a model. Without it, a gateway
    /// that falls behind would read several events at once, and would look cheaper for being slower.
    pub(crate) fn pause(self) -> Option<Duration> {
        (self == Self::StreamedText).then_some(Duration::from_millis(2))
    }

    /// The `message` of the whole reply.
    pub(crate) fn message(self) -> Value {
        match self.text_pieces() {
            Some(pieces) => json!({ "role": "assistant", "content": pieces.concat() }),
            None => json!({ "role": "assistant", "content": null, "tool_calls": [{
                "id": CALL_ID, "type": "function",
                "function": { "name": self.tool(), "arguments": self.arguments() },
            }] }),
        }
    }

    /// The `delta`s of the streamed reply, from the role to the last before the finish.
    pub(crate) fn deltas(self) -> Vec<Value> {
        let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
        if let Some(pieces) = self.text_pieces() {
            deltas.extend(pieces.iter().map(|piece| json!({ "content": piece })));
            return deltas;
        }
        deltas.push(json!({ "tool_calls": [{ "index": 0, "id": CALL_ID, "type": "function",
            "function": { "name": self.tool(), "arguments": "" } }] }));
        let fragments = fragments(&self.arguments());
        deltas.extend(
            fragments
                .iter()
                .map(|fragment| json!({ "tool_calls": [{ "index": 0, "function": { "arguments": fragment } }] })),
        );
        deltas
    }

    pub(crate) fn finish_reason(self) -> &'static str {
        if self.is_call() { "tool_calls" } else { "stop" }
    }

    /// Whether the reply is a call, not a text.
    pub(crate) fn is_call(self) -> bool {
        matches!(self, Self::WholeToolCall | Self::StreamedToolCall | Self::CallThenText | Self::Arguments(_))
    }

    /// The pieces in which a text reply is streamed.
    fn text_pieces(self) -> Option<Vec<String>> {
        match self {
            Self::StreamedText | Self::UnpacedText => Some(text_pieces(TEXT_PIECES)),
            Self::ShortText => Some(text_pieces(SHORT_TEXT_PIECES)),
            Self::Text(events) => Some(text_pieces(events)),
            Self::WholeToolCall | Self::StreamedToolCall | Self::CallThenText | Self::Arguments(_) => None,
        }
    }

    fn tool(self) -> &'static str {
        if self == Self::CallThenText { "note" } else { "write_file" }
    }

    fn arguments(self) -> String {
        match self {
            Self::CallThenText => json!({ "text": "The delay doubles." }).to_string(),
            Self::Arguments(bytes) => {
                json!({ "path": "src/retry.rs", "content": "0123456789".repeat(bytes / 10) }).to_string()
            }
            _ => arguments(),
        }
    }
}

fn arguments() -> String {
    let content = "//! Tries an action again until it succeeds.\n\nuse std::time::Duration;\n\n\
        const LONGEST: Duration = Duration::from_secs(30);\n\npub struct Retry {\n    pub attempts: u32,\n    \
        pub wait: Duration,\n}\n\nimpl Retry {\n    /// Doubles with \"attempt\", up to `LONGEST`.\n    \
        pub fn delay(&self, attempt: u32) -> Duration {\n        \
        self.wait.saturating_mul(1 << attempt.min(16)).min(LONGEST)\n    }\n}\n";
    json!({ "path": "src/retry.rs", "content": content }).to_string()
}

fn fragments(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(letters.len().div_ceil(ARGUMENT_FRAGMENTS)).map(|chunk| chunk.iter().collect()).collect()
}

fn text_pieces(count: usize) -> Vec<String> {
    let words = WORDS.split(' ').cycle().take(count - 1);
    words.map(|word| format!("{word} ")).chain([LAST_WORD.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_join_to_the_arguments() {
        let fragments = fragments(&arguments());
        assert_eq!(fragments.len(), ARGUMENT_FRAGMENTS);
        assert_eq!(fragments.concat(), arguments());
    }

    #[test]
    fn the_call_is_new_to_the_conversation() {
        let request = Scenario::StreamedToolCall.request().expect("request.json is valid");
        assert!(!request.contains(CALL_ID));
        assert_eq!(CALL_ID.len(), "call_".len() + 24);
    }
}
