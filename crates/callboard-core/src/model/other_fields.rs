//! Fields of a model server's reply that Callboard does not know. They are passed on at the place where they were.

use serde_json::{Map, Value};

/// Unknown fields of one chunk, or of a whole reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OtherFields {
    /// Beside `choices`, such as `system_fingerprint`.
    pub reply: Map<String, Value>,
    /// Beside `finish_reason`.
    pub choice: Map<String, Value>,
    /// Beside `content`, such as `annotations`.
    pub message: Map<String, Value>,
}

impl OtherFields {
    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reply.is_empty() && self.choice.is_empty() && self.message.is_empty()
    }

    /// About how many bytes they are as JSON.
    #[must_use]
    pub fn bytes(&self) -> usize {
        [&self.reply, &self.choice, &self.message].into_iter().map(map_bytes).sum()
    }

    /// Adds the fields of a later chunk. Lists of a message come in pieces; any other field is replaced by its newest value.
    pub fn add(&mut self, later: Self) {
        self.reply.extend(later.reply);
        self.choice.extend(later.choice);
        for (key, value) in later.message {
            match (self.message.get_mut(&key), value) {
                (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                (_, value) => drop(self.message.insert(key, value)),
            }
        }
    }
}

/// About how many bytes fields are as JSON.
pub(crate) fn map_bytes(fields: &Map<String, Value>) -> usize {
    fields.iter().map(|(key, value)| key.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_bytes).sum::<usize>() + items.len(),
        Value::Object(fields) => map_bytes(fields),
        Value::Number(number) => number.as_str().len(),
        Value::Null | Value::Bool(_) => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn pieces_of_lists_are_joined_and_other_fields_replaced() {
        let mut fields = OtherFields {
            reply: map(&json!({"a": 1})),
            message: map(&json!({"l": [1], "s": "x"})),
            ..OtherFields::default()
        };
        fields.add(OtherFields {
            reply: map(&json!({"a": 2})),
            message: map(&json!({"l": [2], "s": "y"})),
            ..OtherFields::default()
        });
        assert_eq!((fields.reply, fields.message), (map(&json!({"a": 2})), map(&json!({"l": [1, 2], "s": "y"}))));
    }

    #[test]
    fn their_size_is_counted() {
        let fields =
            OtherFields { choice: map(&json!({"abc": {"de": "fgh", "i": [10, null]}})), ..OtherFields::default() };
        assert_eq!(fields.bytes(), 3 + 2 + 3 + 1 + 2 + 4 + 2);
    }
}
