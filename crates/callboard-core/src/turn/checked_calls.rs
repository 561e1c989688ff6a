//! The calls of a turn in order: valid ones, and broken ones to re-ask.

use crate::contract::{Call, RawCall, Violation};
use crate::model::CallId;

/// A call that was checked.
#[derive(Debug, Clone)]
pub(super) enum CheckedCall {
    /// A valid call.
    Valid(Call),
    /// A call that violates the contract.
    Broken {
        /// The call as the model wrote it.
        raw: RawCall,
        /// The id of its result.
        id: CallId,
        /// What is wrong with it.
        violation: Violation,
    },
}

impl CheckedCall {
    pub(super) fn violation(&self) -> Option<&Violation> {
        match self {
            Self::Valid(_) => None,
            Self::Broken { violation, .. } => Some(violation),
        }
    }

    fn repeats(&self, call: &Call) -> bool {
        matches!(self, Self::Valid(new) if new.name == call.name && same_json(new.arguments.as_str(), call.arguments.as_str()))
    }
}

/// Whether these contain the same valid call.
pub(super) fn is_repeated(answer: &CheckedCall, checked_calls: &[CheckedCall]) -> bool {
    checked_calls.iter().any(|checked| matches!(checked, CheckedCall::Valid(call) if answer.repeats(call)))
}

/// Replaces broken calls by those of a re-ask. Valid ones stay; repetitions of them are dropped.
pub(super) fn fill(checked_calls: &[CheckedCall], answers: &[CheckedCall]) -> Vec<CheckedCall> {
    let mut answers = answers.iter().filter(|answer| !is_repeated(answer, checked_calls)).cloned();
    let last_broken = checked_calls.iter().rposition(|checked| checked.violation().is_some());
    let mut filled = Vec::with_capacity(checked_calls.len());
    for (number, checked) in checked_calls.iter().enumerate() {
        match checked {
            CheckedCall::Valid(_) => filled.push(checked.clone()),
            CheckedCall::Broken { .. } => filled.extend(answers.next()),
        }
        if Some(number) == last_broken {
            filled.extend(answers.by_ref());
        }
    }
    filled.extend(answers);
    filled
}

fn same_json(a: &str, b: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    a == b || value(a).is_some_and(|a| value(b) == Some(a))
}
