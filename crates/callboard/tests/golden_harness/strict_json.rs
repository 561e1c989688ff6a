//! Strict JSON: a repeated key in an object is a fault.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A JSON value that is only validated.
struct Sound;

/// What is wrong with a text that must be one JSON object without repeated keys.
pub(super) fn fault_of_object(text: &str) -> Option<String> {
    if !text.trim_start().starts_with('{') {
        return Some(format!("{text:?} is not a JSON object"));
    }
    serde_json::from_str::<Sound>(text).err().map(|error| format!("{text:?}: {error}"))
}

impl<'de> Deserialize<'de> for Sound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SoundVisitor)
    }
}

struct SoundVisitor;

impl<'de> Visitor<'de> for SoundVisitor {
    type Value = Sound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sound, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<Sound>()?;
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key {key:?} appears twice")));
            }
        }
        Ok(Sound)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Sound, A::Error> {
        while list.next_element::<Sound>()?.is_some() {}
        Ok(Sound)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_unit<E: Error>(self) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Sound, E> {
        Ok(Sound)
    }
}
