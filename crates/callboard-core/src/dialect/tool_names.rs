//! The names of the tools on offer, which distinguish a call from an answer of the same shape.

use super::input::leading;

/// The names of the tools on offer.
#[derive(Debug, Clone)]
pub(super) struct ToolNames(Vec<String>);

impl ToolNames {
    pub(super) fn new(names: &[&str]) -> Self {
        Self(names.iter().map(|name| (*name).to_owned()).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn offer(&self, name: &str) -> bool {
        self.0.iter().any(|offered| offered == name)
    }

    /// Whether `beginning` may grow into a name on offer.
    pub(super) fn may_offer(&self, beginning: &str) -> bool {
        self.0.iter().any(|offered| offered.starts_with(beginning))
    }

    /// The same for a name with the prefixes and suffixes that families add.
    pub(super) fn may_offer_decorated(&self, beginning: &str) -> bool {
        let bare = beginning.strip_prefix(NAMESPACE).unwrap_or(beginning);
        let called = bare.rsplit_once('.').is_some_and(|(name, rest)| self.offer(name) && "call".starts_with(rest));
        called || NAMESPACE.starts_with(beginning) || self.may_offer(bare) || self.offer(bare_name(beginning))
    }

    /// Whether a text begins with one of the names.
    pub(super) fn begin(&self, text: &str) -> bool {
        self.0.iter().any(|offered| text.starts_with(offered.as_str()))
    }

    /// Whether a text contains one of the names.
    pub(super) fn are_named_in(&self, text: &str) -> bool {
        self.0.iter().any(|offered| text.contains(offered.as_str()))
    }

    /// The name that a text contains, if it contains no other.
    pub(super) fn only_named_in(&self, text: &str) -> Option<&str> {
        let mut named = self.0.iter().filter(|offered| text.contains(offered.as_str()));
        named.next().filter(|_| named.next().is_none()).map(String::as_str)
    }
}

/// The prefix that some families write before every name.
pub(super) const NAMESPACE: &str = "functions.";

/// `functions.get_weather:0` is how some families write the name `get_weather`.
pub(super) fn bare_name(written: &str) -> &str {
    let name = written.trim().trim_matches(['"', '\'', '`']);
    let name = name.strip_prefix(NAMESPACE).unwrap_or(name);
    match name.rsplit_once(':') {
        Some((before, number)) if !before.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => before,
        _ => name,
    }
}

/// Whether `text` could be a tool's name in any family.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 128 && text.chars().all(is_name_character)
}

/// The name that `text` begins with, or nothing.
pub(super) fn leading_name(text: &str) -> &str {
    leading(text, is_name_character)
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | ':' | '/')
}
