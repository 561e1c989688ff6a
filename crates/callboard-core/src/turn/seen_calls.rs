//! A set of calls. Two calls are the same if name and arguments are, however the arguments are written.

use std::collections::HashSet;

use serde_json::Value;

use crate::contract::Call;

/// Calls by name and value.
#[derive(Debug, Default)]
pub(super) struct SeenCalls(HashSet<(String, Value)>);

impl SeenCalls {
    pub(super) fn contains(&self, call: &Call) -> bool {
        !self.0.is_empty() && self.0.contains(&key(call))
    }
}

impl<'a> FromIterator<&'a Call> for SeenCalls {
    fn from_iter<C: IntoIterator<Item = &'a Call>>(calls: C) -> Self {
        Self(calls.into_iter().map(key).collect())
    }
}

fn key(call: &Call) -> (String, Value) {
    let text = call.arguments.as_str();
    (call.name.clone(), serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)))
}
