//! Typed access to the fields of a JSON object; every error names the place of the field.
//!
//! A missing field and `null` are the same here. Nested objects carry their place in the request.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::model::BadRequest;

const MOST_PAIRS: usize = 16;
const LONGEST_KEY: usize = 64;
const LONGEST_VALUE: usize = 512;

/// A JSON object and its place in the request, which is empty for the request itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    place: &'a str,
}

impl<'a> Fields<'a> {
    /// The request itself.
    pub(super) fn of(map: &'a Map<String, Value>) -> Self {
        Self { map, place: "" }
    }

    /// An object inside the request.
    pub(super) fn at(value: &'a Value, place: &'a str) -> Result<Self, BadRequest> {
        match value {
            Value::Object(map) => Ok(Self { map, place }),
            _ => Err(BadRequest::wrong_type(place, format!("{place} must be an object"))),
        }
    }

    /// The place of a field.
    pub(super) fn place(&self, key: &str) -> String {
        if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) }
    }

    /// A field, where there is one.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// A field that must be there; `remedy` says what to write.
    pub(super) fn required(&self, key: &str, remedy: &str) -> Result<&'a Value, BadRequest> {
        self.get(key).ok_or_else(|| {
            let place = self.place(key);
            BadRequest::missing(&place, format!("{place} is missing; {remedy}"))
        })
    }

    /// A text field.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, BadRequest> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "a string")),
        }
    }

    /// A text field that must be there and not be blank.
    pub(super) fn required_text(&self, key: &str, remedy: &str) -> Result<&'a str, BadRequest> {
        self.required(key, remedy)?;
        match self.text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => {
                let place = self.place(key);
                Err(BadRequest::invalid(&place, format!("{place} must not be empty; {remedy}")))
            }
        }
    }

    /// A field that is true or false.
    pub(super) fn boolean(&self, key: &str) -> Result<Option<bool>, BadRequest> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(self.wrong(key, "true or false")),
        }
    }

    /// A number in a range.
    pub(super) fn number(&self, key: &str, range: RangeInclusive<f64>) -> Result<(), BadRequest> {
        let Some(value) = self.get(key) else { return Ok(()) };
        let wanted = format!("a number from {} to {}", range.start(), range.end());
        match value.as_f64().filter(|_| value.is_number()) {
            Some(number) if range.contains(&number) => Ok(()),
            Some(_) => {
                let place = self.place(key);
                Err(BadRequest::invalid(&place, format!("{place} is {value}; it must be {wanted}")))
            }
            None => Err(self.wrong(key, &wanted)),
        }
    }

    /// A whole number of at least 1.
    pub(super) fn positive_integer(&self, key: &str) -> Result<Option<u64>, BadRequest> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.as_u64() {
            Some(number) if number >= 1 => Ok(Some(number)),
            _ if value.is_number() => {
                let place = self.place(key);
                let message = format!("{place} is {value}; it must be a whole number of at least 1");
                Err(BadRequest::invalid(place, message))
            }
            _ => Err(self.wrong(key, "a whole number of at least 1")),
        }
    }

    /// A text field with a closed list of words.
    pub(super) fn one_of(&self, key: &str, words: &[&str]) -> Result<Option<&'a str>, BadRequest> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        if words.contains(&text) {
            return Ok(Some(text));
        }
        let place = self.place(key);
        let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        Err(BadRequest::invalid(&place, format!("{place} is {text:?}; it must be {}", quoted.join(" or "))))
    }

    /// A list.
    pub(super) fn list(&self, key: &str) -> Result<Option<&'a Vec<Value>>, BadRequest> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => Err(self.wrong(key, "a list")),
        }
    }

    /// An object that is only looked at for being one.
    pub(super) fn object(&self, key: &str) -> Result<Option<&'a Map<String, Value>>, BadRequest> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(_) => Err(self.wrong(key, "an object")),
        }
    }

    /// The client's metadata: up to 16 pairs of texts.
    pub(super) fn metadata(&self) -> Result<Map<String, Value>, BadRequest> {
        let Some(pairs) = self.object("metadata")? else { return Ok(Map::new()) };
        if pairs.len() > MOST_PAIRS {
            let message = format!("metadata holds {} pairs; at most {MOST_PAIRS} are allowed", pairs.len());
            return Err(BadRequest::invalid(self.place("metadata"), message));
        }
        for (key, value) in pairs {
            self.pair(key, value)?;
        }
        Ok(pairs.clone())
    }

    fn pair(&self, key: &str, value: &Value) -> Result<(), BadRequest> {
        let place = format!("{}.{key}", self.place("metadata"));
        let Value::String(text) = value else {
            return Err(BadRequest::wrong_type(&place, format!("{place} must be a string")));
        };
        if key.chars().count() > LONGEST_KEY {
            let message = format!("a key of metadata has more than {LONGEST_KEY} characters");
            return Err(BadRequest::invalid(self.place("metadata"), message));
        }
        if text.chars().count() > LONGEST_VALUE {
            return Err(BadRequest::invalid(&place, format!("{place} has more than {LONGEST_VALUE} characters")));
        }
        Ok(())
    }

    fn wrong(&self, key: &str, wanted: &str) -> BadRequest {
        let place = self.place(key);
        BadRequest::wrong_type(&place, format!("{place} must be {wanted}"))
    }
}
