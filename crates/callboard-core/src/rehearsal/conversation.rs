//! The state of a conversation: the last user message, unanswered ones before it, tool results and the last call.

use serde_json::{Map, Value};

/// The part of a conversation that a reply depends on.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// All system messages, concatenated.
    pub(super) system: String,
    /// The last user message.
    pub(super) last_message: String,
    /// Earlier user messages without an answer or a call, oldest first.
    pub(super) unanswered: Vec<String>,
    /// Results of the last calls; empty once the user writes.
    pub(super) results: Vec<String>,
    /// The last call: tool and arguments.
    pub(super) last_call: Option<(String, Map<String, Value>)>,
}

/// How many unanswered messages are kept.
const MOST_UNANSWERED: usize = 3;

/// Reads the messages of a request.
pub(super) fn conversation_of(request: &Value) -> Conversation {
    let messages = request.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut conversation = Conversation::default();
    for message in messages {
        let text = text_of(message.get("content"));
        match message.get("role").and_then(Value::as_str) {
            Some("system" | "developer") => {
                conversation.system.push_str(&text);
                conversation.system.push('\n');
            }
            Some("user") => conversation.add_user_message(text),
            Some("tool" | "function") => conversation.results.push(text),
            Some("assistant") => conversation.add_assistant_message(message, &text),
            _ => {}
        }
    }
    conversation
}

impl Conversation {
    fn add_user_message(&mut self, text: String) {
        self.results.clear();
        let before = std::mem::replace(&mut self.last_message, text);
        if !before.is_empty() {
            self.unanswered.push(before);
            if self.unanswered.len() > MOST_UNANSWERED {
                self.unanswered.remove(0);
            }
        }
    }

    /// Text or a call answers all pending messages; an empty message does not.
    fn add_assistant_message(&mut self, message: &Value, text: &str) {
        let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        self.last_call = calls.last().and_then(call_of).or(self.last_call.take());
        if !calls.is_empty() || !text.trim().is_empty() || message.get("function_call").is_some_and(Value::is_object) {
            self.last_message.clear();
            self.unanswered.clear();
            self.results.clear();
        }
    }
}

fn call_of(call: &Value) -> Option<(String, Map<String, Value>)> {
    let function = call.get("function")?;
    let arguments = serde_json::from_str(function.get("arguments")?.as_str()?).ok()?;
    Some((function.get("name")?.as_str()?.to_owned(), arguments))
}

fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str())).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_reply_leaves_messages_unanswered() {
        let request = json!({"messages": [
            {"role": "system", "content": "Keep score."},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "Noted."},
            {"role": "user", "content": "two"},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": [{"type": "text", "text": "three"}]},
        ]});
        let conversation = conversation_of(&request);
        assert_eq!(
            (conversation.last_message.as_str(), conversation.unanswered.as_slice()),
            ("three", &["two".to_owned()][..])
        );
    }

    #[test]
    fn results_are_those_since_the_last_call() {
        let request = json!({"messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [{"id": "a"}]},
            {"role": "tool", "content": "done"},
        ]});
        assert_eq!(conversation_of(&request).results, ["done"]);
    }
}
