//! What is known of each model of a server: its family, and what was found out about it, with the time of each finding.
//!
//! Findings are changes for the store until they are taken; where they are kept is not decided here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callboard_core::wire::chat::adapt::{Capabilities, Family, Feature, Finding, Quirk, Support, ToolsMode};

use super::identity::Identity;
use crate::clock;

/// Clients may name models as they like; those over this number are not remembered unless something was learned of them, and what was
/// learned of them is not stored.
const MOST_MODELS: usize = 1024;
/// Findings about a model with a longer name are not stored.
const LONGEST_NAME: usize = 256;

/// One model of a server.
#[derive(Debug, Clone)]
pub struct ModelProfile {
    /// By its name.
    pub family: Family,
    /// What it was found to refuse.
    pub quirks: BTreeSet<Quirk>,
    /// What it was found to do with the parts of a request that concern tools.
    pub capabilities: Capabilities,
    /// When each of these was found, by kind and name.
    found_at: BTreeMap<(&'static str, String), i64>,
    /// The version of the server and the model that they are true of; empty where these name none.
    version: String,
}

/// The models of a server.
#[derive(Debug, Default)]
pub struct ModelProfiles(Mutex<Profiles>);

#[derive(Debug, Default)]
struct Profiles {
    models: HashMap<String, Arc<ModelProfile>>,
    changes: Vec<ProfileChange>,
    /// Who the server says it is; none while it was never asked.
    identity: Option<Identity>,
}

/// Something that is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedFinding {
    /// The model's name on its server.
    pub model: String,
    /// What was found.
    pub finding: Finding,
    /// When, in milliseconds since 1970.
    pub found_at: i64,
    /// The version of the server and the model that it is true of.
    pub version: String,
}

/// A change of what is known, for the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileChange {
    /// Something was found, for the first time or again.
    Found(DatedFinding),
    /// What was found about this model does not count any more.
    Forgotten(String),
}

impl ModelProfile {
    fn new(model: &str, identity: Option<&Identity>) -> Self {
        Self {
            family: Family::of(model),
            quirks: BTreeSet::new(),
            capabilities: Capabilities::default(),
            found_at: BTreeMap::new(),
            version: identity.map(|identity| identity.version_of(model)).unwrap_or_default(),
        }
    }

    fn add(&mut self, finding: &Finding, found_at: i64) {
        match finding {
            Finding::Quirk(quirk) => drop(self.quirks.insert(quirk.clone())),
            Finding::Capability(feature, support) => self.capabilities.set(*feature, *support),
        }
        self.found_at.insert((finding.kind(), finding.name()), found_at);
    }

    fn clear(&mut self) {
        self.quirks.clear();
        self.capabilities = Capabilities::default();
        self.found_at.clear();
    }

    /// How tools reach it where no setting says it.
    pub fn tools_mode(&self) -> ToolsMode {
        let is_refused = self.quirks.contains(&Quirk::Tools) && self.capabilities.get(Feature::Tools).is_none();
        if is_refused { ToolsMode::Prompt } else { self.capabilities.tools_mode() }
    }

    /// Whether something was found that decides how tools reach it.
    pub fn decides_tools_mode(&self) -> bool {
        self.quirks.contains(&Quirk::Tools) || self.capabilities.get(Feature::Tools).is_some()
    }

    /// The version of the server and the model that the findings are true of; empty where these name none.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// All that was found, with the time of each finding.
    pub fn findings(&self) -> impl Iterator<Item = (Finding, i64)> + '_ {
        let quirks = self.quirks.iter().cloned().map(Finding::Quirk);
        let capabilities = self.capabilities.iter().map(|(feature, support)| Finding::Capability(feature, support));
        quirks.chain(capabilities).filter_map(|finding| {
            let found_at = self.found_at.get(&(finding.kind(), finding.name())).copied()?;
            Some((finding, found_at))
        })
    }
}

impl ModelProfiles {
    /// The profile of a model.
    pub fn get(&self, model: &str) -> Arc<ModelProfile> {
        let mut profiles = self.lock();
        if let Some(profile) = profiles.models.get(model) {
            return Arc::clone(profile);
        }
        let profile = Arc::new(ModelProfile::new(model, profiles.identity.as_ref()));
        if profiles.models.len() < MOST_MODELS {
            profiles.models.insert(model.to_owned(), Arc::clone(&profile));
        }
        profile
    }

