//! The names under which models are counted. Clients choose model names, so unknown ones must not create new counts.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The name for all other models.
const OTHER: &str = "other";
/// The most names that are added for models that answered.
const MOST_ANSWERED: usize = 64;
const LONGEST: usize = 128;

/// The known names.
#[derive(Debug, Default)]
pub(super) struct ModelNames {
    configured: HashSet<String>,
    answered: Mutex<HashSet<String>>,
}

impl ModelNames {
    /// Starts with the names in the settings.
    pub(super) fn new(configured: impl IntoIterator<Item = String>) -> Self {
        Self { configured: configured.into_iter().collect(), answered: Mutex::default() }
    }

    /// The name for a turn of a model; a model that answered becomes known.
    pub(super) fn counted_as(&self, model: &str, has_answered: bool) -> String {
        // None was asked, or none was named.
        if model.is_empty() {
            return String::new();
        }
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = self.configured.contains(model) || answered.contains(model);
        if !is_known && (!has_answered || answered.len() >= MOST_ANSWERED || model.len() > LONGEST) {
            return OTHER.to_owned();
        }
        if !is_known {
            answered.insert(model.to_owned());
        }
        model.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_models_are_counted_by_name() {
        let names = ModelNames::new(["said".to_owned()]);
        assert_eq!(names.counted_as("said", false), "said");
        assert_eq!(names.counted_as("", false), "");
        assert_eq!(names.counted_as("m", false), "other");
        assert_eq!(names.counted_as("m", true), "m");
        assert_eq!(names.counted_as("m", false), "m");
        assert_eq!(names.counted_as(&"x".repeat(129), true), "other");
        for number in 1..MOST_ANSWERED {
            assert_ne!(names.counted_as(&format!("model {number}"), true), "other");
        }
        assert_eq!(names.counted_as("one too many", true), "other");
        assert_eq!(names.counted_as("said", true), "said");
    }
}
