//! The names of the tools on offer, which distinguish a call from an answer of the same shape.

use std::sync::Arc;

use serde_json::Value;

use super::input::leading;
use super::tool_name::{letters, resolve_name};

/// The names of the tools on offer, and of their parameters.
#[derive(Debug, Clone, Default)]
pub struct ToolNames(Arc<[OfferedTool]>);

#[derive(Debug)]
struct OfferedTool {
    name: String,
    letters: String,
    /// None where any key may be a parameter.
    parameters: Option<Vec<String>>,
    required: bool,
}

impl ToolNames {
    /// Tools whose parameters are not known.
    pub(super) fn new(names: &[&str]) -> Self {
        let tool = |name: &&str| OfferedTool::new(name, None, false);
        Self(names.iter().map(tool).collect())
    }

    /// Tools with the schemas of their parameters.
    #[must_use]
    pub fn with_schemas<'a>(tools: impl Iterator<Item = (&'a str, &'a Value)>) -> Self {
        Self(tools.map(|(name, schema)| OfferedTool::with_schema(name, schema)).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|tool| tool.name.as_str())
    }

    pub(super) fn offer(&self, name: &str) -> bool {
        self.names().any(|offered| offered == name)
    }

    /// Whether `beginning` may grow into a name on offer.
    pub(super) fn may_offer(&self, beginning: &str) -> bool {
        self.names().any(|offered| offered.starts_with(beginning))
    }

    /// The same for a name with the prefixes and suffixes that families add.
    pub(super) fn may_offer_decorated(&self, beginning: &str) -> bool {
        let bare = beginning.strip_prefix(NAMESPACE).unwrap_or(beginning);
        let called = bare.rsplit_once('.').is_some_and(|(name, rest)| self.offer(name) && "call".starts_with(rest));
        called || NAMESPACE.starts_with(beginning) || self.may_offer(bare) || self.offer(bare_name(beginning))
    }

    /// The tool that is meant by a name in any spelling.
    pub(super) fn resolve(&self, written: &str) -> Option<&str> {
        let written = written.trim_end_matches(['.', ':', '/', '-']);
        let wanted = letters(bare_name(written));
        if wanted.is_empty() || !self.0.iter().any(|tool| wanted.ends_with(&tool.letters)) {
            return None;
        }
        let (place, _) = resolve_name(written, self.names())?;
        self.0.get(place).map(|tool| tool.name.as_str())
    }

    /// The same where every beginning of the name shows that it may become one.
    pub(super) fn resolve_beginning(&self, written: &str) -> Option<&str> {
        self.resolve(written).filter(|_| self.may_resolve(written))
    }

    /// Whether a text may grow into the name of a tool in some spelling.
    pub(super) fn may_resolve(&self, beginning: &str) -> bool {
        let beginning = beginning.strip_prefix(NAMESPACE).unwrap_or(beginning);
        let wanted = letters(beginning);
        NAMESPACE.starts_with(beginning) || self.0.iter().any(|tool| tool.letters.starts_with(&wanted))
    }

    /// Whether a text begins with one of the names.
    pub(super) fn begin(&self, text: &str) -> bool {
        self.names().any(|offered| text.starts_with(offered))
    }

    /// Whether a text contains one of the names.
    pub(super) fn are_named_in(&self, text: &str) -> bool {
        self.names().any(|offered| text.contains(offered))
    }

    /// The same for a name that is no word of a sentence, or with which the text begins.
    pub(super) fn are_meant_in(&self, text: &str) -> bool {
        let first = leading_name(text.trim_ascii_start());
        self.names().any(|offered| is_distinctive(offered) && text.contains(offered) || offered == first)
    }

    /// The name that a text contains, if it contains no other.
    pub(super) fn only_named_in(&self, text: &str) -> Option<&str> {
        let mut named = self.names().filter(|offered| text.contains(offered));
        named.next().filter(|_| named.next().is_none())
    }

    fn tool(&self, name: &str) -> Option<&OfferedTool> {
        self.0.iter().find(|tool| tool.name == name)
    }

    /// Whether `key` may be a parameter of the tool `name`.
    pub(super) fn may_take(&self, name: &str, key: &str) -> bool {
        let parameters = self.tool(name).and_then(|tool| tool.parameters.as_deref());
        parameters.is_none_or(|known| known.iter().any(|parameter| parameter == key))
    }

    /// Whether `key` is known to be a parameter of the tool `name`.
    pub(super) fn takes(&self, name: &str, key: &str) -> bool {
        self.tool(name).is_some_and(|tool| tool.parameters.is_some()) && self.may_take(name, key)
    }

    /// Whether arguments with these keys may be meant for the tool `name`.
    pub(super) fn fit<'a>(&self, name: &str, mut keys: impl Iterator<Item = &'a str>) -> bool {
        match keys.next() {
            None => !self.tool(name).is_some_and(|tool| tool.required),
            Some(first) => self.may_take(name, first) || keys.any(|key| self.may_take(name, key)),
        }
    }
}

impl OfferedTool {
    fn new(name: &str, parameters: Option<Vec<String>>, required: bool) -> Self {
        Self { name: name.to_owned(), letters: letters(name), parameters, required }
    }

    /// Properties may also be declared in other places of a schema; then any key may be one.
    fn with_schema(name: &str, schema: &Value) -> Self {
        let is_plain =
            ["$ref", "allOf", "anyOf", "oneOf", "patternProperties"].iter().all(|key| schema.get(key).is_none());
        let closed = schema.get("additionalProperties").is_none_or(|more| more == &Value::Bool(false));
        let properties = schema.get("properties").and_then(Value::as_object).filter(|_| is_plain && closed);
        let parameters = properties.map(|properties| properties.keys().cloned().collect());
        let required = schema.get("required").and_then(Value::as_array).is_some_and(|required| !required.is_empty());
        Self::new(name, parameters, required)
    }
}

/// Whether a name is unlike a word of a sentence.
pub(super) fn is_distinctive(name: &str) -> bool {
    name.contains(['_', '-']) || name.chars().skip(1).any(char::is_uppercase)
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
