//! Schemas and arguments that would exhaust memory or time, each within the limits of bytes.

use serde_json::{Value, json};

use crate::contract::{CallRules, CheckBudget, RawCall, ResponseFormat, SchemaLimits, ToolSet, check_arguments};

fn tools(parameters: &Value) -> Value {
    json!([{"type": "function", "function": {"name": "t", "parameters": parameters}}])
}

fn with_property(schema: &Value, definitions: impl Into<Value>) -> Value {
    let definitions: Value = definitions.into();
    json!({"type": "object", "properties": {"a": schema}, "$defs": definitions})
}

fn compiled(parameters: &Value) -> Result<ToolSet, (&'static str, String)> {
    ToolSet::compile(&tools(parameters), SchemaLimits::default()).map_err(|error| (error.code, error.message))
}

fn check(parameters: &Value, arguments: &Value) -> Result<(), String> {
    let call = RawCall { name: "t".into(), arguments: arguments.to_string(), ..RawCall::default() };
    let set = compiled(parameters).map_err(|(code, message)| format!("{code}: {message}"))?;
    check_arguments(&call, &set, &CallRules::default(), &mut CheckBudget::new(1 << 20))
        .map(|_| ())
        .map_err(|violation| violation.message)
}

fn refused(parameters: &Value, limit: &str) {
    let (code, message) = compiled(parameters).unwrap_err();
    assert!(message.contains(limit), "{code}: {message}");
    let format = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": parameters}});
    let error = ResponseFormat::compile(&format, "text.format", SchemaLimits::default()).unwrap_err();
    assert!(error.message.contains(limit), "{error:?}");
}

/// `levels` definitions, each `keyword` of two references to the next one.
fn chain(keyword: &str, levels: usize) -> Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({keyword: [next, next]}));
    }
    definitions.insert(format!("d{levels}"), json!({"type": "integer"}));
    definitions.into()
}

#[test]
fn patterns_that_compile_to_megabytes_are_refused() {
    let pattern = |text: &str| with_property(&json!({"type": "string", "pattern": text}), json!({}));
    refused(&pattern(r"^x1\p{L}{120}$"), "limits.schema_pattern_bytes");
    refused(&pattern(r"(?=\p{L}{120})x"), "limits.schema_pattern_bytes");
    refused(&pattern("((a{200}){200}){200}"), "limits.schema_pattern_bytes");
    let names = json!({"patternProperties": {r"^\p{L}{120}$": {}}});
    refused(&with_property(&names, json!({})), "limits.schema_pattern_bytes");
    let many: Vec<Value> = (0..100).map(|n| json!({"pattern": format!(r"^{n}\p{{L}}$")})).collect();
    refused(&with_property(&json!({"anyOf": many}), json!({})), "limits.schema_pattern_bytes");
    let many: Vec<Value> = (0..501).map(|n| json!({"pattern": format!("^{n}$")})).collect();
    refused(&with_property(&json!({"anyOf": many}), json!({})), "limits.schema_patterns");
    assert_eq!(check(&pattern(r"^\p{L}{1,20}$"), &json!({"a": "Élise"})), Ok(()));
}

#[test]
fn patterns_of_all_tools_count_together() {
    let tool = |number: usize| {
        let pattern = json!({"type": "string", "pattern": format!(r"^{number}\p{{L}}{{20}}$")});
        json!({"type": "function", "function": {"name": format!("t{number}"),
            "parameters": {"type": "object", "properties": {"a": pattern}}}})
    };
    let set = |count: usize| ToolSet::compile(&(0..count).map(tool).collect(), SchemaLimits::default());
    assert!(set(2).is_ok());
    assert!(set(20).unwrap_err().message.contains("limits.schema_pattern_bytes"));
}

#[test]
fn schemas_of_many_values_are_refused() {
    let parts: Vec<Value> = (0..60_000).map(|_| json!({})).collect();
    refused(&with_property(&json!({"allOf": parts}), json!({})), "limits.schema_nodes");
    let values: Vec<Value> = (0..20_000).map(Value::from).collect();
    refused(&with_property(&json!({"enum": values}), json!({})), "limits.schema_enum_values");
}

#[test]
fn chained_references_do_bounded_work() {
    for keyword in ["anyOf", "allOf", "oneOf"] {
        for levels in [24, 60] {
            refused(&with_property(&json!({"$ref": "#/$defs/d0"}), chain(keyword, levels)), "limits.validation_steps");
        }
        let large = with_property(&json!({"type": "array", "items": {"$ref": "#/$defs/d0"}}), chain(keyword, 16));
        let problem = check(&large, &json!({"a": (0..100).map(|_| "x").collect::<Vec<_>>()})).unwrap_err();
        assert!(problem.contains("limits.validation_steps"), "{keyword}: {problem}");
        let small = with_property(&json!({"$ref": "#/$defs/d0"}), chain(keyword, 3));
        assert!(check(&small, &json!({"a": "x"})).unwrap_err().contains("\"x\""), "{keyword}");
    }
}