    /// Remembers a quirk; false when it was known already.
    pub fn learn(&self, model: &str, quirk: Quirk) -> bool {
        let is_new = !self.get(model).quirks.contains(&quirk);
        if is_new {
            self.add(model, Finding::Quirk(quirk));
        }
        is_new
    }

    /// Remembers what the server does with a feature.
    pub fn found(&self, model: &str, feature: Feature, support: Support) {
        self.add(model, Finding::Capability(feature, support));
    }

    /// Remembers a finding, and that it is to be stored.
    pub fn add(&self, model: &str, finding: Finding) {
        let (mut profiles, found_at) = (self.lock(), clock::milliseconds());
        let profile = profiles.of(model);
        profile.add(&finding, found_at);
        let version = profile.version.clone();
        if profiles.models.len() <= MOST_MODELS && model.len() <= LONGEST_NAME {
            let found = DatedFinding { model: model.to_owned(), finding, found_at, version };
            profiles.changes.push(ProfileChange::Found(found));
        }
    }

    /// Takes over what the store has kept.
    pub fn restore(&self, known: DatedFinding) {
        let mut profiles = self.lock();
        let profile = profiles.of(&known.model);
        profile.add(&known.finding, known.found_at);
        profile.version = known.version;
    }

    /// Forgets what was found about a model, or about all; returns the models.
    pub fn forget(&self, model: Option<&str>) -> Vec<String> {
        self.forget_where(|name, _| model.is_none_or(|model| model == name))
    }

