//! A character's tools in the form that models get them: without Callboard's own keys, and closed.
//!
//! Where its author does not say otherwise, an object takes only the arguments that its schema names: what is not in the schema
//! never reaches the code.

use std::collections::BTreeSet;
use std::sync::Arc;

use callboard_core::contract::{ToolCache, ToolPlace, ToolSet};
use callboard_core::model::BadRequest;
use callboard_python::ToolManifest;
use serde_json::{Map, Value, json};

use super::undo_tool_definition::undo_offer;

/// With one of these keys the author has decided about further properties.
const DECIDED: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];
/// With one of these keys, a part of a schema may allow properties that it does not name.
const UNNAMED: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "patternProperties"];
/// Keys of a schema under which parts of it are named by the author.
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keys whose values are not schemas.
const VALUES: [&str; 4] = ["enum", "const", "default", "examples"];
const ALTERNATIVES: [&str; 2] = ["anyOf", "oneOf"];

/// Tools as models get them, with `undo` last where the character offers it.
pub fn offered(tools: &[ToolManifest], undo: bool) -> Vec<Value> {
    let mut list: Vec<Value> = tools.iter().map(offer).collect();
    if undo && !list.is_empty() {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        list.push(undo_offer(&names));
    }
    list
}

/// One tool as models get it.
pub(super) fn offer(tool: &ToolManifest) -> Value {
    let mut parameters = tool.parameters.clone();
    if !parameters.is_object() {
        parameters = json!({"type": "object", "properties": {}});
    }
    drop_own_keys(&mut parameters);
    if let Value::Object(schema) = &mut parameters {
        close_object(schema);
        close_inside(schema);
    }
    json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": parameters}})
}

/// Compiles tools as models get them; errors name them as their author knows them.
pub fn compile_tools(tools: &[Value], cache: &ToolCache) -> Result<Arc<ToolSet>, BadRequest> {
    let name =
        |number: usize| tools.get(number).and_then(|tool| tool.pointer("/function/name")).and_then(Value::as_str);
    let place = |number: usize| ToolPlace::of_character(name(number).unwrap_or_default());
    cache.compiled_at(&Value::from(tools).to_string(), place)
}

