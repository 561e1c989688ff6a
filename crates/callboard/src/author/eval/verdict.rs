//! What a model did in one case, and how that is judged.

use serde_json::{Map, Value};

/// A call that reached a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MadeCall {
    pub(super) tool: String,
    /// The arguments as the tool got them.
    pub(super) arguments: Map<String, Value>,
    pub(super) result: String,
    /// The tool reported that it did nothing.
    pub(super) refused: bool,
}

/// What a model did in one case.
#[derive(Debug, Default)]
pub(super) struct ModelTurn {
    /// The calls that reached a tool, in order.
    pub(super) calls: Vec<MadeCall>,
    /// The number of all calls, also of those that broke the contract or named something unknown.
    pub(super) attempts: usize,
    /// How many of the calls keep the contract as they are written. Only counted where no character plays.
    pub(super) valid: usize,
    pub(super) text: String,
    /// The character's state after it.
    pub(super) state: Value,
    /// Why the case could not be completed.
    pub(super) failure: Option<String>,
}

/// The result of a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Whether a call is expected; otherwise none is allowed.
    pub(super) expects_call: bool,
    /// The right tools were called, and no others; where no call is expected, nothing was done.
    pub(super) tools: bool,
    /// The right tools were called with the right arguments.
    pub(super) arguments: bool,
    /// Whether the state and the finding are as expected; none where the case names neither.
    pub(super) state: Option<bool>,
    /// The model attempted no call.
    pub(super) silent: bool,
    /// The reply was text and no call.
    pub(super) text_only: bool,
    /// The case could not be completed.
    pub(super) failed: bool,
}

impl Verdict {
    /// The part of a verdict that needs no expectation.
    pub(super) fn of(turn: &ModelTurn, expects_call: bool) -> Self {
        let failed = turn.failure.is_some();
        let silent = turn.attempts == 0 && !failed;
        let text_only = silent && !turn.text.trim().is_empty();
        Self { expects_call, silent, text_only, failed, ..Self::default() }
    }

    /// The right tools with the right arguments, or no call where none is expected.
    pub(super) fn is_right(&self) -> bool {
        self.tools && self.arguments
    }
}

/// A call on one line.
pub(super) fn call_line(tool: &str, arguments: &Map<String, Value>) -> String {
    format!("{tool} {}", Value::Object(arguments.clone()))
}
