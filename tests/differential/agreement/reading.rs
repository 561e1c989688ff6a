//! What a reader makes of a text, in a form that two readers can be compared by.
//!
//! Where whitespace around markup goes is a matter of taste, so runs of it count as one space. Arguments are compared as
//! values.

use std::fmt;

use serde_json::Value;

/// Words, thoughts and calls.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Reading {
    text: String,
    reasoning: String,
    calls: Vec<(String, Value)>,
}

impl Reading {
    pub(crate) fn new(text: &str, reasoning: &str, calls: Vec<(String, Value)>) -> Self {
        Self { text: settled(text), reasoning: settled(reasoning), calls }
    }

    /// Whether these words are said, and no others.
    pub(crate) fn says(&self, words: &str) -> bool {
        self.text == settled(words)
    }
}

fn settled(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One line: what is empty is left out.
impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = [("thinks", &self.reasoning), ("says", &self.text)];
        let mut parts: Vec<String> = said
            .iter()
            .filter(|(_, words)| !words.is_empty())
            .map(|(verb, words)| format!("{verb} {words:?}"))
            .collect();
        parts.extend(self.calls.iter().map(|(name, arguments)| format!("calls {name} {arguments}")));
        if parts.is_empty() { f.write_str("nothing") } else { f.write_str(&parts.join(", ")) }
    }
}
