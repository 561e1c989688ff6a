//! The words for a value that its schema refuses, and for a schema that is none.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use crate::contract::call_check::shortened;

const LONGEST_PROBLEM: usize = 300;
/// A list of allowed values is what the model needs most.
const LONGEST_LIST: usize = 1500;
const MOST_VALUES: usize = 20;
const TYPES: &str = "string, number, integer, boolean, array, object and null";
/// Where the schema of schemas says which types there are.
const TYPE_KEYWORD: &str = "/properties/type/anyOf";

/// What is wrong with a value, after its place.
pub(super) fn problem_words(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().as_str().trim_start_matches('/').replace('/', ".");
    let words = match error.kind() {
        ValidationErrorKind::Enum { options } => enum_words(error.instance(), options),
        _ => shortened(&error.to_string(), LONGEST_PROBLEM),
    };
    if place.is_empty() { words } else { format!("{place}: {words}") }
}

fn enum_words(value: &Value, options: &Value) -> String {
    let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let listed: Vec<String> = all.iter().take(MOST_VALUES).map(Value::to_string).collect();
    let list = shortened(&listed.join(", "), LONGEST_LIST);
    let more = match all.len().saturating_sub(MOST_VALUES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} is not one of {list}{more}", shortened(&value.to_string(), LONGEST_PROBLEM))
}

/// What is wrong with a schema, and where in it.
pub(super) fn schema_error_words(error: &ValidationError<'_>) -> String {
    let is_type = error.schema_path().as_str().ends_with(TYPE_KEYWORD);
    let words =
        if is_type { format!("{} is not a type; the types are {TYPES}", error.instance()) } else { error.to_string() };
    format!("{} (at {:?})", shortened(&words, LONGEST_PROBLEM), error.instance_path().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_enum_lists_up_to_twenty_values() {
        let words = |count: usize| {
            let values: Vec<String> = (0..count).map(|n| format!("v{n}")).collect();
            let schema = jsonschema::validator_for(&json!({"properties": {"a": {"enum": values}}})).unwrap();
            problem_words(&schema.validate(&json!({"a": "x"})).unwrap_err())
        };
        assert_eq!(words(2), r#"a: "x" is not one of "v0", "v1""#);
        assert!(words(20).ends_with(r#""v18", "v19""#), "{}", words(20));
        assert!(words(23).ends_with(r#""v18", "v19" and 3 more"#), "{}", words(23));
    }

    #[test]
    fn a_wrong_type_names_the_types() {
        let words = |schema: &Value| schema_error_words(&jsonschema::validator_for(schema).unwrap_err());
        for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
            for wrong in [json!("strin"), json!(5), json!(["string", "nul"])] {
                let schema = json!({"$schema": draft, "type": "object", "properties": {"type": {"type": wrong}}});
                let said = words(&schema);
                assert!(said.starts_with(&format!("{wrong} is not a type; the types are string, number")), "{said}");
                assert!(said.ends_with("(at \"/properties/type/type\")"), "{said}");
            }
        }
        let other = words(&json!({"type": "object", "properties": {"type": 5}}));
        assert!(!other.contains("is not a type"), "{other}");
    }
}
