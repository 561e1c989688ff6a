//! The calls of a turn in order: valid ones, and broken ones to re-ask.

use super::reask_request::spoken_call;
use super::seen_calls::SeenCalls;
use crate::contract::{Call, RawCall, Violation, history_call};
use crate::model::{CallId, SpokenCall};

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

    /// The call as it is written into a history.
    pub(super) fn in_history(&self) -> SpokenCall {
        match self {
            Self::Valid(call) => spoken_call(call),
            Self::Broken { raw, id, .. } => history_call(raw, id.clone()),
        }
    }

    fn valid(&self) -> Option<&Call> {
        match self {
            Self::Valid(call) => Some(call),
            Self::Broken { .. } => None,
        }
    }
}

/// The calls of a reply that are new: valid ones that repeat an earlier one are left out.
pub(super) fn new_among<'a>(
    answers: &'a [CheckedCall],
    earlier: &[CheckedCall],
) -> impl Iterator<Item = CheckedCall> + use<'a> {
    let seen: SeenCalls = earlier.iter().filter_map(CheckedCall::valid).collect();
    answers.iter().filter(move |answer| !answer.valid().is_some_and(|call| seen.contains(call))).cloned()
}

/// Replaces broken calls by those of a re-ask. Valid ones stay; repetitions of them are dropped.
pub(super) fn fill(checked_calls: &[CheckedCall], answers: &[CheckedCall]) -> Vec<CheckedCall> {
    let mut answers = new_among(answers, checked_calls);
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
