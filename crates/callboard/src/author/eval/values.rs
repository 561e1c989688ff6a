//! Whether a value is what a case wants: only what is stated is compared.
//!
//! Texts are compared without regard to case and outer space, lists as sets. `{"any_of": […]}` is met by any of its values,
//! `{"contains": "…"}` by a text that holds it; other objects are met key by key.

use serde_json::Value;

/// True when `found` is what `wanted` asks for.
pub(super) fn meets(wanted: &Value, found: &Value) -> bool {
    if let Some(options) = sole(wanted, "any_of").and_then(Value::as_array) {
        return options.iter().any(|option| meets(option, found));
    }
    if let Some(part) = sole(wanted, "contains").and_then(Value::as_str) {
        return found.as_str().is_some_and(|text| folded(text).contains(&folded(part)));
    }
    match (wanted, found) {
        (Value::String(wanted), Value::String(found)) => folded(wanted) == folded(found),
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        (Value::Array(wanted), Value::Array(found)) => are_one_set(wanted, found),
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.iter().all(|(key, value)| meets(value, found.get(key).unwrap_or(&Value::Null)))
        }
        _ => wanted == found,
    }
}

/// The value of a key in an object that has no other.
pub(super) fn sole<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.as_object().filter(|object| object.len() == 1)?.get(key)
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

fn are_one_set(wanted: &[Value], found: &[Value]) -> bool {
    wanted.iter().all(|wanted| found.iter().any(|found| meets(wanted, found)))
        && found.iter().all(|found| wanted.iter().any(|wanted| meets(wanted, found)))
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
        for (wanted, found, expected) in table {
            assert_eq!(meets(&wanted, &found), expected, "{wanted} {found}");
        }
    }
}
