//! From what was said to what holds.
//!
//! Layers are told in their order, every key is read once, and the rules that look at more than one
//! key are checked at the end. Each value keeps its origin, for `callboard config`.

use super::environment::Environment;
use super::error::ConfigError;
use super::exposure::check_exposure;
use super::file;
use super::flags::Flags;
use super::key::{Fallback, Key, Section};
use super::origin::Origin;
use super::said::{Said, SaidUpstream, SaidValue};
use super::secret::Secret;
use super::settings::{Settings, UpstreamSettings};
use super::table::keys;
use super::upstream_table::UPSTREAM_KEYS;
use std::path::Path;

/// The settings that hold, and where each came from.
#[derive(Debug)]
pub struct Loaded {
    /// What holds.
    pub settings: Settings,
    /// The keys that are said once, in the order of the table.
    pub(super) held: Vec<Held>,
    /// The keys of each upstream.
    pub(super) upstreams: Vec<Vec<Held>>,
}

/// One key with the value that holds.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) section: Section,
    pub(super) name: &'static str,
    /// The value in TOML, masked where it is secret.
    pub(super) written: String,
    pub(super) origin: Origin,
}

impl Loaded {
    /// Refuses a folder of characters that somebody named and that is not there. Nobody has to have the usual one.
    pub fn check_characters(&self) -> Result<(), ConfigError> {
        let folder = &self.settings.characters;
        let said = self.held.iter().find(|held| held.section == Section::Top && held.name == "characters");
        let said = said.filter(|held| held.origin != Origin::Default && !folder.is_dir());
        said.map_or(Ok(()), |held| {
            let problem = if folder.exists() { "is no folder" } else { "does not exist" };
            let (folder, origin) = (folder.display().to_string(), held.origin.clone());
            Err(ConfigError::CharactersMissing { folder, origin, problem })
        })
    }
}

/// Reads the settings: defaults, then the settings file, then the environment, then the flags.
///
/// Paths of settings files are taken from `directory`.
pub fn load(flags: &Flags, environment: &Environment, directory: &Path) -> Result<Loaded, ConfigError> {
    let mut said = Said::default();
    if let Some(file) = file::find(flags, environment, directory)? {
        file.tell(&mut said)?;
    }
    environment.tell(&mut said)?;
    flags.tell(&mut said);
    let loaded = hold_all(&said, environment)?;
    check_exposure(loaded.settings.listen, &loaded.settings.api_keys)?;
    Ok(loaded)
}

fn hold_all(said: &Said, environment: &Environment) -> Result<Loaded, ConfigError> {
    let mut settings = Settings::blank();
    let mut held = Vec::new();
    for key in keys() {
        held.extend(hold(key, said.values.get(&key.about.path()), said, &mut settings)?);
    }
    let mut upstreams = Vec::new();
    check_upstream_keys(said)?;
    for upstream in &said.upstreams {
        let (upstream, keys) = hold_upstream(upstream, said, environment)?;
        settings.upstreams.push(upstream);
        upstreams.push(keys);
    }
    Ok(Loaded { settings, held, upstreams })
}

/// Puts a value into its field: the one that was said, else the default.
fn hold<T>(key: &Key<T>, value: Option<&SaidValue>, said: &Said, target: &mut T) -> Result<Option<Held>, ConfigError> {
    let Some(value) = value.cloned().or_else(|| fallback(&key.about.fallback, said)) else {
        return Ok(None);
    };
    let written = key.kind.put(&value.raw, target).ok_or_else(|| ConfigError::WrongValue {
        key: key.about.path(),
        value: key.kind.shown(&value.source),
        origin: value.origin.clone(),
        allowed: key.kind.allowed(),
    })?;
    Ok(Some(Held { section: key.about.section, name: key.about.name, written, origin: value.origin }))
}

fn fallback(fallback: &Fallback, said: &Said) -> Option<SaidValue> {
    match fallback {
        Fallback::Nothing => None,
        Fallback::Text(text) => Some(SaidValue::plain(text, Origin::Default)),
        Fallback::SameAs(path) => said.values.get(*path).cloned().or_else(|| default_of(path)),
    }
}

fn default_of(path: &str) -> Option<SaidValue> {
    let key = keys().find(|key| key.about.path() == path)?;
    match key.about.fallback {
        Fallback::Text(text) => Some(SaidValue::plain(text, Origin::Default)),
        Fallback::SameAs(_) | Fallback::Nothing => None,
    }
}

fn hold_upstream(
    upstream: &SaidUpstream,
    said: &Said,
    environment: &Environment,
) -> Result<(UpstreamSettings, Vec<Held>), ConfigError> {
    let mut settings = UpstreamSettings::blank();
    let mut held = Vec::new();
    for key in UPSTREAM_KEYS {
        let outside = said.for_upstreams.get(key.about.name);
        let value = upstream.values.get(key.about.name).or(outside);
        held.extend(hold(key, value, said, &mut settings)?);
    }
    if settings.url.is_empty() {
        return Err(ConfigError::UrlMissing { origin: upstream.origin.clone() });
    }
    settings.key = upstream_key(&settings, environment)?;
    Ok((settings, held))
}

/// The key of an upstream, from the variable that it names.
fn upstream_key(upstream: &UpstreamSettings, environment: &Environment) -> Result<Option<Secret>, ConfigError> {
    let Some(variable) = &upstream.key_env else {
        return Ok(None);
    };
    let wrong = |problem| ConfigError::UpstreamKey { url: upstream.url.clone(), variable: variable.clone(), problem };
    let text = environment.value(variable)?.ok_or_else(|| wrong("is not set"))?;
    let key =
        Secret::new(text.trim()).ok_or_else(|| wrong("holds no key: spaces and special letters cannot be sent"))?;
    Ok(Some(key))
}

/// A key from outside the file that no upstream would get is a mistake, not something to pass over.
fn check_upstream_keys(said: &Said) -> Result<(), ConfigError> {
    match said.for_upstreams.values().next() {
        Some(value) if said.upstreams.iter().all(SaidUpstream::is_from_file) => {
            Err(ConfigError::KeyWithoutUpstream { origin: value.origin.clone() })
        }
        _ => Ok(()),
    }
}
