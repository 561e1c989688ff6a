//! The objects of a chunk, read field by field: what is not known is kept, at no cost for what is.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

/// An object whose fields are read one by one. Of two fields of one name the last counts.
pub(super) trait ChunkObject: Default {
    /// Reads the value of a field.
    fn read_field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
}

/// Reads an object.
pub(super) fn read_object<'de, T: ChunkObject, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// Keeps a field that is not known.
pub(super) fn keep<'de, A: MapAccess<'de>>(
    other: &mut Map<String, Value>,
    key: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    other.insert(key.to_owned(), map.next_value()?);
    Ok(())
}

struct ObjectVisitor<T>(PhantomData<T>);

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de, T: ChunkObject> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut object = T::default();
        while let Some(Key(key)) = map.next_key()? {
            object.read_field(&key, &mut map)?;
        }
        Ok(object)
    }
}