/// Keys that begin with `x-` are Callboard's own and are not sent to models. Properties may have any name.
fn drop_own_keys(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.retain(|key, _| !key.starts_with("x-"));
            for (key, part) in map.iter_mut().filter(|(key, _)| !VALUES.contains(&key.as_str())) {
                match part {
                    Value::Object(named) if NAMED.contains(&key.as_str()) => named.values_mut().for_each(drop_own_keys),
                    part => drop_own_keys(part),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(drop_own_keys),
        _ => {}
    }
}

/// Closes a schema of an object, and keeps open what its combined parts name.
fn close_object(schema: &mut Map<String, Value>) {
    let mut named = BTreeSet::new();
    let is_decided = DECIDED.iter().any(|key| schema.contains_key(*key)) || !collect_names(schema, &mut named);
    if is_decided {
        return;
    }
    if let Value::Object(properties) = schema.entry("properties").or_insert_with(|| json!({})) {
        for name in named {
            properties.entry(name).or_insert_with(|| json!({}));
        }
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
}

/// The properties that the parts of a schema name which apply to the same object. False if one of them allows any.
fn collect_names(schema: &Map<String, Value>, named: &mut BTreeSet<String>) -> bool {
    parts_in_place(schema).into_iter().all(|part| {
        named.extend(
            part.get("properties").and_then(Value::as_object).into_iter().flat_map(|names| names.keys().cloned()),
        );
        let allows_any = UNNAMED.iter().any(|key| part.get(*key).is_some_and(|value| *value != Value::Bool(false)));
        !allows_any && collect_names(part, named)
    })
}

fn parts_in_place(schema: &Map<String, Value>) -> Vec<&Map<String, Value>> {
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let single = ["if", "then", "else"].into_iter().filter_map(|key| schema.get(key));
    let named = ["dependentSchemas", "dependencies"].into_iter().filter_map(|key| schema.get(key)?.as_object());
    lists.chain(single).chain(named.flat_map(Map::values)).filter_map(Value::as_object).collect()
}

/// Closes the objects inside a schema that list their properties; one without a list, such as a `dict`, stays open.
fn close_inside(schema: &mut Map<String, Value>) {
    let children = schema.get_mut("properties").and_then(Value::as_object_mut);
    children.into_iter().flat_map(Map::values_mut).for_each(close_part);
    match schema.get_mut("items") {
        Some(Value::Array(list)) => list.iter_mut().for_each(close_part),
        Some(items) => close_part(items),
        None => {}
    }
    schema.get_mut("prefixItems").and_then(Value::as_array_mut).into_iter().flatten().for_each(close_part);
}

fn close_part(part: &mut Value) {
    let Value::Object(schema) = part else { return };
    if schema.get("properties").is_some_and(Value::is_object) {
        close_object(schema);
    } else if !schema.contains_key("allOf") {
        let alternatives = ALTERNATIVES.into_iter().filter_map(|key| schema.get(key)?.as_array().map(|_| key));
        for key in alternatives.collect::<Vec<_>>() {
            schema.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().for_each(close_part);
        }
    }
    close_inside(schema);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(mut parameters: Value) -> Value {
        drop_own_keys(&mut parameters);
        if let Value::Object(schema) = &mut parameters {
            close_object(schema);
            close_inside(schema);
        }
        parameters
    }

    #[test]
    fn own_keys_are_dropped_and_properties_keep_their_names() {
        let unit = json!({"type": "string", "x-names": "units", "enum": ["x-ray"], "default": {"x-a": 1}});
        let parameters = json!({"type": "object", "properties": {"x-ray": unit}, "additionalProperties": true});
        let expected = json!({"type": "object", "additionalProperties": true,
            "properties": {"x-ray": {"type": "string", "enum": ["x-ray"], "default": {"x-a": 1}}}});
        assert_eq!(closed(parameters), expected);
    }

    #[test]
    fn an_object_is_closed_unless_its_author_has_decided() {
        let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let with = |key: &str, value: Value| {
            let mut schema = open.clone();
            schema[key] = value;
            schema
        };
        let shut = with("additionalProperties", json!(false));
        let inside = |part: &Value| json!({"type": "object", "properties": {"p": part}, "additionalProperties": false});
        let list = |part: &Value| json!({"type": "array", "items": part});
        let either = |part: &Value| json!({"anyOf": [part, {"type": "null"}]});
        let free = json!({"type": "object"});
        let table = [
            (open.clone(), shut.clone()),
            (shut.clone(), shut.clone()),
            (
                with("additionalProperties", json!({"type": "null"})),
                with("additionalProperties", json!({"type": "null"})),
            ),
            (with("unevaluatedProperties", json!(true)), with("unevaluatedProperties", json!(true))),
            (json!({"type": "object"}), json!({"type": "object", "properties": {}, "additionalProperties": false})),
            (inside(&open), inside(&shut)),
            (inside(&list(&open)), inside(&list(&shut))),
            (inside(&either(&open)), inside(&either(&shut))),
            (inside(&free), inside(&free)),
        ];
        for (parameters, expected) in table {
            assert_eq!(closed(parameters.clone()), expected, "{parameters}");
        }
    }

    #[test]
    fn what_combined_parts_name_stays_allowed() {
        let part = json!({"properties": {"b": {"type": "string"}}, "required": ["b"]});
        let parameters =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [part, {"required": ["a"]}]});
        let closed_schema = closed(parameters);
        assert_eq!(closed_schema["additionalProperties"], false);
        assert_eq!(closed_schema["properties"]["b"], json!({}));
        let open =
            json!({"type": "object", "allOf": [{"properties": {"b": {}}, "additionalProperties": {"type": "string"}}]});
        assert_eq!(closed(open.clone()), open);
        let open = json!({"type": "object", "allOf": [{"patternProperties": {"^side_": {"type": "string"}}}]});
        assert_eq!(closed(open.clone()), open);
    }
}
