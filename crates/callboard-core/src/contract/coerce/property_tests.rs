//! Property tests: invariants for every schema and value, with the validator as oracle.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::integer_from_float::plain_integer;
use super::{CoerceRepair, coerce};

fn leaf_schema() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({}),
        json!({"type": "string"}),
        json!({"type": "integer"}),
        json!({"type": "number"}),
        json!({"type": "boolean"}),
        json!({"type": "null"}),
        json!({"type": ["integer", "null"]}),
        json!({"type": ["boolean", "string"]}),
        json!({"type": ["array", "integer"], "items": {"type": "integer"}}),
        json!({"type": "object"}),
        json!({"type": "integer", "minimum": 3}),
        json!({"type": "integer", "nullable": true}),
        json!({"type": "string", "enum": ["a", "B"]}),
        json!({"enum": ["5", "true"]}),
        json!({"type": "array", "items": {"type": "object"}}),
        json!({"enum": ["a", 5, null]}),
        json!({"const": "a"}),
        json!({"const": 5}),
        json!({"$ref": "#/$defs/node"}),
    ])
}

fn schema() -> impl Strategy<Value = Value> {
    leaf_schema().prop_recursive(3, 16, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            (inner.clone(), inner.clone(), prop::sample::subsequence(vec!["a", "b"], 0..=2)).prop_map(
                |(a, b, required)| json!({"type": "object", "properties": {"a": a, "b": b}, "required": required})
            ),
            (inner.clone(), inner.clone())
                .prop_map(|(a, rest)| json!({"properties": {"a": a}, "additionalProperties": rest})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (inner.clone(), inner).prop_map(|(first, rest)| json!({"prefixItems": [first], "items": rest})),
            some.clone().prop_map(|branches| json!({"anyOf": branches})),
            some.clone().prop_map(|branches| json!({"oneOf": branches})),
            some.prop_map(|branches| json!({"allOf": branches})),
        ]
    })
}

fn value() -> impl Strategy<Value = Value> {
    let written = vec![
        "null",
        "true",
        "5",
        "5.0",
        "5e+0",
        "2.5",
        "-0",
        r#""5""#,
        r#"" 5""#,
        r#""5.0""#,
        r#""02134""#,
        r#""true""#,
        r#""a""#,
        r#""A ""#,
        r#""[\"5\"]""#,
        r#""{\"a\":\"5\"}""#,
        r#""""#,
    ];
    let leaf = prop::sample::select(written).prop_map(|text| serde_json::from_str(text).unwrap());
    leaf.prop_recursive(3, 12, 3, |inner: BoxedStrategy<Value>| {
        let entries = prop::collection::vec((prop::sample::select(vec!["a", "b", "c"]), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Value::Array),
            entries.prop_map(|entries| {
                Value::Object(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

fn root() -> impl Strategy<Value = Value> {
    schema().prop_map(|mut schema| {
        schema["$defs"] = json!({"node": {"type": "object", "properties": {
            "a": {"$ref": "#/$defs/node"}, "b": {"type": "integer"}}}});
        schema
    })
}

/// The value with every integer in its plain spelling.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => match plain_integer(number.as_str()) {
            Some(integer) => Value::Number(integer.parse().unwrap()),
            None => value.clone(),
        },
        Value::Array(array) => array.iter().map(plain).collect(),
        Value::Object(object) => object.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
        _ => value.clone(),
    }
}

fn kept(before: &Map<String, Value>, after: &Map<String, Value>) -> bool {
    let given = before.iter().filter(|(_, value)| !value.is_null());
    given.into_iter().all(|(name, _)| after.contains_key(name)) && after.keys().all(|name| before.contains_key(name))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_valid_stays_as_it_is(schema in root(), value in value()) {
        if jsonschema::validator_for(&schema).unwrap().is_valid(&value) {
            let mut after = value.clone();
            coerce(&mut after, &schema);
            prop_assert_eq!(plain(&after), plain(&value));
        }
    }

    #[test]
    fn what_was_repaired_needs_no_more_repair(schema in root(), value in value()) {
        let mut once = value;
        coerce(&mut once, &schema);
        let mut twice = once.clone();
        coerce(&mut twice, &schema);
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn properties_are_neither_dropped_nor_invented(schema in root(), value in value()) {
        let mut after = value.clone();
        let (repairs, _) = coerce(&mut after, &schema);
        if let (Value::Object(before), Value::Object(after)) = (&value, &after) {
            prop_assert!(kept(before, after));
        }
        // Under a schema that contradicts itself, a value may become a text and a number again.
        let back = repairs.contains(&CoerceRepair::TextFromNumber) || repairs.contains(&CoerceRepair::TextFromBoolean);
        prop_assert!((after == value) == repairs.is_empty() || back);
        prop_assert!(!(value.is_number() && after.is_string()) || repairs.contains(&CoerceRepair::TextFromNumber));
    }
}
