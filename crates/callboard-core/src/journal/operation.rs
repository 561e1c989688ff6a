//! JSON Patch (RFC 6902) as data: `add`, `remove` and `replace`. A difference needs no other operations; they are refused when
//! read.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::pointer::Pointer;

/// A list of operations, applied in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Patch(pub Vec<Operation>);

/// One change at one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct Operation {
    /// The place.
    pub path: Pointer,
    /// What happens there.
    pub change: Change,
}

/// What an operation does.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Adds a member to an object, or inserts an element before the one at that index of an array.
    Add(Value),
    /// Removes a member or an element.
    Remove,
    /// Replaces an existing value.
    Replace(Value),
}

/// An operation as in RFC 6902. Not a tagged enum, because those buffer numbers and lose their exact digits.
#[derive(Serialize, Deserialize)]
struct Written {
    op: Word,
    path: Pointer,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Add,
    Remove,
    Replace,
}

/// A value that is present, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl From<Operation> for Written {
    fn from(Operation { path, change }: Operation) -> Self {
        match change {
            Change::Add(value) => Self { op: Word::Add, path, value: Some(value) },
            Change::Remove => Self { op: Word::Remove, path, value: None },
            Change::Replace(value) => Self { op: Word::Replace, path, value: Some(value) },
        }
    }
}

impl TryFrom<Written> for Operation {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let change = match (written.op, written.value) {
            (Word::Remove, _) => Change::Remove,
            (Word::Add, Some(value)) => Change::Add(value),
            (Word::Replace, Some(value)) => Change::Replace(value),
            (Word::Add | Word::Replace, None) => return Err("an operation that adds or replaces needs a value"),
        };
        Ok(Self { path: written.path, change })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_read_and_written_digit_by_digit() {
        let text = r#"[{"op":"add","path":"/a/0","value":1.50},{"op":"replace","path":"","value":null},{"op":"remove","path":"/b~1c"},{"op":"add","path":"/n","value":123456789012345678901234567890}]"#;
        let patch: Patch = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&patch).unwrap(), text);
        for bad in [r#"[{"op":"add","path":"/a"}]"#, r#"[{"op":"move","path":"/a","from":"/b"}]"#, r#"[{"op":"add"}]"#]
        {
            assert!(serde_json::from_str::<Patch>(bad).is_err(), "{bad}");
        }
    }
}
