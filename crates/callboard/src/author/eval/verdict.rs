//! What came of one case.

use serde_json::{Map, Value};

/// A call that reached a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Made {
    /// The tool.
    pub(super) tool: String,
    /// The arguments as the tool got them.
    pub(super) arguments: Map<String, Value>,
    /// What it answered.
    pub(super) result: String,
    /// It did nothing, and said so.
    pub(super) refused: bool,
}

/// What a model did in one case.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// The calls that reached a tool, in their order.
    pub(super) calls: Vec<Made>,
    /// All calls, also those that broke the contract or named something unknown.
    pub(super) attempts: usize,
    /// What it said.
    pub(super) said: String,
    /// The state after it.
    pub(super) state: Value,
    /// Why the case could not be played to its end.
    pub(super) failure: Option<String>,
}

/// How a case came out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Some call is wanted; else none may come.
    pub(super) wants_call: bool,
    /// The right tools were called, and no others; where no call is wanted, nothing was done.
    pub(super) tools: bool,
    /// And with the right arguments.
    pub(super) arguments: bool,
    /// The stated state and finding hold; nothing where none is stated.
    pub(super) holds: Option<bool>,
    /// No call was even tried.
    pub(super) silent: bool,
    /// The answer was words and no call.
    pub(super) text_only: bool,
    /// The case could not be played to its end.
    pub(super) failed: bool,
}

impl Verdict {
    /// The right tools with the right arguments, or no call where none is wanted.
    pub(super) fn is_right(self) -> bool {
        self.tools && self.arguments
    }
}

impl Heard {
    /// The part of a verdict that no expectation is needed for.
    pub(super) fn manner(&self) -> Verdict {
        let failed = self.failure.is_some();
        let silent = self.attempts == 0 && !failed;
        Verdict { silent, text_only: silent && !self.said.trim().is_empty(), failed, ..Verdict::default() }
    }
}

/// A call in one line.
pub(super) fn written(tool: &str, arguments: &Map<String, Value>) -> String {
    format!("{tool} {}", Value::Object(arguments.clone()))
}
