//! Whether a value is the expected one: only what the case states is compared.
//!
//! Texts are compared without regard to case and outer space, lists as sets. `{"any_of": […]}` matches any of its values,
//! `{"contains": "…"}` a text that contains it; other objects are compared key by key.

use serde_json::Value;

/// True when `found` is what `expected` describes.
pub(super) fn matches(expected: &Value, found: &Value) -> bool {
    if let Some(options) = sole(expected, "any_of").and_then(Value::as_array) {
        return options.iter().any(|option| matches(option, found));
    }
    if let Some(part) = sole(expected, "contains").and_then(Value::as_str) {
        return found.as_str().is_some_and(|text| folded(text).contains(&folded(part)));
    }
    match (expected, found) {
        (Value::String(expected), Value::String(found)) => folded(expected) == folded(found),
        (Value::Number(expected), Value::Number(found)) => expected.as_f64() == found.as_f64(),
        (Value::Array(expected), Value::Array(found)) => are_one_set(expected, found),
        (Value::Object(expected), Value::Object(found)) => {
            expected.iter().all(|(key, value)| matches(value, found.get(key).unwrap_or(&Value::Null)))
        }
        _ => expected == found,
    }
}

/// The value of a key in an object that has no other.
pub(super) fn sole<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.as_object().filter(|object| object.len() == 1)?.get(key)
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

fn are_one_set(expected: &[Value], found: &[Value]) -> bool {
    expected.iter().all(|expected| found.iter().any(|found| matches(expected, found)))
        && found.iter().all(|found| expected.iter().any(|expected| matches(expected, found)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_stated_counts() {
        let table = [
            (json!("Terminator Squad"), json!(" terminator squad "), true),
            (json!("Terminator"), json!("Terminator Squad"), false),
            (json!({"contains": "Primary"}), json!("the primary objective"), true),
            (json!({"contains": "primary"}), json!(5), false),
            (json!({"any_of": ["player", "both"]}), json!("Both"), true),
            (json!({"any_of": [3, 0]}), json!(1), false),
            (json!(5), json!(5.0), true),
            (json!(5), json!("5"), false),
            (json!(true), json!(1), false),
            (json!(["a", "b"]), json!(["B", "a", "a"]), true),
            (json!(["a", "b"]), json!(["a"]), false),
            (json!(["a"]), json!(["a", "b"]), false),
            (json!([{"contains": "cover"}]), json!(["has cover"]), true),
            (json!({"cp": {"player": 3}}), json!({"cp": {"player": 3, "opponent": 1}, "vp": 1}), true),
            (json!({"cp": {"player": 3}}), json!({"cp": {}}), false),
            (json!({"cp": null}), json!({}), true),
        ];
        for (expected, found, result) in table {
            assert_eq!(matches(&expected, &found), result, "{expected} {found}");
        }
    }
}
