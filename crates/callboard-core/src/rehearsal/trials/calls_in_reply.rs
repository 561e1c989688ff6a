//! The calls in a reply, as the trials compare them.

use serde_json::{Map, Value};

/// Name and arguments of each call of a reply.
pub(super) fn calls_of(reply: &Value) -> Vec<(String, Map<String, Value>)> {
    let calls = reply["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
    calls
        .iter()
        .map(|call| {
            let function = &call["function"];
            let arguments = serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
            (function["name"].as_str().unwrap().to_owned(), arguments)
        })
        .collect()
}