#[test]
fn unevaluated_keywords_do_bounded_work() {
    let schema = (0..25).fold(
        json!({"type": "object"}),
        |inner, _| json!({"type": "object", "allOf": [inner], "unevaluatedProperties": false}),
    );
    refused(&with_property(&schema, json!({})), "limits.validation_steps");
}

#[test]
fn recursive_unions_do_bounded_work() {
    let node = json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/node"}, "leaf": {"type": "integer"}},
        "additionalProperties": false});
    let definitions = json!({"node": {"anyOf": [node, node]}});
    let schema = with_property(&json!({"$ref": "#/$defs/node"}), definitions);
    let nested = |levels: usize| (0..levels).fold(json!({"leaf": "x"}), |inner, _| json!({"n": inner}));
    assert!(check(&schema, &json!({"a": nested(3)})).unwrap_err().contains("leaf"));
    assert!(check(&schema, &json!({"a": nested(60)})).unwrap_err().contains("limits.validation_steps"));
}

#[test]
fn recursive_filters_of_usual_depth_are_validated() {
    let filter = json!({"anyOf": [
        {"type": "object", "properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/filter"}}},
            "required": ["and"], "additionalProperties": false},
        {"type": "object", "properties": {"or": {"type": "array", "items": {"$ref": "#/$defs/filter"}}},
            "required": ["or"], "additionalProperties": false},
        {"type": "object", "properties": {"field": {"type": "string"}, "equals": {}}, "required": ["field"],
            "additionalProperties": false}]});
    let schema = with_property(&json!({"$ref": "#/$defs/filter"}), json!({"filter": filter}));
    let leaf = json!({"field": "x", "equals": 1});
    let value = (0..12).fold(leaf.clone(), |inner, level| {
        let keyword = if level % 2 == 0 { "and" } else { "or" };
        json!({keyword: [inner, leaf]})
    });
    assert_eq!(check(&schema, &json!({"a": value})), Ok(()));
}

#[test]
fn long_enums_against_many_items_do_bounded_work() {
    let objects: Vec<Value> = (0..3_000).map(|n| json!({"n": n})).collect();
    let schema = with_property(&json!({"type": "array", "items": {"enum": objects}}), json!({}));
    let items: Vec<Value> = (0..20_000).map(|n| json!({"m": n})).collect();
    assert!(check(&schema, &json!({"a": items})).unwrap_err().contains("limits.validation_steps"));
    let words: Vec<Value> = (0..9_000).map(|n| json!(format!("w{n}"))).collect();
    let schema = with_property(&json!({"type": "array", "items": {"enum": words}}), json!({}));
    let items: Vec<Value> = (0..9_000).map(|n| json!(format!("w{n}"))).collect();
    assert_eq!(check(&schema, &json!({"a": items})), Ok(()));
    let items: Vec<Value> = (0..9_000).map(|n| json!(format!("W{n} "))).collect();
    assert!(check(&schema, &json!({"a": items})).is_err());
}

#[test]
fn texts_against_large_patterns_do_bounded_work() {
    let schema = |pattern: &str| with_property(&json!({"type": "string", "pattern": pattern}), json!({}));
    let text = "é".repeat(100_000);
    let problem = check(&schema(r"(\p{L}{1,20}\d)+$"), &json!({"a": text})).unwrap_err();
    assert!(problem.contains("limits.validation_steps"), "{problem}");
    let problem = check(&schema(r"^(?=(a+)+$)\1b"), &json!({"a": "a".repeat(200_000)})).unwrap_err();
    assert!(problem.contains("limits.validation_steps"), "{problem}");
    assert_eq!(check(&schema("^[a-z]+$"), &json!({"a": "a".repeat(200_000)})), Ok(()));
}

#[test]
fn deep_chains_of_references_are_refused() {
    let chain = |length: usize| -> Value {
        let next = |level: usize| json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let mut definitions: serde_json::Map<String, Value> =
            (0..length).map(|level| (format!("d{level}"), next(level))).collect();
        definitions.insert(format!("d{length}"), json!({"type": "integer"}));
        with_property(&json!({"$ref": "#/$defs/d0"}), definitions)
    };
    assert_eq!(check(&chain(100), &json!({"a": 1})), Ok(()));
    assert_eq!(compiled(&chain(10_000)).unwrap_err().0, "schema_too_deep");
}

