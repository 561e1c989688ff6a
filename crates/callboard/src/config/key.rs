//! One setting: its names, its default, its help line, and the kind of value it takes.
//!
//! The environment variable and the place in the file follow from the section and the name.

use super::kind::Kind;

/// The prefix of all environment variables.
pub(super) const VARIABLE_PREFIX: &str = "CALLBOARD_";
/// The section that may occur many times, once for each model server.
pub(super) const UPSTREAM: &str = "upstream";

/// One setting.
pub(super) struct Key {
    /// The section of the file; empty for the top.
    pub(super) section: &'static str,
    pub(super) name: &'static str,
    pub(super) default: DefaultValue,
    pub(super) kind: Kind,
    pub(super) help: &'static str,
    /// At most one.
    pub(super) flags: &'static [Flag],
}

/// The value of a key that is not set.
pub(super) enum DefaultValue {
    /// This text, read like a variable.
    Text(&'static str),
    /// The value of the key with this path.
    SameAs(&'static str),
    /// None.
    Nothing,
}

/// A flag of the command line.
pub(super) struct Flag {
    pub(super) name: &'static str,
    /// The placeholder for its value in the help text.
    pub(super) value: &'static str,
    pub(super) repeatable: bool,
}

impl Key {
    /// The name in messages: `listen`, `contract.mode`.
    pub(super) fn path(&self) -> String {
        path(self.section, self.name)
    }

    /// The environment variable: named after the flag where there is one, else after the path.
    ///
    /// The keys of an upstream have no variables beyond those named after flags.
    pub(super) fn variable(&self) -> Option<String> {
        let name = match (self.flag(), self.section) {
            (Some(flag), _) => flag.name.replace('-', "_"),
            (None, UPSTREAM) => return None,
            (None, _) => self.path().replace('.', "_"),
        };
        Some(format!("{VARIABLE_PREFIX}{}", name.to_uppercase()))
    }

    pub(super) fn flag(&self) -> Option<&'static Flag> {
        self.flags.first()
    }

    /// Whether a flag or variable gives a whole list: the upstreams.
    pub(super) fn is_repeatable(&self) -> bool {
        self.flag().is_some_and(|flag| flag.repeatable)
    }

    /// The help line of the flag, with its default.
    pub(super) fn flag_help(&self) -> String {
        match self.default {
            DefaultValue::Text(text) => format!("{} [default: {text}]", self.help),
            _ if self.is_repeatable() => format!("{} [repeatable]", self.help),
            _ => self.help.to_owned(),
        }
    }
}

/// The path of a key: its section and its name.
pub(super) fn path(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}

/// The line that opens a section in the file.
pub(super) fn header(section: &str) -> String {
    match section {
        "" => String::new(),
        UPSTREAM => format!("[[{section}]]"),
        _ => format!("[{section}]"),
    }
}
