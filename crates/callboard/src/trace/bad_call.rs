//! A call that was not valid as the model wrote it, as a trace shows it.

use callboard_core::contract::{self, CallText, Outcome};
use serde::Serialize;

/// What was wrong with a call, and what became of it. What the model wrote is there only where it may be recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BadCall {
    /// The tool that was meant; the name as written where there is none.
    pub tool: String,
    /// The ids of its calls in `tool_calls`, as far as it got there.
    pub call_ids: Vec<String>,
    /// What was done.
    pub outcome: &'static str,
    /// The violation, or the repairs.
    pub violations: Vec<&'static str>,
    /// The places in the arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Why it could not be repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// As the model wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<RecordedCall>,
    /// As it was passed on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<RecordedCall>,
}

/// The text of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedCall {
    /// The name.
    pub name: String,
    /// The arguments.
    pub arguments: String,
}

impl BadCall {
    /// The call; its `content` only where that may be recorded.
    pub fn of(call: &contract::BadCall, content: bool) -> Self {
        // A call that nothing was done about ended with its turn.
        let outcome = call.outcome.unwrap_or(Outcome::Refused).as_str();
        let known = Self {
            tool: call.tool.clone(),
            call_ids: call.ids.iter().map(|id| id.as_str().to_owned()).collect(),
            outcome,
            violations: call.violations.clone(),
            paths: Vec::new(),
            reason: None,
            before: None,
            after: Vec::new(),
        };
        if !content {
            return known;
        }
        Self {
            paths: call.paths.clone(),
            reason: call.reason.clone(),
            before: Some(RecordedCall::of(&call.before)),
            after: call.after.iter().map(RecordedCall::of).collect(),
            ..known
        }
    }

    /// About how many bytes of content it holds.
    pub(super) fn content_bytes(&self) -> usize {
        let texts = self.before.iter().chain(&self.after).map(|call| call.name.len() + call.arguments.len());
        let paths = self.paths.iter().map(String::len);
        texts.chain(paths).sum::<usize>() + self.reason.as_ref().map_or(0, String::len)
    }
}

impl RecordedCall {
    fn of(call: &CallText) -> Self {
        Self { name: call.name.clone(), arguments: call.arguments.clone() }
    }
}
