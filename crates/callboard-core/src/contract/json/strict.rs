//! Strict JSON in one pass: what serde_json reads, without duplicate keys and not deeper than both readers allow.
//!
//! This is the way of nearly every call, so it builds the value directly and explains nothing. Only a text that it refused
//! is read again, by the lenient reader with every repair forbidden, to say what is wrong.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use super::lenient::Reader;
use super::reading::DEEPEST;
use super::reading::Malformed;

/// Reads one strict JSON value: no duplicate keys, no `NaN`, nothing after it, at most 64 levels deep.
pub fn read_strict(text: &str) -> Result<Value, Malformed> {
    parse(text).map_err(|error| {
        let explained = Reader::strict(text).only_value().err();
        explained.unwrap_or_else(|| Malformed::new(text, 0, &error.to_string()))
    })
}

/// Reads the JSON of a request, such as a schema, which may nest as deep as the reader allows; how deep a schema may be is
/// checked by its own limit.
pub fn read_schema(text: &str) -> serde_json::Result<Value> {
    parse_within(text, usize::MAX)
}

/// Strict JSON, for a caller that does not need to know what is wrong.
pub(super) fn parse(text: &str) -> serde_json::Result<Value> {
    parse_within(text, DEEPEST)
}

fn parse_within(text: &str, levels_left: usize) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Node { levels_left }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// One value, wherever it stands.
#[derive(Clone, Copy)]
struct Node {
    levels_left: usize,
}

impl Node {
    fn inner<E: de::Error>(self) -> Result<Self, E> {
        match self.levels_left.checked_sub(1) {
            Some(levels_left) => Ok(Self { levels_left }),
            None => Err(E::custom("nested too deep")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let node = self.inner()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(node)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        match entries.next_key_seed(KeySeed)? {
            None => self.inner().map(|_| Value::Object(Map::new())),
            Some(Key::OfNumber) => {
                let number = entries.next_value::<String>()?;
                number.parse::<Number>().map(Value::Number).map_err(de::Error::custom)
            }
            Some(Key::Name(first)) => object(self.inner()?, first, entries).map(Value::Object),
        }
    }
}

fn object<'de, A: MapAccess<'de>>(node: Node, first: String, mut entries: A) -> Result<Map<String, Value>, A::Error> {
    let mut object = Map::new();
    let mut next = Some(Key::Name(first));
    while let Some(Key::Name(name)) = next {
        match object.entry(name) {
            Entry::Vacant(place) => place.insert(entries.next_value_seed(node)?),
            Entry::Occupied(_) => return Err(de::Error::custom("a key appears twice")),
        };
        next = entries.next_key_seed(KeySeed)?;
    }
    Ok(object)
}

/// With `arbitrary_precision` a number that is no small integer arrives as a map of one made-up key. A model may write that very key, so the name is
/// no proof; but only the key of a real object lets itself be read as an option.
enum Key {
    OfNumber,
    Name(String),
}

struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        String::deserialize(deserializer).map(Key::Name)
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Key, E> {
        Ok(Key::OfNumber)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn accepts_strict_json_with_its_numbers_as_written() {
        for text in [
            r#"{"a":1,"b":[true,null,"x"],"c":{"a":2}}"#,
            r#"{"n":123456789012345678901234567890.12345678901234567890}"#,
            r#"{"$serde_json::private::Number":"7"}"#,
            r#"{"$serde_json::private::RawValue":"[1]"}"#,
            "[-0,1.50,1e+9]",
            "3",
        ] {
            assert_eq!(read_strict(text).unwrap().to_string(), text);
        }
        let odd = read_strict(r#"{"$serde_json::private::Number":"7"}"#).unwrap();
        assert!(odd.is_object());
        assert_eq!(read_strict(" [1] \n").unwrap(), json!([1]));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (text, message, cut_off) in [
            (r#"{"a":1,"a":1}"#, "key \"a\" appears twice (at character 7)", false),
            (r#"{"a":1,"a":2}"#, "key \"a\" appears twice (at character 7)", false),
            (r#"{"a":NaN}"#, "NaN is not a JSON value (at character 5)", false),
            (r#"{"é":1,}"#, "a comma stands before the closing bracket (at character 7)", false),
            ("{'a':1}", "text must be in double quotes, not single quotes (at character 1)", false),
            ("[1] 2", "there is more than one JSON value (at character 4)", false),
            (r#"{"a":-"#, "unexpected end: the JSON is cut off at character 6", true),
            ("", "unexpected end: the JSON is cut off at character 0", true),
        ] {
            let refused = read_strict(text).unwrap_err();
            assert_eq!((refused.message.as_str(), refused.cut_off), (message, cut_off), "{text}");
        }
    }

    #[test]
    fn nests_64_deep_and_no_deeper() {
        let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read_strict(&nested(64)).is_ok());
        let refused = read_strict(&nested(65)).unwrap_err();
        assert_eq!(refused.message, "objects and arrays nest deeper than 64 levels (at character 64)");
    }
}
