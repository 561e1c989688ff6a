//! What a model server was found to refuse, for each of its models.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use callboard_core::wire::chat::adapt::Quirk;

/// Remembered for as long as the program runs.
#[derive(Debug, Default)]
pub struct Learned {
    quirks: Mutex<BTreeMap<String, BTreeSet<Quirk>>>,
}

impl Learned {
    /// What is known about a model.
    pub fn of(&self, model: &str) -> BTreeSet<Quirk> {
        self.quirks.lock().unwrap_or_else(PoisonError::into_inner).get(model).cloned().unwrap_or_default()
    }

    /// Remembers one more; false when it was known already.
    pub fn add(&self, model: &str, quirk: Quirk) -> bool {
        self.quirks.lock().unwrap_or_else(PoisonError::into_inner).entry(model.to_owned()).or_default().insert(quirk)
    }

    /// Goes back to what was known before.
    pub fn forget_all_but(&self, model: &str, before: &BTreeSet<Quirk>) {
        let mut quirks = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = quirks.get_mut(model) {
            known.retain(|quirk| before.contains(quirk));
        }
        quirks.retain(|_, known| !known.is_empty());
    }

    /// All that is known, by model.
    pub fn all(&self) -> BTreeMap<String, Vec<String>> {
        let quirks = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        quirks.iter().map(|(model, set)| (model.clone(), set.iter().map(ToString::to_string).collect())).collect()
    }
}
