//! The JSON object of a request body. A field that comes twice is refused, for one of the two would be lost in silence.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::model::BadRequest;

/// Reads the fields of a body.
pub fn read_object(body: Vec<u8>) -> Result<Map<String, Value>, BadRequest> {
    let text =
        String::from_utf8(body).map_err(|_| BadRequest::whole("invalid_json", "the request body is not UTF-8"))?;
    let Pairs(pairs) = serde_json::from_str(&text).map_err(|error| {
        BadRequest::whole("invalid_json", format!("the request body is not a JSON object: {error}"))
    })?;
    let mut fields = Map::new();
    for (key, value) in pairs {
        match fields.entry(key) {
            Entry::Vacant(place) => drop(place.insert(value)),
            Entry::Occupied(place) => {
                let key = place.key();
                return Err(BadRequest::invalid(key.clone(), format!("{key} appears twice in the request")));
            }
        }
    }
    Ok(fields)
}

/// The fields of an object in their order; a name may come twice.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor).map(Self)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::with_capacity(16);
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}