    /// Who the server says it is; none while it was never asked.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.lock().identity.clone()
    }

    /// Whether the software of the server is known; none while it was never asked.
    pub(super) fn is_known_software(&self) -> Option<bool> {
        self.lock().identity.as_ref().map(Identity::is_known)
    }

    /// Takes note of who the server says it is, and forgets what is true of another version of it or of a model; returns the models of
    /// which it was.
    pub(super) fn identify(&self, identity: Identity) -> Vec<String> {
        let forgotten = self.forget_where(|model, profile| {
            let version = identity.version_of(model);
            !profile.version.is_empty() && !version.is_empty() && profile.version != version
        });
        let mut profiles = self.lock();
        for (model, profile) in &mut profiles.models {
            let version = identity.version_of(model);
            if !version.is_empty() && profile.version != version {
                Arc::make_mut(profile).version = version;
            }
        }
        profiles.identity = Some(identity);
        forgotten
    }

    /// Forgets what was found before this time.
    pub fn expire(&self, before: i64) {
        for profile in self.lock().models.values_mut() {
            let (kept, old): (Vec<_>, Vec<_>) = profile.findings().partition(|(_, found_at)| *found_at >= before);
            if !old.is_empty() {
                let profile = Arc::make_mut(profile);
                profile.clear();
                kept.iter().for_each(|(finding, found_at)| profile.add(finding, *found_at));
            }
        }
    }

    /// Takes the changes that are not in the store yet.
    pub fn take_changes(&self) -> Vec<ProfileChange> {
        std::mem::take(&mut self.lock().changes)
    }

    /// Puts changes back that could not be stored.
    pub fn return_changes(&self, mut changes: Vec<ProfileChange>) {
        let mut profiles = self.lock();
        changes.append(&mut profiles.changes);
        profiles.changes = changes;
    }

    /// The models about which something was found.
    pub fn known(&self) -> BTreeMap<String, Arc<ModelProfile>> {
        let profiles = self.lock();
        let known = profiles.models.iter().filter(|(_, profile)| !profile.found_at.is_empty());
        known.map(|(model, profile)| (model.clone(), Arc::clone(profile))).collect()
    }

    /// All quirks, by model.
    pub fn quirks(&self) -> BTreeMap<String, Vec<String>> {
        let words = |profile: &ModelProfile| profile.quirks.iter().map(ToString::to_string).collect();
        let known = self.known().into_iter().filter(|(_, profile)| !profile.quirks.is_empty());
        known.map(|(model, profile)| (model, words(&profile))).collect()
    }

    /// The format in which each model that was asked writes calls as text.
    pub fn families(&self) -> BTreeMap<String, &'static str> {
        let profiles = self.lock();
        profiles.models.iter().map(|(model, profile)| (model.clone(), profile.family.label())).collect()
    }

    fn forget_where(&self, applies: impl Fn(&str, &ModelProfile) -> bool) -> Vec<String> {
        let mut profiles = self.lock();
        let mut forgotten = Vec::new();
        for (model, profile) in &mut profiles.models {
            if !profile.found_at.is_empty() && applies(model, profile) {
                Arc::make_mut(profile).clear();
                forgotten.push(model.clone());
            }
        }
        profiles.changes.extend(forgotten.iter().cloned().map(ProfileChange::Forgotten));
        forgotten
    }

    fn lock(&self) -> MutexGuard<'_, Profiles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Profiles {
    fn of(&mut self, model: &str) -> &mut ModelProfile {
        let new = || Arc::new(ModelProfile::new(model, self.identity.as_ref()));
        Arc::make_mut(self.models.entry(model.to_owned()).or_insert_with(new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IGNORED: Finding = Finding::Capability(Feature::Tools, Support::Ignored);

    fn restored(model: &str, version: &str, found_at: i64) -> DatedFinding {
        DatedFinding { model: model.to_owned(), finding: IGNORED, found_at, version: version.to_owned() }
    }

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
        assert_eq!(profiles.take_changes().len(), 2);
        assert_eq!(profiles.take_changes(), []);
    }

    #[test]
    fn made_up_names_are_not_kept_without_bound() {
        let profiles = ModelProfiles::default();
        for number in 0..2 * MOST_MODELS {
            assert_eq!(profiles.get(&format!("kimi-k{number}")).family, Family::Kimi);
            profiles.learn(&"x".repeat(number), Quirk::Tools);
        }
        assert!(profiles.take_changes().len() <= LONGEST_NAME + 1);
        let profiles = ModelProfiles::default();
        for number in 0..2 * MOST_MODELS {
            profiles.learn(&format!("m{number}"), Quirk::Tools);
        }
        assert_eq!(profiles.take_changes().len(), MOST_MODELS);
    }

    #[test]
    fn what_is_true_of_another_version_is_forgotten() {
        let profiles = ModelProfiles::default();
        for (model, version) in [("same", "server 1"), ("other", "server 0"), ("unnamed", "")] {
            profiles.restore(restored(model, version, 5));
        }
        assert_eq!(profiles.identify(Identity::default()), [""; 0], "a server that says nothing may be the same");
        assert_eq!(profiles.identify(Identity::of_software("server 1")), ["other"]);
        assert_eq!(profiles.known().keys().collect::<Vec<_>>(), ["same", "unnamed"]);
        assert_eq!(profiles.take_changes(), [ProfileChange::Forgotten("other".to_owned())]);
        profiles.learn("other", Quirk::Tools);
        profiles.learn("new", Quirk::Tools);
        let changes = profiles.take_changes();
        let versions = changes.iter().map(|change| match change {
            ProfileChange::Found(found) => found.version.as_str(),
            ProfileChange::Forgotten(_) => "",
        });
        assert_eq!(versions.collect::<Vec<_>>(), ["server 1", "server 1"]);
        assert_eq!(profiles.identify(Identity::of_software("server 2")).len(), 4);
    }

    #[test]
    fn old_findings_expire_one_by_one() {
        let profiles = ModelProfiles::default();
        profiles.restore(restored("m", "", 5));
        profiles.restore(DatedFinding { finding: Finding::Quirk(Quirk::Tools), ..restored("m", "", 7) });
        profiles.expire(5);
        assert_eq!(profiles.get("m").findings().count(), 2);
        profiles.expire(6);
        assert_eq!(profiles.get("m").findings().collect::<Vec<_>>(), [(Finding::Quirk(Quirk::Tools), 7)]);
        assert_eq!(profiles.forget(Some("m")), ["m"]);
        assert!(profiles.known().is_empty());
    }

    #[test]
    fn changes_that_could_not_be_stored_come_first() {
        let profiles = ModelProfiles::default();
        profiles.learn("a", Quirk::Tools);
        let taken = profiles.take_changes();
        profiles.learn("b", Quirk::Tools);
        profiles.return_changes(taken);
        let models = profiles.take_changes().into_iter().map(|change| match change {
            ProfileChange::Found(found) => found.model,
            ProfileChange::Forgotten(model) => model,
        });
        assert_eq!(models.collect::<Vec<_>>(), ["a", "b"]);
    }
}
