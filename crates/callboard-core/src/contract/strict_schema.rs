//! The rules a schema must keep for `strict: true`: every property required, no additional ones at any level, at most
//! 100 properties and 5 levels of nesting.

use serde_json::{Map, Value};

use super::coerce::names_type;

const MOST_PROPERTIES: usize = 100;
const MOST_LEVELS: usize = 5;

/// A broken strict rule: where in the schema, and what to change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StrictViolation {
    pub(super) place: String,
    pub(super) message: String,
}

/// Checks a whole schema.
pub(super) fn check(schema: &Value) -> Result<(), StrictViolation> {
    StrictCheck { properties: 0 }.node(schema, "", 0)
}

struct StrictCheck {
    properties: usize,
}

impl StrictCheck {
    fn node(&mut self, schema: &Value, place: &str, level: usize) -> Result<(), StrictViolation> {
        let Value::Object(schema) = schema else { return Ok(()) };
        let is_object = schema.contains_key("properties") || names_type(schema, "object");
        let level = level + usize::from(is_object || names_type(schema, "array"));
        if level > MOST_LEVELS {
            return Err(violation(place, format!("strict schemas may nest at most {MOST_LEVELS} levels")));
        }
        if is_object {
            self.object(schema, place)?;
        }
        self.children(schema, place, level)
    }

    fn object(&mut self, schema: &Map<String, Value>, place: &str) -> Result<(), StrictViolation> {
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Err(violation(place, "strict needs \"additionalProperties\": false on every object".into()));
        }
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|list| list.iter().any(|v| v.as_str() == Some(name)));
        for name in properties(schema) {
            if !is_required(name) {
                return Err(violation(
                    place,
                    format!("strict needs every property in \"required\"; {name:?} is missing there"),
                ));
            }
        }
        self.properties += properties(schema).count();
        if self.properties > MOST_PROPERTIES {
            return Err(violation(
                place,
                format!("strict schemas may have at most {MOST_PROPERTIES} properties in all"),
            ));
        }
        Ok(())
    }

    fn children(&mut self, schema: &Map<String, Value>, place: &str, level: usize) -> Result<(), StrictViolation> {
        for key in ["properties", "$defs", "definitions"] {
            let Some(Value::Object(named)) = schema.get(key) else { continue };
            let base = if key == "properties" { level } else { 0 };
            for (name, child) in named {
                self.node(child, &format!("{place}.{key}.{name}"), base)?;
            }
        }
        for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            let Some(Value::Array(list)) = schema.get(key) else { continue };
            for (number, child) in list.iter().enumerate() {
                self.node(child, &format!("{place}.{key}[{number}]"), level)?;
            }
        }
        schema.get("items").map_or(Ok(()), |child| self.node(child, &format!("{place}.items"), level))
    }
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = &String> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys)
}

fn violation(place: &str, message: String) -> StrictViolation {
    StrictViolation { place: place.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn place_of(schema: &Value) -> Option<String> {
        check(schema).err().map(|fault| fault.place)
    }

    fn nested(levels: usize) -> Value {
        let leaf = json!({"type": "string"});
        (1..=levels).fold(leaf, |inner, _| {
            json!({"type": "object", "properties": {"a": inner}, "required": ["a"], "additionalProperties": false})
        })
    }

    #[test]
    fn every_rule_names_its_place() {
        let open = json!({"type": "object", "properties": {}});
        let optional =
            json!({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": false});
        let inside = json!({"type": "object", "properties": {"a": {"type": "array", "items": open}}, "required": ["a"],
            "additionalProperties": false});
        let union = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, optional]}}, "required": ["a"],
            "additionalProperties": false});
        assert_eq!(place_of(&open).as_deref(), Some(""));
        assert_eq!(place_of(&optional).as_deref(), Some(""));
        assert_eq!(place_of(&inside).as_deref(), Some(".properties.a.items"));
        assert_eq!(place_of(&union).as_deref(), Some(".properties.a.anyOf[1]"));
        assert_eq!(place_of(&nested(5)), None);
        assert_eq!(
            place_of(&nested(6)).as_deref(),
            Some(".properties.a.properties.a.properties.a.properties.a.properties.a")
        );
    }

    #[test]
    fn a_hundred_properties_are_allowed_and_one_more_is_not() {
        let wide = |count: usize| {
            let names: Vec<String> = (0..count).map(|n| format!("p{n}")).collect();
            let properties: Map<String, Value> = names.iter().map(|n| (n.clone(), json!({"type": "string"}))).collect();
            json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
        };
        assert_eq!(place_of(&wide(100)), None);
        assert_eq!(place_of(&wide(101)).as_deref(), Some(""));
    }
}
