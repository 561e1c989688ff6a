//! The settings file as a layer of settings: TOML, with the line of every key.
//!
//! Names are checked here, because only the file knows their lines; values are checked later.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue, ValueDeserializer};

use super::did_you_mean::nearest;
use super::environment::Environment;
use super::error::ConfigError;
use super::flags::{CONFIG_FLAG, CONFIG_VARIABLE, Flags};
use super::key::{Key, UPSTREAM, header, path};
use super::raw::{Origin, Raw, RawSettings, RawUpstream, RawValue};
use super::table::{keys, section_names};

/// The file that is read when none is named, if it exists.
const USUAL_FILE: &str = "callboard.toml";

/// A settings file that was found.
pub(super) struct SettingsFile {
    name: String,
    text: String,
}

/// The settings file that was named, else the usual one if it exists.
pub(super) fn find(
    flags: &Flags,
    environment: &Environment,
    directory: &Path,
) -> Result<Option<SettingsFile>, ConfigError> {
    let (path, origin) = match (&flags.config, environment.value(CONFIG_VARIABLE)?) {
        (Some(path), _) => (path.clone(), Origin::CommandLine { flag: CONFIG_FLAG }),
        (None, Some(path)) => (PathBuf::from(path), Origin::Environment { variable: CONFIG_VARIABLE.to_owned() }),
        (None, None) => (PathBuf::from(USUAL_FILE), Origin::Default),
    };
    let name = path.display().to_string();
    match std::fs::read_to_string(directory.join(&path)) {
        Ok(text) => Ok(Some(SettingsFile { name, text })),
        Err(error) if error.kind() == ErrorKind::NotFound && origin == Origin::Default => Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(ConfigError::FileMissing { file: name, origin }),
        Err(source) => Err(ConfigError::FileUnreadable { file: name, source }),
    }
}

type Name<'text> = Spanned<DeString<'text>>;
type Value<'text> = Spanned<DeValue<'text>>;

impl SettingsFile {
    /// Adds the values of the file to the raw settings.
    pub(super) fn add_to(&self, raw: &mut RawSettings) -> Result<(), ConfigError> {
        let table = DeTable::parse(&self.text).map_err(|error| self.syntax(&error))?;
        for (name, value) in in_order(table.get_ref()) {
            let section = section_names().find(|section| *section == name.get_ref());
            match (section, value.get_ref()) {
                (None, _) => self.add_key("", (name, value), raw)?,
                (Some(UPSTREAM), DeValue::Array(list)) => raw.upstreams = self.upstreams(name, list)?,
                (Some(UPSTREAM), _) => return Err(self.not_a_section(UPSTREAM, name)),
                (Some(section), DeValue::Table(keys)) => {
                    in_order(keys).into_iter().try_for_each(|entry| self.add_key(section, entry, raw))?;
                }
                (Some(section), _) => return Err(self.not_a_section(section, name)),
            }
        }
        Ok(())
    }

    fn add_key(&self, section: &str, (name, value): (&Name, &Value), raw: &mut RawSettings) -> Result<(), ConfigError> {
        raw.values.insert(self.known(section, name)?.path(), self.value(value));
        Ok(())
    }

    fn upstreams(&self, name: &Name, list: &DeArray) -> Result<Vec<RawUpstream>, ConfigError> {
        list.iter()
            .map(|item| match item.get_ref() {
                DeValue::Table(keys) => self.upstream(item.span(), keys),
                _ => Err(self.not_a_section(UPSTREAM, name)),
            })
            .collect()
    }

    fn upstream(&self, span: Range<usize>, keys: &DeTable) -> Result<RawUpstream, ConfigError> {
        let mut values = BTreeMap::new();
        for (name, value) in in_order(keys) {
            values.insert(self.known(UPSTREAM, name)?.name, self.value(value));
        }
        Ok(RawUpstream { origin: self.place(&span), values })
    }

    fn known(&self, section: &str, name: &Name) -> Result<&'static Key, ConfigError> {
        keys().find(|key| key.section == section && key.name == name.get_ref()).ok_or_else(|| {
            let hint = hint(section, name.get_ref());
            ConfigError::UnknownKey { place: self.place(&name.span()), key: path(section, name.get_ref()), hint }
        })
    }

    fn value(&self, value: &Value) -> RawValue {
        let source = self.text.get(value.span()).unwrap_or_default().to_owned();
        RawValue { raw: raw(value), source, origin: self.place(&value.span()) }
    }

    fn place(&self, span: &Range<usize>) -> Origin {
        let before = self.text.bytes().take(span.start);
        let line = before.filter(|byte| *byte == b'\n').count().saturating_add(1);
        Origin::File { file: self.name.clone(), line }
    }

    fn syntax(&self, error: &toml::de::Error) -> ConfigError {
        let place = self.place(&error.span().unwrap_or_default());
        ConfigError::Syntax { place, message: error.message().replace('\n', ", ") }
    }

    fn not_a_section(&self, section: &'static str, name: &Name) -> ConfigError {
        ConfigError::NotASection { place: self.place(&name.span()), section, header: header(section) }
    }
}

/// A suggestion for an unknown key: a key of that name in another section, or the nearest name.
fn hint(section: &str, name: &str) -> String {
    if let Some(key) = keys().find(|key| key.name == name) {
        return match key.section {
            "" => format!("; `{name}` belongs at the top of the file, before any section"),
            section => format!("; `{name}` belongs under {}", header(section)),
        };
    }
    let keys = keys().filter(|key| key.section == section).map(|key| key.name);
    let known: Vec<&str> = keys.chain(section_names().filter(|_| section.is_empty())).collect();
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => format!("; known here: {}", known.join(", ")),
    }
}

/// The entries in the order of the file, so that the first mistake is the one reported.
fn in_order<'table, 'text>(table: &'table DeTable<'text>) -> Vec<(&'table Name<'text>, &'table Value<'text>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

/// A number that does not fit becomes an empty table, which no key takes.
fn raw(value: &Value) -> Raw {
    let value = toml::Value::deserialize(ValueDeserializer::from(value.clone()));
    Raw::Toml(value.unwrap_or_else(|_| toml::Table::new().into()))
}
