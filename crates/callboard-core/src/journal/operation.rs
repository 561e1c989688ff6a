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
pub enum Operation {
    /// A new member of an object, or a new element before the one at that index of an array.
    Add {
        /// Where it will be.
        path: Pointer,
        /// What it is.
        value: Value,
    },
    /// A member or element is removed.
    Remove {
        /// Where it was.
        path: Pointer,
    },
    /// An existing value is replaced.
    Replace {
        /// Where it is.
        path: Pointer,
        /// What it becomes.
        value: Value,
    },
}

impl Operation {
    /// The place it is about.
    pub fn path(&self) -> &Pointer {
        match self {
            Self::Add { path, .. } | Self::Remove { path } | Self::Replace { path, .. } => path,
        }
    }
}

/// An operation as the standard writes it. No tagged enum: those buffer numbers and would lose their exact digits.
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

/// A value that is there, also when it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl From<Operation> for Written {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Add { path, value } => Self { op: Word::Add, path, value: Some(value) },
            Operation::Remove { path } => Self { op: Word::Remove, path, value: None },
            Operation::Replace { path, value } => Self { op: Word::Replace, path, value: Some(value) },
        }
    }
}

impl TryFrom<Written> for Operation {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let path = written.path;
        match (written.op, written.value) {
            (Word::Remove, _) => Ok(Self::Remove { path }),
            (Word::Add, Some(value)) => Ok(Self::Add { path, value }),
            (Word::Replace, Some(value)) => Ok(Self::Replace { path, value }),
            (Word::Add | Word::Replace, None) => Err("an operation that adds or replaces needs a value"),
        }
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