#[test]
fn the_deepest_recursion_that_is_accepted_fits_the_stack_of_a_thread() {
    let nest = |schema: Value, levels: usize| (0..levels).fold(schema, |inner, _| json!({"allOf": [inner]}));
    for levels in [1, 2, 5, 10, 25] {
        let object = json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/node"}}});
        let schema = with_property(&json!({"$ref": "#/$defs/node"}), json!({"node": nest(object, levels)}));
        let value = (0..60).fold(json!({}), |inner, _| json!({"n": inner}));
        let checked =
            std::thread::Builder::new().stack_size(2 << 20).spawn(move || check(&schema, &json!({"a": value})));
        let _: Result<(), String> = checked.unwrap().join().unwrap();
    }
}

#[test]
fn all_calls_of_a_turn_share_the_steps() {
    let schema = with_property(
        &json!({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}),
        json!({}),
    );
    let set = compiled(&schema).unwrap();
    let items: Vec<u64> = (0..40_000).collect();
    let call = RawCall { name: "t".into(), arguments: json!({"a": items}).to_string(), ..RawCall::default() };
    let mut budget = CheckBudget::new(1 << 20);
    let accepted =
        (0..100).take_while(|_| check_arguments(&call, &set, &CallRules::default(), &mut budget).is_ok()).count();
    assert!((1..50).contains(&accepted), "{accepted} calls");
}

#[test]
fn references_that_a_validator_would_follow_another_way_are_refused() {
    let decoys: Vec<Value> = (0..26).map(|level| json!({"$anchor": format!("d{level}")})).collect();
    let anchored: serde_json::Map<String, Value> = (0..26)
        .map(|level| {
            let next = json!({"$ref": format!("#d{}", level + 1)});
            (format!("d{level}"), json!({"$anchor": format!("d{level}"), "anyOf": [next, next]}))
        })
        .chain([("d26".to_owned(), json!({"$anchor": "d26", "type": "integer"}))])
        .collect();
    let decoyed = json!({"type": "object", "default": decoys, "properties": {"a": {"$ref": "#d0"}}, "$defs": anchored});
    let harmless: serde_json::Map<String, Value> = (0..27).map(|level| (format!("d{level}"), json!({}))).collect();
    let mut old = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "definitions": harmless,
        "properties": {"a": {"id": "http://x/y", "allOf": [{"$ref": "#/definitions/d0"}]}}});
    old["properties"]["a"]["definitions"] = chain("anyOf", 26);
    for schema in [decoyed, old] {
        assert_eq!(compiled(&schema).unwrap_err().0, "invalid_tool_schema", "{schema}");
    }
}

#[test]
fn schemas_that_refer_to_themselves_in_place_are_refused() {
    let all: Vec<Value> = (0..10).map(|number| json!({"$ref": format!("#/$defs/d{number}")})).collect();
    let definitions: serde_json::Map<String, Value> =
        (0..10).map(|number| (format!("d{number}"), json!({"allOf": all}))).collect();
    let schema = with_property(&json!({"$ref": "#/$defs/d0"}), definitions);
    assert!(compiled(&schema).unwrap_err().1.contains("refers to itself"));
    let recursive = json!({"type": "object", "properties": {"n": {"$ref": "#"}}, "allOf": [{"$ref": "#/$defs/x"}],
        "$defs": {"x": {"properties": {"n": {"$ref": "#"}}}}});
    assert_eq!(check(&recursive, &json!({"n": {"n": {}}})), Ok(()));
}

#[test]
fn counting_the_steps_is_bounded_too() {
    let names = json!({"propertyNames": {"allOf": (0..15_000).map(|_| json!({})).collect::<Vec<_>>()}});
    let prefix = json!({"prefixItems": (0..20_000).map(|_| json!({})).collect::<Vec<_>>()});
    let unique = json!({"allOf": (0..16_000).map(|_| json!({"uniqueItems": true})).collect::<Vec<_>>()});
    for (items, item) in [(names.clone(), json!({})), (names, json!({"": 0})), (prefix, json!(1)), (unique, json!([1]))]
    {
        let schema = with_property(&json!({"type": "array", "items": items}), json!({}));
        let list: Vec<Value> = (0..40_000).map(|_| item.clone()).collect();
        let problem = check(&schema, &json!({"a": list}));
        assert!(problem.as_ref().is_ok_and(|()| item == json!({})) || problem.is_err(), "{problem:?}");
    }
    let unique = json!({"allOf": (0..16_000).map(|_| json!({"uniqueItems": true})).collect::<Vec<_>>()});
    let list: Vec<Value> = (0..28_000).map(|number| json!([number])).collect();
    let problem = check(&with_property(&unique, json!({})), &json!({"a": list})).unwrap_err();
    assert!(problem.contains("limits.validation_steps"), "{problem}");
}
