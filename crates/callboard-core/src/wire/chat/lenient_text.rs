//! A JSON value that should be text: borrowed where it is, and readable where a server sent something else.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Text, or what a server sent instead.
#[derive(Debug, Default, PartialEq)]
pub(super) enum LenientText<'a> {
    /// null, or missing.
    #[default]
    Nothing,
    /// A string.
    Text(Cow<'a, str>),
    /// Anything else.
    Other(Value),
}

impl LenientText<'_> {
    /// The text, if it is one and not empty.
    pub(super) fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text.into_owned()),
            _ => None,
        }
    }

    /// A number, also when it was written as text.
    pub(super) fn as_index(&self) -> Option<u64> {
        match self {
            Self::Text(text) => text.trim().parse().ok(),
            Self::Other(value) => value.as_u64(),
            Self::Nothing => None,
        }
    }

    /// The text of a message: a string, or the text parts of a list.
    pub(super) fn into_content(self) -> Option<String> {
        match self {
            Self::Other(Value::Array(parts)) => {
                let text: String = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
                (!text.is_empty()).then_some(text)
            }
            other => other.into_text(),
        }
    }

    /// The arguments of a call: a string as it is, anything else as JSON text.
    pub(super) fn into_arguments(self) -> Option<String> {
        match self {
            Self::Other(value) => Some(value.to_string()),
            other => other.into_text(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for LenientText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor)
    }
}

struct LenientVisitor;

impl<'de> Visitor<'de> for LenientVisitor {
    type Value = LenientText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(LenientText::Nothing)
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(LenientText::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(LenientText::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(LenientText::Other(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(LenientText::Other(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(LenientText::Other(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(LenientText::Other(value.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(LenientText::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(list)).map(LenientText::Other)
    }
}
