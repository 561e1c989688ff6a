//! Under which names models are counted. Clients name models, so names that nobody knows must not make figures grow.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The name for all models that have none of their own here.
const OTHER: &str = "other";
/// So many names are taken over from models that answered.
const MOST_HEARD: usize = 64;
const LONGEST: usize = 128;

/// The names that are known.
#[derive(Debug, Default)]
pub(super) struct ModelNames {
    said: HashSet<String>,
    heard: Mutex<HashSet<String>>,
}

impl ModelNames {
    /// Begins with the names that the settings say.
    pub(super) fn new(said: impl IntoIterator<Item = String>) -> Self {
        Self { said: said.into_iter().collect(), heard: Mutex::default() }
    }

    /// The name for a model's turn; one more is known when it answered.
    pub(super) fn counted_as(&self, model: &str, answered: bool) -> String {
        if self.said.contains(model) || self.has_heard(model, answered) { model.to_owned() } else { OTHER.to_owned() }
    }

    fn has_heard(&self, model: &str, answered: bool) -> bool {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.contains(model) {
            return true;
        }
        let room = answered && heard.len() < MOST_HEARD && model.len() <= LONGEST;
        room && heard.insert(model.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_models_that_somebody_knows_have_a_name() {
        let names = ModelNames::new(["said".to_owned()]);
        assert_eq!(names.counted_as("said", false), "said");
        assert_eq!(names.counted_as("m", false), "other");
        assert_eq!(names.counted_as("m", true), "m");
        assert_eq!(names.counted_as("m", false), "m");
        assert_eq!(names.counted_as(&"x".repeat(129), true), "other");
        for number in 1..MOST_HEARD {
            assert_ne!(names.counted_as(&format!("model {number}"), true), "other");
        }
        assert_eq!(names.counted_as("one too many", true), "other");
        assert_eq!(names.counted_as("said", true), "said");
    }
}
