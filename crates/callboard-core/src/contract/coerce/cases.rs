//! Values written by models, their schemas, and the repaired values.

use serde_json::Value;

use super::{CoerceRepair, coerce};

/// The schema of an optional property, its value, the result (`-`: unchanged), the repairs (`-`: none).
const TABLE: &str = r##"
{"type":"integer"} | "3" | 3 | number_from_text
{"type":"integer"} | " -3 " | -3 | number_from_text
{"type":"integer"} | "123456789012345678901" | 123456789012345678901 | number_from_text
{"type":"integer"} | "02134" | - | -
{"type":"integer"} | "3.0" | - | -
{"type":"integer"} | "six" | - | -
{"type":"integer"} | "" | - | -
{"type":"integer"} | true | - | -
{"type":"integer"} | 5.0 | 5 | integer_from_float
{"type":"integer"} | 12345678901234567890.0 | 12345678901234567890 | integer_from_float
{"type":"integer"} | 5.5 | - | -
{"type":"integer","enum":[1,2]} | "2" | 2 | number_from_text
{"type":"integer","enum":[1,2]} | "3" | - | -
{"type":["integer","null"]} | "3" | 3 | number_from_text
{"type":["integer","string"]} | "3" | - | -
{"type":["integer","number"]} | 5.0 | - | -
{"type":"number"} | "2.50" | 2.50 | number_from_text
{"type":"number"} | "NaN" | - | -
{"type":"number"} | "1,5" | - | -
{"type":"number"} | 5.0 | - | -
{"type":"boolean"} | "TRUE" | true | boolean_from_text
{"type":"boolean"} | "yes" | - | -
{"type":"boolean"} | 1 | - | -
{"type":"string"} | 5 | - | -
{"type":"string"} | "null" | - | -
{"enum":["kitchen","hall"]} | " Kitchen" | "kitchen" | enum_spelling
{"enum":["a","A"]} | "a " | - | -
{"enum":["kitchen","hall"]} | "kitchenn" | - | -
{"const":"On"} | "on" | "On" | enum_spelling
{"type":"array","items":{"type":"string"}} | "x" | ["x"] | array_around_scalar
{"type":"array","items":{"type":"string"}} | "[\"x\"]" | ["x"] | json_in_text
{"type":"array","items":{"type":"string"}} | "['x']" | - | -
{"type":"array","items":{"type":"string"}} | 5 | - | -
{"type":"array","items":{"type":"string"}} | ["1","null"] | - | -
{"type":"array","items":{"type":"integer"}} | "5" | [5] | number_from_text array_around_scalar
{"type":"array","items":{"type":"integer"}} | ["1",2.0] | [1,2] | number_from_text integer_from_float
{"type":"array"} | "x" | - | -
{"type":"array"} | {"n":1} | - | -
{"type":"array","items":{"type":"object"}} | {"n":1} | [{"n":1}] | array_around_object
{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}} | {"n":"1"} | [{"n":1}] | number_from_text array_around_object
{"type":"array","items":{"type":"object"}} | "{\"n\":1}" | [{"n":1}] | json_in_text array_around_object
{"type":"array","items":{"$ref":"#/$defs/tree"}} | {"left":{}} | [{"left":{}}] | array_around_object
{"type":["array","null"],"items":{"type":"object"}} | {} | [{}] | array_around_object
{"type":["array","object"],"items":{"type":"object"}} | {} | - | -
{"type":"array","items":{"type":"string"}} | {"n":1} | - | -
{"type":"array","items":{"type":"array","items":{"type":"object"}}} | {"n":1} | - | -
{"anyOf":[{"type":"array","items":{"type":"object"}},{"type":"null"}]} | {"n":1} | [{"n":1}] | array_around_object
{"anyOf":[{"type":"array","items":{"type":"object"}},{"type":"object"}]} | {"n":1} | - | -
{"enum":["1","2"]} | 2 | "2" | text_from_number
{"type":"string","enum":["1","2"]} | 2.0 | - | -
{"type":"string","enum":["1","2"]} | 3 | - | -
{"enum":["2",2]} | 2 | - | -
{"enum":["true","false","auto"]} | true | "true" | text_from_boolean
{"enum":["True","true"]} | true | - | -
{"const":"3"} | 3 | "3" | text_from_number
{"type":"array","items":{"enum":["1","2"]}} | 2 | ["2"] | text_from_number array_around_scalar
{"type":"array","prefixItems":[{"type":"integer"}],"items":{"type":"boolean"}} | ["1","true"] | [1,true] | number_from_text boolean_from_text
{"type":"array","items":[{"type":"integer"}]} | ["1","2"] | [1,"2"] | number_from_text
{"type":"object","properties":{"n":{"type":"integer"}}} | "{\"n\":\"1\"}" | {"n":1} | json_in_text number_from_text
{"type":"object"} | "{'n':1}" | - | -
{"type":"object"} | "[1]" | - | -
{"type":"object","additionalProperties":{"type":"integer"}} | {"x":"1","y":null} | {"x":1,"y":null} | number_from_text
{"type":"object","patternProperties":{"^s":{}},"additionalProperties":{"type":"integer"}} | {"s":"1"} | - | -
{"$ref":"#/$defs/days"} | "3" | 3 | number_from_text
{"$ref":"#/$defs/tree"} | {"left":{"left":{"n":"1"}}} | {"left":{"left":{"n":1}}} | number_from_text
{"$ref":"#/$defs/loop"} | "3" | - | -
{"$ref":"#/$defs/storm"} | "3" | - | -
{"$ref":"https://example.com/x"} | "3" | - | -
{"allOf":[{"description":"days"},{"type":"integer"}]} | "3" | 3 | number_from_text
{"anyOf":[{"type":"integer"},{"type":"null"}]} | "3" | 3 | number_from_text
{"anyOf":[{"type":"integer"},{"type":"null"}]} | null | - | -
{"anyOf":[{"type":"integer"},{"type":"null"}]} | 5.0 | 5 | integer_from_float
{"anyOf":[{"type":"integer"},{"type":"string"}]} | "3" | - | -
{"anyOf":[{"type":"integer"},{"type":"number"}]} | "3" | 3 | number_from_text
{"oneOf":[{"type":"boolean"},{"type":"array","items":{"type":"string"}}]} | "true" | - | -
{"oneOf":[{"$ref":"#/$defs/tree"},{"type":"null"}]} | {"n":"1"} | {"n":1} | number_from_text
{"oneOf":[{"type":"object","properties":{"a":{"type":"integer"}}},{"type":"object"}]} | {"a":"1"} | - | -
{"type":"integer","nullable":true} | null | - | -
{"enum":["a",null]} | null | - | -
{} | null | - | -
false | null | - | -
"##;

