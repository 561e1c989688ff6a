//! What a key is: its names, its default, its help line, and the kind of value it takes.
//!
//! A key is named once; the names of its environment variable and its place in the file follow from
//! that by rule.

use super::kind::Kind;

/// One setting that fills in a field of `T`.
pub(super) struct Key<T> {
    /// What people read about it.
    pub(super) about: About,
    /// What values it takes and which field they go to.
    pub(super) kind: Kind<T>,
}

/// The part of a key that does not depend on the field it fills in.
pub(crate) struct About {
    pub(super) section: Section,
    pub(super) name: &'static str,
    pub(super) fallback: Fallback,
    pub(super) flag: Option<Flag>,
    pub(super) help: &'static str,
}

/// What holds when nobody said anything.
pub(super) enum Fallback {
    /// This text, read as if it stood in the environment.
    Text(&'static str),
    /// Whatever holds for the key with this path.
    SameAs(&'static str),
    /// Nothing.
    Nothing,
}

/// A flag of the command line.
pub(crate) struct Flag {
    /// Its name without dashes.
    pub(crate) name: &'static str,
    /// What its value is called in the help text.
    pub(crate) value: &'static str,
    /// Whether it may be given more than once.
    pub(crate) repeatable: bool,
}

/// A part of the settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Top,
    Upstream,
    Contract,
    Limits,
    Timeouts,
    Stage,
    Keep,
    Python,
    Trace,
    Otlp,
}

impl Section {
    /// All sections, in the order in which they are listed.
    pub(super) const ALL: [Section; 10] = [
        Section::Top,
        Section::Upstream,
        Section::Contract,
        Section::Limits,
        Section::Timeouts,
        Section::Stage,
        Section::Keep,
        Section::Python,
        Section::Trace,
        Section::Otlp,
    ];

    /// The name in the file; the top of the file has none.
    pub(super) fn name(self) -> &'static str {
        match self {
            Section::Top => "",
            Section::Upstream => "upstream",
            Section::Contract => "contract",
            Section::Limits => "limits",
            Section::Timeouts => "timeouts",
            Section::Stage => "stage",
            Section::Keep => "keep",
            Section::Python => "python",
            Section::Trace => "trace",
            Section::Otlp => "otlp",
        }
    }

    /// The line that opens the section in the file.
    pub(super) fn header(self) -> String {
        match self {
            Section::Top => String::new(),
            Section::Upstream => "[[upstream]]".to_owned(),
            _ => format!("[{}]", self.name()),
        }
    }

    /// The section that a key at the top of the file opens.
    pub(super) fn named(name: &str) -> Option<Section> {
        Section::ALL.into_iter().find(|section| *section != Section::Top && section.name() == name)
    }
}

impl About {
    /// The name in messages: `listen`, `contract.mode`.
    pub(super) fn path(&self) -> String {
        match self.section {
            Section::Top => self.name.to_owned(),
            section => format!("{}.{}", section.name(), self.name),
        }
    }

    /// The environment variable: named like the flag where there is one, else like the path.
    ///
    /// A section that may occur many times has no variables beyond those named like flags.
    pub(super) fn variable(&self) -> Option<String> {
        let name = match (&self.flag, self.section) {
            (Some(flag), _) => flag.name.replace('-', "_"),
            (None, Section::Upstream) => return None,
            (None, _) => self.path().replace('.', "_"),
        };
        Some(format!("{VARIABLE_PREFIX}{}", name.to_uppercase()))
    }

    /// The flag, where there is one.
    pub(crate) fn flag(&self) -> Option<&Flag> {
        self.flag.as_ref()
    }

    /// The help line of the flag, with its default.
    pub(crate) fn flag_help(&self) -> String {
        let repeatable = self.flag.as_ref().is_some_and(|flag| flag.repeatable);
        match self.fallback {
            Fallback::Text(text) => format!("{} [default: {text}]", self.help),
            _ if repeatable => format!("{} [repeatable]", self.help),
            _ => self.help.to_owned(),
        }
    }
}

/// What the name of each of our environment variables begins with.
pub(super) const VARIABLE_PREFIX: &str = "CALLBOARD_";
