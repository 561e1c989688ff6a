//! BFCL's functions as tools: its names and types follow Python, those of tools follow JSON Schema.

use serde_json::{Map, Value, json};

/// The tool for a function of the file.
pub(super) fn tool(function: &Value) -> Value {
    let name = tool_name(function.get("name").and_then(Value::as_str).unwrap_or_default());
    let description = function.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut parameters = function.get("parameters").map(schema).unwrap_or_default();
    parameters.insert("type".to_owned(), json!("object"));
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

/// Names with dots are valid in Python, but not as tool names.
pub(super) fn tool_name(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    name.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect()
}

fn schema(parameters: &Value) -> Map<String, Value> {
    let Value::Object(given) = parameters else { return Map::new() };
    let mut schema = Map::new();
    for (key, value) in given {
        let value = match (key.as_str(), value) {
            ("type", Value::String(kind)) => match json_type(kind) {
                Some(kind) => json!(kind),
                None => continue,
            },
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, value)| (name.clone(), Value::Object(self::schema(value)))).collect()
            }
            ("items" | "additionalProperties", Value::Object(_)) => Value::Object(self::schema(value)),
            ("required", Value::Array(_)) | ("enum", Value::Array(_)) => value.clone(),
            ("description" | "default" | "minimum" | "maximum" | "format" | "pattern", _) => value.clone(),
            _ => continue,
        };
        schema.insert(key.clone(), value);
    }
    schema
}

/// None for what may be anything.
fn json_type(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "dict" | "object" => "object",
        "float" | "number" => "number",
        "int" | "integer" => "integer",
        "bool" | "boolean" => "boolean",
        "tuple" | "list" | "array" => "array",
        "str" | "string" => "string",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_names_become_those_of_tools() {
        let function = json!({"name": "geo.distance", "description": "How far.", "parameters": {"type": "dict",
            "properties": {
                "type": {"type": "string", "description": "A property of this name."},
                "from": {"type": "tuple", "items": {"type": "float"}},
                "via": {"type": "array", "items": {"type": "dict", "properties": {"x": {"type": "integer"}}}},
                "extra": {"type": "any", "optional": true},
            },
            "required": ["from"]}});
        let expected = json!({"type": "function", "function": {"name": "geo_distance", "description": "How far.",
            "parameters": {"type": "object",
                "properties": {
                    "type": {"type": "string", "description": "A property of this name."},
                    "from": {"type": "array", "items": {"type": "number"}},
                    "via": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}},
                    "extra": {},
                },
                "required": ["from"]}}});
        assert_eq!(tool(&function), expected);
    }
}
