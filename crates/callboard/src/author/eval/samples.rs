//! Arguments for a call of which only some are fixed: the others need only be valid.

use callboard_python::ToolManifest;
use serde_json::{Map, Value, json};

use super::values::sole;

/// The arguments that are fixed, and for required ones that are not, the first that will do.
pub(super) fn whole(tool: &ToolManifest, fixed: &Map<String, Value>, names: Option<&Value>) -> Map<String, Value> {
    let mut arguments: Map<String, Value> = fixed.iter().map(|(name, value)| (name.clone(), said(value))).collect();
    let required = tool.parameters.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if arguments.contains_key(name) {
            continue;
        }
        let property = tool.parameters.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
        let value = sample(property, &arguments, names);
        arguments.insert(name.to_owned(), value);
    }
    arguments
}

/// A value that meets what a case wants.
fn said(wanted: &Value) -> Value {
    if let Some(first) = sole(wanted, "any_of").and_then(|options| options.get(0)) {
        return first.clone();
    }
    match wanted {
        Value::Array(list) => list.iter().map(said).collect(),
        _ => sole(wanted, "contains").unwrap_or(wanted).clone(),
    }
}

fn sample(property: &Value, given: &Map<String, Value>, names: Option<&Value>) -> Value {
    let of_choice = property.get("enum").and_then(|values| values.get(0));
    if let Some(value) = property.get("default").or(of_choice) {
        return value.clone();
    }
    if let Some(name) = names.and_then(|names| first_name(property, given, names)) {
        return name;
    }
    match property.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => property.get("minimum").cloned().unwrap_or_else(|| json!(0)),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("as said"),
    }
}

/// The first of the names that a parameter takes its value from.
fn first_name(property: &Value, given: &Map<String, Value>, names: &Value) -> Option<Value> {
    let key = property.get("x-names")?.as_str()?.to_owned();
    let key = given.iter().fold(key, |key, (name, value)| match value {
        Value::String(value) => key.replace(&format!("{{{name}}}"), value),
        _ => key,
    });
    let first = names.get(&key)?.get(0)?;
    Some(first.get("name").unwrap_or(first).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool() -> ToolManifest {
        let parameters = json!({
            "type": "object",
            "properties": {
                "unit": {"type": "string", "x-names": "units/{side}"},
                "side": {"type": "string", "enum": ["player", "opponent"]},
                "cost": {"type": "integer", "minimum": -3, "default": 1},
                "change": {"type": "integer", "minimum": -20},
                "reason": {"type": "string"},
                "note": {"type": "string"},
            },
            "required": ["side", "unit", "cost", "change", "reason"],
        });
        let manifest = json!({"name": "act", "description": "", "parameters": parameters, "timeout_ms": 100.0});
        serde_json::from_value(manifest).unwrap()
    }

    #[test]
    fn what_is_not_fixed_is_filled_in() {
        let names = json!({"units/opponent": [{"name": "Carnifex", "aliases": []}], "units/player": ["Squad"]});
        let fixed = json!({"side": {"any_of": ["opponent", "player"]}, "reason": {"contains": "primary"}});
        let arguments = whole(&tool(), fixed.as_object().unwrap(), Some(&names));
        let expected = json!({"side": "opponent", "reason": "primary", "unit": "Carnifex", "cost": 1, "change": -20});
        assert_eq!(Value::Object(arguments), expected);
        let arguments = whole(&tool(), &Map::new(), None);
        assert_eq!((&arguments["side"], &arguments["unit"]), (&json!("player"), &json!("as said")));
    }
}
