//! What is known of each model of a server: its family, and what it was found to refuse, for as long as the program runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callboard_core::wire::chat::adapt::{Capabilities, Family, Feature, Quirk, Support};

/// Clients may name models as they like; those over this number are not remembered unless something was learned of them.
const MOST_MODELS: usize = 1024;

/// One model of a server.
#[derive(Debug, Clone)]
pub struct ModelProfile {
    /// By its name.
    pub family: Family,
    /// What it was found to refuse.
    pub quirks: BTreeSet<Quirk>,
    /// What it was found to do with the parts of a request that concern tools.
    pub capabilities: Capabilities,
}

/// The models of a server.
#[derive(Debug, Default)]
pub struct ModelProfiles(Mutex<HashMap<String, Arc<ModelProfile>>>);

impl ModelProfile {
    fn new(model: &str) -> Self {
        Self { family: Family::of(model), quirks: BTreeSet::new(), capabilities: Capabilities::default() }
    }
}

impl ModelProfiles {
    /// The profile of a model.
    pub fn get(&self, model: &str) -> Arc<ModelProfile> {
        let mut profiles = self.lock();
        if let Some(profile) = profiles.get(model) {
            return Arc::clone(profile);
        }
        let profile = Arc::new(ModelProfile::new(model));
        if profiles.len() < MOST_MODELS {
            profiles.insert(model.to_owned(), Arc::clone(&profile));
        }
        profile
    }

    /// Remembers a quirk; false when it was known already.
    pub fn learn(&self, model: &str, quirk: Quirk) -> bool {
        let mut profiles = self.lock();
        let profile = profiles.entry(model.to_owned()).or_insert_with(|| Arc::new(ModelProfile::new(model)));
        Arc::make_mut(profile).quirks.insert(quirk)
    }

    /// Remembers what the server does with a feature.
    pub fn found(&self, model: &str, feature: Feature, support: Support) {
        let mut profiles = self.lock();
        let profile = profiles.entry(model.to_owned()).or_insert_with(|| Arc::new(ModelProfile::new(model)));
        Arc::make_mut(profile).capabilities.set(feature, support);
    }

    /// All quirks, by model.
    pub fn quirks(&self) -> BTreeMap<String, Vec<String>> {
        let profiles = self.lock();
        let known = profiles.iter().filter(|(_, profile)| !profile.quirks.is_empty());
        let words = |profile: &ModelProfile| profile.quirks.iter().map(ToString::to_string).collect();
        known.map(|(model, profile)| (model.clone(), words(profile))).collect()
    }

    /// The format in which each model that was asked writes calls as text.
    pub fn families(&self) -> BTreeMap<String, &'static str> {
        let profiles = self.lock();
        profiles.iter().map(|(model, profile)| (model.clone(), profile.family.label())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<ModelProfile>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_kept_and_learn() {
        let profiles = ModelProfiles::default();
        assert_eq!(profiles.get("qwen3-coder").family, Family::QwenCoder);
        assert!(profiles.learn("qwen3-coder", Quirk::IndexedCallIds));
        assert!(!profiles.learn("qwen3-coder", Quirk::IndexedCallIds));
        assert_eq!(profiles.get("qwen3-coder").quirks.len(), 1);
        profiles.found("qwen3-coder", Feature::Tools, Support::Ignored);
        assert_eq!(profiles.get("qwen3-coder").capabilities.get(Feature::Tools), Some(Support::Ignored));
        assert_eq!(profiles.quirks().keys().collect::<Vec<_>>(), ["qwen3-coder"]);
    }

    #[test]
    fn made_up_names_are_not_kept_without_bound() {
        let profiles = ModelProfiles::default();
        for number in 0..2 * MOST_MODELS {
            assert_eq!(profiles.get(&format!("kimi-k{number}")).family, Family::Kimi);
        }
        assert_eq!(profiles.lock().len(), MOST_MODELS);
    }
}
