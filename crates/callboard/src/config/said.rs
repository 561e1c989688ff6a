//! What was said: values as they stand in the file, the environment and the flags, not yet checked.
//!
//! Layers are told in their order and a later one replaces what an earlier one said, key by key;
//! the list of upstreams is replaced as a whole. Whether a value makes sense is decided afterwards,
//! in `load`.

use super::key::{About, Section};
use super::origin::Origin;
use std::collections::BTreeMap;

/// Everything that was said, by the path of the key.
#[derive(Default)]
pub(super) struct Said {
    pub(super) values: BTreeMap<String, SaidValue>,
    pub(super) upstreams: Vec<SaidUpstream>,
    /// Keys of an upstream that were said outside the file, for all upstreams from outside the
    /// file.
    pub(super) for_upstreams: BTreeMap<&'static str, SaidValue>,
}

impl Said {
    /// Adds what a variable or a flag says about a key.
    ///
    /// One that is repeatable lists the upstreams; the other keys of an upstream are said for all
    /// of these at once.
    pub(super) fn tell(&mut self, about: &About, texts: &[&str], origin: &Origin) {
        if about.flag().is_some_and(|flag| flag.repeatable) {
            self.upstreams = texts.iter().map(|url| SaidUpstream::from_url(about.name, url, origin)).collect();
            return;
        }
        for text in texts {
            let value = SaidValue::plain(text, origin.clone());
            match about.section {
                Section::Upstream => self.for_upstreams.insert(about.name, value),
                _ => self.values.insert(about.path(), value),
            };
        }
    }
}

/// One upstream as it was said.
pub(super) struct SaidUpstream {
    pub(super) origin: Origin,
    pub(super) values: BTreeMap<&'static str, SaidValue>,
}

impl SaidUpstream {
    /// An upstream from outside the file, of which only the URL is known.
    fn from_url(name: &'static str, url: &str, origin: &Origin) -> SaidUpstream {
        let value = SaidValue::plain(url, origin.clone());
        SaidUpstream { origin: origin.clone(), values: BTreeMap::from([(name, value)]) }
    }

    /// Whether it stands in the settings file.
    pub(super) fn is_from_file(&self) -> bool {
        matches!(self.origin, Origin::File { .. })
    }
}

/// One value, and who said it.
#[derive(Clone)]
pub(super) struct SaidValue {
    pub(super) raw: Raw,
    /// How it was written, for messages.
    pub(super) source: String,
    pub(super) origin: Origin,
}

impl SaidValue {
    /// A value from the environment, a flag, or the table's defaults.
    pub(super) fn plain(text: &str, origin: Origin) -> SaidValue {
        SaidValue { raw: Raw::Plain(text.to_owned()), source: text.to_owned(), origin }
    }
}

/// A value before its key has looked at it.
#[derive(Clone)]
pub(super) enum Raw {
    /// Text whose type is up to the key: from the environment, a flag, or a default.
    Plain(String),
    /// A string in the file.
    Text(String),
    /// A whole number in the file.
    Integer(i64),
    /// A number with a fraction in the file.
    Float(f64),
    /// `true` or `false` in the file.
    Truth(bool),
    /// A list of strings in the file.
    List(Vec<String>),
    /// Anything else in the file; no key takes it.
    Other,
}

impl Raw {
    /// The text, where this may be read as text.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Raw::Plain(text) | Raw::Text(text) => Some(text),
            _ => None,
        }
    }
}
