//! The JSON object of a request body. A field that appears twice is refused, because one of the two would be lost in silence.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::model::BadRequest;

/// Reads the fields of a body.
pub fn read_object(body: Vec<u8>) -> Result<Map<String, Value>, BadRequest> {
    Ok(read_fields(&body_text(body)?)?.into_iter().collect())
}

/// The text of a body.
pub(super) fn body_text(body: Vec<u8>) -> Result<String, BadRequest> {
    String::from_utf8(body).map_err(|_| BadRequest::whole("invalid_json", "the request body is not UTF-8"))
}

/// The fields of an object in their order.
pub(super) fn read_fields<'de, T: Deserialize<'de>>(text: &'de str) -> Result<Vec<(String, T)>, BadRequest> {
    let bad = |error: serde_json::Error| {
        BadRequest::whole("invalid_json", format!("the request body is not a JSON object: {error}"))
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    let fields = reader.deserialize_map(FieldVisitor(PhantomData)).map_err(bad)?;
    reader.end().map_err(bad)?;
    refuse_duplicates(fields, |(key, _)| key.as_str())
}

/// The fields again, where none has the key of another.
pub(super) fn refuse_duplicates<T>(fields: Vec<T>, key: impl Fn(&T) -> &str) -> Result<Vec<T>, BadRequest> {
    let mut keys = HashSet::with_capacity(fields.len());
    match fields.iter().map(key).find(|key| !keys.insert(*key)) {
        Some(key) => Err(BadRequest::invalid(key, format!("{key} appears twice in the request"))),
        None => Ok(fields),
    }
}

struct FieldVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FieldVisitor<T> {
    type Value = Vec<(String, T)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(16);
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comparing each key with all before it would take hours.
    #[test]
    fn many_fields_are_compared_in_linear_time() {
        let fields = |count: u32| (0..count).map(|number| format!("\"key {number}\":1")).collect::<Vec<_>>().join(",");
        let count = 400_000;
        let read = |text: String| read_object(text.into_bytes());
        assert_eq!(read(format!("{{{}}}", fields(count))).unwrap().len(), count as usize);
        let twice = read(format!("{{{},\"key 0\":1}}", fields(count))).unwrap_err();
        assert_eq!(twice.param.as_deref(), Some("key 0"));
    }
}
