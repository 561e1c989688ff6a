//! Converts a string where the schema wants another type, and a scalar where an enum wants its text.
//!
//! Conversions are strict: JSON's grammar for numbers, lists and objects, `true` and `false`, or one enum value up to
//! case and surrounding space. `"02134"`, `"six"` and `""` stay strings. A number or a boolean becomes a string only where
//! exactly one value of the enum is its text: `2` in `["1", "2"]`, but not where any string is allowed.

use serde_json::{Number, Value};

use super::fit::{Keywords, fits_here, names_type};
use super::repair_kind::CoerceRepair;
use crate::contract::json::read_strict;

/// The converted value, if it fits this schema.
pub(super) fn read_text(text: &str, schema: &Keywords) -> Option<(Value, CoerceRepair)> {
    let readings = [
        (number as fn(&str, &Keywords) -> Option<Value>, CoerceRepair::NumberFromText),
        (boolean, CoerceRepair::BooleanFromText),
        (spelling, CoerceRepair::EnumSpelling),
        (container, CoerceRepair::JsonInText),
    ];
    readings.into_iter().find_map(|(read, repair)| {
        read(text, schema).filter(|value| fits_here(value, schema)).map(|value| (value, repair))
    })
}

fn number(text: &str, schema: &Keywords) -> Option<Value> {
    let text = text.trim();
    let integer = !text.contains(['.', 'e', 'E']);
    if !(names_type(schema, "number") || integer && names_type(schema, "integer")) {
        return None;
    }
    json_number(text).map(Value::Number)
}

fn json_number(text: &str) -> Option<Number> {
    if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return None;
    }
    match read_strict(text) {
        Ok(Value::Number(number)) => Some(number),
        _ => None,
    }
}

fn boolean(text: &str, schema: &Keywords) -> Option<Value> {
    let text = text.trim();
    if !names_type(schema, "boolean") {
        return None;
    }
    let word = ["false", "true"].into_iter().position(|word| text.eq_ignore_ascii_case(word))?;
    Some(Value::Bool(word == 1))
}

/// The text of a number or a boolean, if it is the only enum value that is meant.
pub(super) fn enum_text(value: &Value, schema: &Keywords) -> Option<(Value, CoerceRepair)> {
    let repair = match value {
        Value::Number(_) => CoerceRepair::TextFromNumber,
        Value::Bool(_) => CoerceRepair::TextFromBoolean,
        _ => return None,
    };
    spelling(&value.to_string(), schema).filter(|text| fits_here(text, schema)).map(|text| (text, repair))
}

fn spelling(text: &str, schema: &Keywords) -> Option<Value> {
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let wanted = folded(text);
    let mut alike =
        listed.chain(schema.get("const")).filter(|entry| entry.as_str().is_some_and(|entry| folded(entry) == wanted));
    let only = alike.next()?;
    alike.next().is_none().then(|| only.clone())
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

fn container(text: &str, schema: &Keywords) -> Option<Value> {
    let bracket = text.trim_start().chars().next()?;
    let due = bracket == '[' && names_type(schema, "array") || bracket == '{' && names_type(schema, "object");
    if due { read_strict(text).ok() } else { None }
}
