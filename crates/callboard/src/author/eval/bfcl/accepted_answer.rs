//! Whether a call is one of the answers that BFCL accepts.
//!
//! An answer lists the accepted values of each parameter; an empty text among them means that it may be left out. Texts are
//! compared without case, spaces and the signs `,./-_*^`; lists in order; objects key by key, each key again with its accepted
//! values.

use serde_json::{Map, Value};

/// A call that would be right.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// The tool.
    pub(super) tool: String,
    /// The accepted values of each parameter.
    pub(super) accepted: Map<String, Value>,
}

impl Answer {
    /// True when a call of the tool has only parameters of the answer, with values of the answer.
    pub(super) fn accepts(&self, arguments: &Map<String, Value>) -> bool {
        object_is_accepted(&self.accepted, arguments)
    }
}

fn object_is_accepted(accepted: &Map<String, Value>, found: &Map<String, Value>) -> bool {
    found.iter().all(|(key, value)| accepted.get(key).is_some_and(|options| is_accepted(options, value)))
        && accepted.iter().all(|(key, options)| found.contains_key(key) || may_be_missing(options))
}

fn may_be_missing(options: &Value) -> bool {
    options.as_array().is_some_and(|options| options.iter().any(|option| option.as_str() == Some("")))
}

fn is_accepted(options: &Value, found: &Value) -> bool {
    match options {
        Value::Array(options) => options.iter().any(|option| is_same(option, found)),
        option => is_same(option, found),
    }
}

fn is_same(option: &Value, found: &Value) -> bool {
    match (option, found) {
        (Value::String(option), Value::String(found)) => plain(option) == plain(found),
        (Value::Number(option), Value::Number(found)) => option.as_f64() == found.as_f64(),
        (Value::Array(option), Value::Array(found)) => {
            option.len() == found.len() && option.iter().zip(found).all(|(option, found)| is_same(option, found))
        }
        (Value::Object(option), Value::Object(found)) => object_is_accepted(option, found),
        _ => option == found,
    }
}

fn plain(text: &str) -> String {
    let counts = |letter: &char| !matches!(letter, ' ' | ',' | '.' | '/' | '-' | '_' | '*' | '^');
    text.chars().filter(counts).collect::<String>().to_lowercase().replace('\'', "\"")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_compared_with_accepted_answers() {
        let accepted = json!({
            "city": ["New York, NY", "NYC"],
            "days": [5],
            "unit": ["celsius", ""],
            "tags": [["a-b", "c"], []],
            "where": [{"lat": [1.5], "name": ["home", ""]}, ""],
            "stops": [[{"x": [1]}, {"x": [2]}], ""],
        });
        let table = [
            (json!({"city": "new york NY", "days": 5, "tags": ["AB", "c"]}), true),
            (json!({"city": "nyc", "days": 5.0, "unit": "Celsius", "tags": []}), true),
            (json!({"city": "nyc", "days": "5", "tags": []}), false),
            (json!({"city": "Boston", "days": 5, "tags": []}), false),
            (json!({"city": "nyc", "tags": []}), false),
            (json!({"city": "nyc", "days": 5, "tags": ["c", "AB"]}), false),
            (json!({"city": "nyc", "days": 5, "tags": [], "other": 1}), false),
            (json!({"city": "nyc", "days": 5, "tags": [], "where": {"lat": 1.5}}), true),
            (json!({"city": "nyc", "days": 5, "tags": [], "where": {"name": "home"}}), false),
            (json!({"city": "nyc", "days": 5, "tags": [], "stops": [{"x": 1}, {"x": 2}]}), true),
            (json!({"city": "nyc", "days": 5, "tags": [], "stops": [{"x": 2}, {"x": 1}]}), false),
        ];
        let answer = Answer { tool: "t".to_owned(), accepted: accepted.as_object().unwrap().clone() };
        for (arguments, expected) in table {
            assert_eq!(answer.accepts(arguments.as_object().unwrap()), expected, "{arguments}");
        }
    }
}
