//! The settings file as a layer of settings: TOML, with the line of every key.
//!
//! Names are checked here, because only the file knows where they stand; values are only carried
//! over.

use super::environment::Environment;
use super::error::ConfigError;
use super::flags::{CONFIG_FLAG, CONFIG_VARIABLE, Flags};
use super::key::{About, Section};
use super::nearest::nearest;
use super::origin::Origin;
use super::said::{Raw, Said, SaidUpstream, SaidValue};
use super::table::every_key;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

/// The file that is read when nobody names one, if it is there.
const USUAL_FILE: &str = "callboard.toml";

/// A settings file that was found.
pub(super) struct SettingsFile {
    name: String,
    text: String,
}

/// The settings file that was named, else the usual one when it is there.
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
    /// Adds what the file says to what was said.
    pub(super) fn tell(&self, said: &mut Said) -> Result<(), ConfigError> {
        let table = DeTable::parse(&self.text).map_err(|error| self.syntax(&error))?;
        for (name, value) in in_order(table.get_ref()) {
            match (Section::named(name.get_ref()), value.get_ref()) {
                (None, _) => self.tell_key(Section::Top, (name, value), said)?,
                (Some(Section::Upstream), DeValue::Array(list)) => {
                    said.upstreams = self.upstreams(name, list)?;
                }
                (Some(Section::Upstream), _) => {
                    return Err(self.not_a_section(Section::Upstream, name));
                }
                (Some(section), DeValue::Table(keys)) => {
                    in_order(keys).into_iter().try_for_each(|entry| self.tell_key(section, entry, said))?;
                }
                (Some(section), _) => return Err(self.not_a_section(section, name)),
            }
        }
        Ok(())
    }

    fn tell_key(&self, section: Section, (name, value): (&Name, &Value), said: &mut Said) -> Result<(), ConfigError> {
        let about = self.known(section, name)?;
        said.values.insert(about.path(), self.value(value));
        Ok(())
    }

    fn upstreams(&self, name: &Name, list: &DeArray) -> Result<Vec<SaidUpstream>, ConfigError> {
        list.iter()
            .map(|item| match item.get_ref() {
                DeValue::Table(keys) => self.upstream(item.span(), keys),
                _ => Err(self.not_a_section(Section::Upstream, name)),
            })
            .collect()
    }

    fn upstream(&self, span: Range<usize>, keys: &DeTable) -> Result<SaidUpstream, ConfigError> {
        let mut values = BTreeMap::new();
        for (name, value) in in_order(keys) {
            values.insert(self.known(Section::Upstream, name)?.name, self.value(value));
        }
        Ok(SaidUpstream { origin: self.place(&span), values })
    }

    fn known(&self, section: Section, name: &Name) -> Result<&'static About, ConfigError> {
        every_key()
            .find(|about| about.section == section && about.name == name.get_ref())
            .ok_or_else(|| self.unknown(section, name))
    }

    fn value(&self, value: &Value) -> SaidValue {
        let source = self.text.get(value.span()).unwrap_or_default().to_owned();
        SaidValue { raw: raw(value.get_ref()), source, origin: self.place(&value.span()) }
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

    fn unknown(&self, section: Section, name: &Name) -> ConfigError {
        let key = match section {
            Section::Top => name.get_ref().to_string(),
            _ => format!("{}.{}", section.name(), name.get_ref()),
        };
        ConfigError::UnknownKey { place: self.place(&name.span()), key, hint: hint(section, name.get_ref()) }
    }

    fn not_a_section(&self, section: Section, name: &Name) -> ConfigError {
        ConfigError::NotASection { place: self.place(&name.span()), section: section.name(), header: section.header() }
    }
}

/// What may have been meant by an unknown key: a key of that name elsewhere, or the nearest name.
fn hint(section: Section, name: &str) -> String {
    if let Some(about) = every_key().find(|about| about.name == name) {
        return match about.section {
            Section::Top => {
                format!("; `{name}` belongs at the top of the file, before any section")
            }
            section => format!("; `{name}` belongs under {}", section.header()),
        };
    }
    let keys = every_key().filter(|about| about.section == section).map(|about| about.name);
    let sections = Section::ALL.into_iter().filter(|opened| section == Section::Top && *opened != section);
    let known: Vec<&str> = keys.chain(sections.map(Section::name)).collect();
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => format!("; known here: {}", known.join(", ")),
    }
}

/// The entries as they stand in the file, so that the first mistake is the one reported.
fn in_order<'table, 'text>(table: &'table DeTable<'text>) -> Vec<(&'table Name<'text>, &'table Value<'text>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

fn raw(value: &DeValue) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Raw::Other, Raw::Integer)
        }
        DeValue::Float(number) => number.as_str().parse().map_or(Raw::Other, Raw::Float),
        DeValue::Boolean(truth) => Raw::Truth(*truth),
        DeValue::Array(items) => items
            .iter()
            .map(|item| item.get_ref().as_str().map(str::to_owned))
            .collect::<Option<Vec<String>>>()
            .map_or(Raw::Other, Raw::List),
        DeValue::Datetime(_) | DeValue::Table(_) => Raw::Other,
    }
}
