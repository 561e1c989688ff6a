//! Applies a patch to a value.
//!
//! Each operation also becomes a `Step`, which distinguishes indices from keys; comparing two patches needs that.

use serde_json::{Map, Value};

use super::operation::{Change, Operation, Patch};

/// A patch that does not fit the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a patch does not fit the value at {path:?}")]
pub struct PatchError {
    /// Where it fails.
    pub path: String,
}

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A member of an object.
    Key(String),
    /// An element of an array.
    Index(usize),
}

/// An operation in the value that it was made for. A member that is added although it exists is replaced.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) path: Vec<Token>,
    pub(super) change: Change,
}

impl Patch {
    /// The value after all operations.
    pub fn apply(&self, value: &Value) -> Result<Value, PatchError> {
        let mut value = value.clone();
        self.steps(&mut value)?;
        Ok(value)
    }

    /// Applies all operations and returns the steps. When one fails, the value is left half changed.
    pub(super) fn steps(&self, value: &mut Value) -> Result<Vec<Step>, PatchError> {
        self.0.iter().map(|operation| perform(operation, value)).collect()
    }
}

impl Step {
    /// The same as an operation.
    pub(super) fn into_operation(self) -> Operation {
        let tokens = self.path.into_iter().map(|token| match token {
            Token::Key(key) => key,
            Token::Index(index) => index.to_string(),
        });
        Operation { path: tokens.collect(), change: self.change }
    }
}

fn perform(operation: &Operation, value: &mut Value) -> Result<Step, PatchError> {
    let misfit = || PatchError { path: operation.path.to_string() };
    let Some((last, way)) = operation.path.tokens().split_last() else {
        return at_the_root(&operation.change, value).ok_or_else(misfit);
    };
    let mut path = Vec::with_capacity(way.len() + 1);
    let mut place = value;
    for token in way {
        place = descend(place, token, &mut path).ok_or_else(misfit)?;
    }
    let change = match place {
        Value::Object(members) => {
            path.push(Token::Key(last.clone()));
            in_object(&operation.change, members, last)
        }
        Value::Array(elements) => {
            let index = index(last, elements.len()).ok_or_else(misfit)?;
            path.push(Token::Index(index));
            in_array(&operation.change, elements, index)
        }
        _ => None,
    };
    Ok(Step { path, change: change.ok_or_else(misfit)? })
}

/// The whole value can be replaced, not removed.
fn at_the_root(change: &Change, value: &mut Value) -> Option<Step> {
    let (Change::Add(new) | Change::Replace(new)) = change else { return None };
    *value = new.clone();
    Some(Step { path: Vec::new(), change: Change::Replace(new.clone()) })
}

fn descend<'a>(place: &'a mut Value, token: &str, path: &mut Vec<Token>) -> Option<&'a mut Value> {
    match place {
        Value::Object(members) => {
            path.push(Token::Key(token.to_owned()));
            members.get_mut(token)
        }
        Value::Array(elements) => {
            let index = index(token, elements.len())?;
            path.push(Token::Index(index));
            elements.get_mut(index)
        }
        _ => None,
    }
}

fn in_object(change: &Change, members: &mut Map<String, Value>, key: &str) -> Option<Change> {
    match change {
        Change::Remove => drop(members.shift_remove(key)?),
        Change::Replace(value) => *members.get_mut(key)? = value.clone(),
        Change::Add(value) => {
            if members.insert(key.to_owned(), value.clone()).is_some() {
                return Some(Change::Replace(value.clone()));
            }
        }
    }
    Some(change.clone())
}

fn in_array(change: &Change, elements: &mut Vec<Value>, index: usize) -> Option<Change> {
    match change {
        Change::Add(value) if index <= elements.len() => elements.insert(index, value.clone()),
        Change::Replace(value) => *elements.get_mut(index)? = value.clone(),
        Change::Remove if index < elements.len() => drop(elements.remove(index)),
        Change::Add(_) | Change::Remove => return None,
    }
    Some(change.clone())
}

/// An index as in RFC 6901: no sign, no leading zero; `-` is the place after the last element.
fn index(token: &str, length: usize) -> Option<usize> {
    match token {
        "-" => Some(length),
        "0" => Some(0),
        _ if token.starts_with(|first: char| matches!(first, '1'..='9')) => token.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(value: &Value, patch: Value) -> Option<String> {
        let patch: Patch = serde_json::from_value(patch).unwrap();
        patch.apply(value).ok().map(|value| value.to_string())
    }

    #[test]
    fn operations_do_what_the_standard_says() {
        let value = json!({"a": [1, 2], "b": {"0": true}, "c": null});
        let cases = [
            (json!([{"op": "add", "path": "/a/1", "value": 9}]), Some(r#"{"a":[1,9,2],"b":{"0":true},"c":null}"#)),
            (json!([{"op": "add", "path": "/a/-", "value": 9}]), Some(r#"{"a":[1,2,9],"b":{"0":true},"c":null}"#)),
            (json!([{"op": "add", "path": "/a/3", "value": 9}]), None),
            (json!([{"op": "add", "path": "/a/01", "value": 9}]), None),
            (json!([{"op": "replace", "path": "/a/2", "value": 9}]), None),
            (json!([{"op": "remove", "path": "/a/0"}]), Some(r#"{"a":[2],"b":{"0":true},"c":null}"#)),
            (json!([{"op": "remove", "path": "/a"}]), Some(r#"{"b":{"0":true},"c":null}"#)),
            (json!([{"op": "remove", "path": "/b/0"}]), Some(r#"{"a":[1,2],"b":{},"c":null}"#)),
            (json!([{"op": "remove", "path": "/b/1"}]), None),
            (json!([{"op": "replace", "path": "/d", "value": 1}]), None),
            (json!([{"op": "add", "path": "/d/e", "value": 1}]), None),
            (json!([{"op": "add", "path": "/c/e", "value": 1}]), None),
            (json!([{"op": "remove", "path": ""}]), None),
            (json!([{"op": "add", "path": "", "value": 5}]), Some("5")),
        ];
        for (patch, expected) in cases {
            assert_eq!(patched(&value, patch.clone()).as_deref(), expected, "{patch}");
        }
    }
}
