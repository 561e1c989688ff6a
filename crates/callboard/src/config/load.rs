//! From raw values to settings in effect.
//!
//! Layers are added in order, every key is read once, and rules that involve more than one key are checked at the end. Each
//! value keeps its origin, for `callboard config`.

use std::net::SocketAddr;
use std::path::Path;

use super::environment::Environment;
use super::error::ConfigError;
use super::file;
use super::flags::Flags;
use super::key::{DefaultValue, Key, UPSTREAM};
use super::raw::{Origin, RawSettings, RawUpstream, RawValue};
use super::secret::Secret;
use super::settings::{Settings, UpstreamSettings};
use super::started_command;
use super::table::{Draft, keys};

/// The settings in effect, and where each comes from.
#[derive(Debug)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// The keys outside of upstreams, in the order of the table.
    pub(super) entries: Vec<EffectiveValue>,
    /// The keys of each upstream.
    pub(super) upstreams: Vec<Vec<EffectiveValue>>,
}

/// One key with the value in effect.
#[derive(Debug)]
pub(super) struct EffectiveValue {
    pub(super) section: &'static str,
    pub(super) name: &'static str,
    /// The value in TOML, masked where it is secret.
    pub(super) written: String,
    pub(super) origin: Origin,
}

impl Loaded {
    /// Refuses a folder of characters that was set and does not exist, unless it may come later. The default one need not exist.
    pub fn check_characters(&self, may_come: bool) -> Result<(), ConfigError> {
        let folder = &self.settings.characters;
        let set = self.entries.iter().find(|entry| entry.section.is_empty() && entry.name == "characters");
        let is_usable = folder.is_dir() || may_come && !folder.exists();
        let missing = set.filter(|entry| entry.origin != Origin::Default && !is_usable);
        missing.map_or(Ok(()), |entry| {
            let problem = if folder.exists() { "is not a folder" } else { "does not exist" };
            let (folder, origin) = (folder.display().to_string(), entry.origin.clone());
            Err(ConfigError::CharactersMissing { folder, origin, problem })
        })
    }
}

/// Reads the settings: defaults, then the settings file, then the environment, then the flags.
///
/// Paths of settings files are relative to `directory`.
pub fn load(flags: &Flags, environment: &Environment, directory: &Path) -> Result<Loaded, ConfigError> {
    let mut raw = RawSettings::default();
    if let Some(file) = file::find(flags, environment, directory)? {
        file.add_to(&mut raw)?;
    }
    environment.add_to(&mut raw)?;
    flags.add_to(&mut raw);
    let loaded = read_all(&raw, environment)?;
    check_exposure(loaded.settings.listen, &loaded.settings.api_keys)?;
    check_origins(&loaded.settings)?;
    Ok(loaded)
}

fn read_all(raw: &RawSettings, environment: &Environment) -> Result<Loaded, ConfigError> {
    let mut draft = Draft { settings: Settings::blank(), upstream: UpstreamSettings::default() };
    let (mut entries, mut upstreams) = (Vec::new(), Vec::new());
    for key in keys().filter(|key| key.section != UPSTREAM) {
        entries.extend(read(key, raw.values.get(&key.path()), raw, &mut draft)?);
    }
    check_upstream_keys(raw)?;
    for upstream in &raw.upstreams {
        upstreams.push(read_upstream(upstream, raw, environment, &mut draft)?);
    }
    Ok(Loaded { settings: draft.settings, entries, upstreams })
}

/// Stores a value in its field: the one that was given, else the default.
fn read(
    key: &Key,
    given: Option<&RawValue>,
    raw: &RawSettings,
    draft: &mut Draft,
) -> Result<Option<EffectiveValue>, ConfigError> {
    let Some(value) = given.cloned().or_else(|| default_value(key, raw)) else { return Ok(None) };
    let written = key.kind.put(&value.raw, draft).ok_or_else(|| ConfigError::WrongValue {
        key: key.path(),
        value: key.kind.shown(&value.source),
        origin: value.origin.clone(),
        allowed: key.kind.allowed(),
    })?;
    Ok(Some(EffectiveValue { section: key.section, name: key.name, written, origin: value.origin }))
}