const DEFINITIONS: &str = r##"{
    "days": {"type": "integer"},
    "tree": {"type": "object", "properties": {"n": {"type": "integer"}, "left": {"$ref": "#/$defs/tree"}}},
    "loop": {"$ref": "#/$defs/loop"},
    "storm": {"allOf": [{"$ref": "#/$defs/storm"}, {"$ref": "#/$defs/storm"}]}
}"##;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn names(repairs: &[CoerceRepair]) -> String {
    repairs.iter().map(|repair| repair.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_place_is_repaired_as_its_schema_says() {
    for row in TABLE.trim().lines() {
        let cells: Vec<_> = row.split(" | ").collect();
        let [schema, given, wanted, repairs] = cells[..] else { panic!("four cells: {row}") };
        let root = format!(r#"{{"type":"object","properties":{{"v":{schema}}},"$defs":{DEFINITIONS}}}"#);
        let mut value = parsed(&format!(r#"{{"v":{given}}}"#));
        let done = coerce(&mut value, &parsed(&root)).0;
        let wanted = if wanted == "-" { given } else { wanted };
        assert_eq!(value, parsed(&format!(r#"{{"v":{wanted}}}"#)), "{row}");
        assert_eq!(names(&done), repairs.trim_matches('-'), "{row}");
    }
}

#[test]
fn null_leaves_only_optional_properties_that_cannot_be_null() {
    let root = parsed(
        r#"{"type":"object","properties":{
            "city":{"type":"string"},"unit":{"enum":["celsius"]},"days":{"type":"integer"},
            "note":{"type":["string","null"]}},"required":["city"]}"#,
    );
    let text = r#"{"city":null,"unit":null,"note":null,"days":1,"other":null}"#;
    let mut value = parsed(text);
    assert_eq!(coerce(&mut value, &root).0, [CoerceRepair::NullForOptional]);
    assert_eq!(value.to_string(), r#"{"city":null,"note":null,"days":1,"other":null}"#);
}

#[test]
fn beside_a_reference_only_newer_drafts_count() {
    let mut root =
        parsed(r##"{"properties":{"v":{"$ref":"#/definitions/any","type":"integer"}},"definitions":{"any":{}}}"##);
    let mut value = parsed(r#"{"v":"3"}"#);
    root["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    assert!(coerce(&mut value, &root).0.is_empty());
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    assert_eq!(coerce(&mut value, &root).0, [CoerceRepair::NumberFromText]);
}
