//! Values as the file, the environment and the flags give them, not yet checked, each with its origin.
//!
//! Layers are added in order, and a later one replaces the values of an earlier one key by key; the list of upstreams is
//! replaced as a whole. Whether a value makes sense is decided afterwards, in `load`.

use std::collections::BTreeMap;
use std::fmt;

use super::key::{Key, UPSTREAM};

/// Everything that was given, by the path of the key.
#[derive(Default)]
pub(super) struct RawSettings {
    pub(super) values: BTreeMap<String, RawValue>,
    pub(super) upstreams: Vec<RawUpstream>,
    /// Keys for all upstreams that are given outside the file.
    pub(super) for_upstreams: BTreeMap<&'static str, RawValue>,
}

impl RawSettings {
    /// Adds the value of a variable or a flag.
    ///
    /// A repeatable one lists the upstreams; the other keys of an upstream apply to all of these.
    pub(super) fn add(&mut self, key: &Key, texts: &[&str], origin: &Origin) {
        if key.is_repeatable() {
            let values = |url: &str| BTreeMap::from([(key.name, RawValue::plain(url, origin.clone()))]);
            let upstream = |url: &&str| RawUpstream { origin: origin.clone(), values: values(url) };
            self.upstreams = texts.iter().map(upstream).collect();
            return;
        }
        for text in texts {
            let value = RawValue::plain(text, origin.clone());
            match key.section {
                UPSTREAM => self.for_upstreams.insert(key.name, value),
                _ => self.values.insert(key.path(), value),
            };
        }
    }
}

/// One upstream.
pub(super) struct RawUpstream {
    pub(super) origin: Origin,
    pub(super) values: BTreeMap<&'static str, RawValue>,
}

impl RawUpstream {
    /// Whether the settings file defines it.
    pub(super) fn is_from_file(&self) -> bool {
        matches!(self.origin, Origin::File { .. })
    }
}

/// One value with its origin.
#[derive(Clone)]
pub(super) struct RawValue {
    pub(super) raw: Raw,
    /// How it was written, for messages.
    pub(super) source: String,
    pub(super) origin: Origin,
}

impl RawValue {
    /// A value from the environment, a flag, or the table's defaults.
    pub(super) fn plain(text: &str, origin: Origin) -> RawValue {
        RawValue { raw: Raw::Plain(text.to_owned()), source: text.to_owned(), origin }
    }
}

/// A value before it is read by the kind of its key.
#[derive(Clone)]
pub(super) enum Raw {
    /// Text of any type: from the environment, a flag, or a default.
    Plain(String),
    /// A value in the file.
    Toml(toml::Value),
}

impl Raw {
    /// The text, where this may be read as text.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Raw::Plain(text) => Some(text),
            Raw::Toml(value) => value.as_str(),
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The table of settings.
    Default,
    /// A line of the settings file.
    File {
        /// The file as it was named, or `callboard.toml`.
        file: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// An environment variable.
    Environment {
        /// The variable's name.
        variable: String,
    },
    /// A flag of the command line.
    CommandLine {
        /// The flag without its dashes.
        flag: &'static str,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => formatter.write_str("default"),
            Origin::File { file, line } => write!(formatter, "{file} line {line}"),
            Origin::Environment { variable } => write!(formatter, "environment {variable}"),
            Origin::CommandLine { flag } => write!(formatter, "command line --{flag}"),
        }
    }
}
