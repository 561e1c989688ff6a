//! The calls of a turn in their order: those that passed, and those that are still asked for.

use crate::contract::{Call, RawCall, Violation};
use crate::model::CallId;

/// One place in the order of calls.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// A call that passed.
    Valid(Call),
    /// A call that broke a promise.
    Broken {
        /// What the model wrote.
        raw: RawCall,
        /// The id under which it is answered.
        id: CallId,
        /// What is wrong with it.
        violation: Violation,
    },
}

impl Place {
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

/// Whether a call was made before among these, and is valid already.
pub(super) fn is_repeated(answer: &Place, places: &[Place]) -> bool {
    places.iter().any(|place| matches!(place, Place::Valid(call) if answer.repeats(call)))
}

/// Puts the calls of a re-ask where the broken ones stood. Valid ones stay, and are not taken twice when a model repeats them.
pub(super) fn fill(places: &[Place], answers: &[Place]) -> Vec<Place> {
    let mut answers = answers.iter().filter(|answer| !is_repeated(answer, places)).cloned();
    let last_broken = places.iter().rposition(|place| place.violation().is_some());
    let mut filled = Vec::with_capacity(places.len());
    for (number, place) in places.iter().enumerate() {
        match place {
            Place::Valid(_) => filled.push(place.clone()),
            Place::Broken { .. } => filled.extend(answers.next()),
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
