//! A schema as far as servers turn it into a grammar.
//!
//! Keywords that restrict values without giving them a form are left out: servers refuse them, ignore them, or take minutes over
//! them. What comes back is checked against the whole schema.

use serde_json::{Map, Value};

/// More items than these make a grammar of that many rules.
const MAX_COUNTED_ITEMS: u64 = 64;

/// The schema with what a grammar can hold.
pub(super) fn reduced(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => Value::Object(keywords.iter().filter_map(keyword).collect()),
        Value::Array(schemas) => schemas.iter().map(reduced).collect(),
        other => other.clone(),
    }
}

fn keyword((key, value): (&String, &Value)) -> Option<(String, Value)> {
    let value = match key.as_str() {
        "enum" | "const" | "required" | "type" | "$ref" | "description" | "title" => value.clone(),
        "minItems" | "maxItems" if value.as_u64().is_none_or(|count| count > MAX_COUNTED_ITEMS) => return None,
        "properties" | "$defs" | "definitions" => by_name(value.as_object()?),
        "additionalProperties" | "items" | "prefixItems" | "minItems" | "maxItems" | "anyOf" | "oneOf" | "allOf" => {
            reduced(value)
        }
        _ => return None,
    };
    Some((key.clone(), value))
}

fn by_name(schemas: &Map<String, Value>) -> Value {
    Value::Object(schemas.iter().map(|(name, schema)| (name.clone(), reduced(schema))).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_gives_a_value_its_form_is_kept() {
        let schema = json!({
            "type": "object",
            "properties": {
                "format": {"type": "string", "format": "date", "pattern": "^x", "minLength": 3},
                "list": {"type": "array", "items": {"$ref": "#/$defs/pattern"}, "minItems": 1, "maxItems": 1000, "uniqueItems": true},
                "either": {"anyOf": [{"const": {"pattern": 1}}, {"type": "integer", "minimum": 1}]}
            },
            "patternProperties": {"^x-": {}},
            "if": {}, "then": {},
            "required": ["format"],
            "additionalProperties": false,
            "$defs": {"pattern": {"type": ["string", "null"], "not": {}}}
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "format": {"type": "string"},
                "list": {"type": "array", "items": {"$ref": "#/$defs/pattern"}, "minItems": 1},
                "either": {"anyOf": [{"const": {"pattern": 1}}, {"type": "integer"}]}
            },
            "required": ["format"],
            "additionalProperties": false,
            "$defs": {"pattern": {"type": ["string", "null"]}}
        });
        assert_eq!(reduced(&schema), expected);
    }
}