fn default_value(key: &Key, raw: &RawSettings) -> Option<RawValue> {
    match key.default {
        DefaultValue::Nothing => None,
        DefaultValue::Text(text) => Some(RawValue::plain(text, Origin::Default)),
        DefaultValue::SameAs(path) => raw
            .values
            .get(path)
            .cloned()
            .or_else(|| keys().find(|other| other.path() == path).and_then(|other| default_value(other, raw))),
    }
}

fn read_upstream(
    upstream: &RawUpstream,
    raw: &RawSettings,
    environment: &Environment,
    draft: &mut Draft,
) -> Result<Vec<EffectiveValue>, ConfigError> {
    let mut entries = Vec::new();
    for key in keys().filter(|key| key.section == UPSTREAM) {
        let given = upstream.values.get(key.name).or(raw.for_upstreams.get(key.name));
        entries.extend(read(key, given, raw, draft)?);
    }
    let mut settings = std::mem::take(&mut draft.upstream);
    started_command::complete(&mut settings, upstream)?;
    if settings.url.is_empty() {
        return Err(ConfigError::UrlMissing(upstream.origin.clone()));
    }
    settings.key = upstream_key(&settings, environment)?;
    draft.settings.upstreams.push(settings);
    Ok(entries)
}

/// The key of an upstream, from the variable that it names.
fn upstream_key(upstream: &UpstreamSettings, environment: &Environment) -> Result<Option<Secret>, ConfigError> {
    let Some(variable) = &upstream.key_env else { return Ok(None) };
    let wrong = |problem| ConfigError::UpstreamKey { url: upstream.url.clone(), variable: variable.clone(), problem };
    let text = environment.value(variable)?.ok_or_else(|| wrong("is not set"))?;
    let key = Secret::new(text.trim());
    key.map(Some).ok_or_else(|| wrong("holds no usable key: spaces and special letters cannot be sent"))
}

/// A key from outside the file that no upstream would get is a mistake.
fn check_upstream_keys(raw: &RawSettings) -> Result<(), ConfigError> {
    match raw.for_upstreams.values().next() {
        Some(value) if raw.upstreams.iter().all(RawUpstream::is_from_file) => {
            Err(ConfigError::KeyWithoutUpstream(value.origin.clone()))
        }
        _ => Ok(()),
    }
}

/// Any page at all must not be able to use a key that its user gave to another.
fn check_origins(settings: &Settings) -> Result<(), ConfigError> {
    let any = settings.cors_origins.iter().any(|origin| origin == "*");
    if any && !settings.api_keys.is_empty() { Err(ConfigError::AnyOriginWithKeys) } else { Ok(()) }
}

/// Without keys, only this machine may connect.
fn check_exposure(listen: SocketAddr, api_keys: &[Secret]) -> Result<(), ConfigError> {
    // An IPv4 address written as IPv6 reaches the same interface.
    if api_keys.is_empty() && !listen.ip().to_canonical().is_loopback() {
        return Err(ConfigError::Exposed(listen));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_served_without_keys() {
        let keys = [Secret::new("sk-secret").unwrap()];
        for (listen, allowed) in [
            ("127.0.0.1:8787", true),
            ("127.8.8.8:0", true),
            ("[::1]:8787", true),
            ("[::ffff:127.0.0.1]:8787", true),
            ("0.0.0.0:8787", false),
            ("[::]:8787", false),
            ("192.168.0.7:8787", false),
            ("[::ffff:10.0.0.1]:8787", false),
            ("[fe80::1]:8787", false),
        ] {
            let listen: SocketAddr = listen.parse().unwrap();
            assert_eq!(check_exposure(listen, &[]).is_ok(), allowed, "{listen}");
            assert!(check_exposure(listen, &keys).is_ok(), "{listen}");
        }
    }

    #[test]
    fn the_refusal_says_what_to_do() {
        let refusal = check_exposure("0.0.0.0:8787".parse().unwrap(), &[]).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "listening on 0.0.0.0:8787 would let others in without a key: set CALLBOARD_API_KEYS, or listen on 127.0.0.1"
        );
    }
}
