//! What each model of a server is known to refuse, for as long as the program runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callboard_core::wire::chat::adapt::Quirk;

type Quirks = BTreeMap<String, BTreeSet<Quirk>>;

/// The quirks of a server, by model.
#[derive(Debug, Default)]
pub struct QuirkCache(Mutex<Quirks>);

impl QuirkCache {
    /// The quirks of a model.
    pub fn get(&self, model: &str) -> BTreeSet<Quirk> {
        self.lock().get(model).cloned().unwrap_or_default()
    }

    /// Remembers a quirk; false when it was known already.
    pub fn insert(&self, model: &str, quirk: Quirk) -> bool {
        self.lock().entry(model.to_owned()).or_default().insert(quirk)
    }

    /// All quirks, by model.
    pub fn all(&self) -> BTreeMap<String, Vec<String>> {
        let names = |set: &BTreeSet<Quirk>| set.iter().map(ToString::to_string).collect();
        self.lock().iter().map(|(model, set)| (model.clone(), names(set))).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Quirks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
