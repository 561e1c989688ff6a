//! The bytes of a streamed response as its events, and the comments between them.

use serde_json::Value;

/// Events and comments.
#[derive(Debug, Default)]
pub(super) struct EventStream {
    pub(super) events: Vec<Value>,
    comments: Vec<String>,
    pub(super) faults: Vec<String>,
}

impl EventStream {
    /// Reads a whole body.
    pub(super) fn read(body: &str) -> Self {
        let mut stream = Self::default();
        if !body.ends_with("\n\n") {
            stream.faults.push("the last event is cut".to_owned());
        }
        let Some(events) = body.strip_suffix("data: [DONE]\n\n") else {
            stream.faults.push("the stream does not end with [DONE]".to_owned());
            return stream;
        };
        for block in events.split_terminator("\n\n") {
            match block.strip_prefix(": ") {
                Some(comment) => stream.comments.push(comment.to_owned()),
                None => stream.take(block),
            }
        }
        stream
    }

    /// The rest of a comment that begins with this word.
    pub(super) fn comment(&self, word: &str) -> Option<String> {
        self.comments.iter().find_map(|comment| comment.strip_prefix(word)?.strip_prefix(' ')).map(str::to_owned)
    }

    fn take(&mut self, block: &str) {
        let read = block.split_once("\ndata: ").and_then(|(name, data)| {
            let event: Value = serde_json::from_str(data).ok()?;
            (name.strip_prefix("event: ") == event["type"].as_str()).then_some(event)
        });
        match read {
            Some(event) => self.events.push(event),
            None => self.faults.push(format!("{block:?} is no event with its name before it")),
        }
    }
}
