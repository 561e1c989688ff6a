//! Strict JSON: the lenient reader with every repair forbidden.

use serde_json::Value;

use super::lenient::Reader;
use super::parse_result::{DEEPEST, MalformedJson};

/// The nesting limit of a request's JSON, before the schema limits apply.
const DEEPEST_SCHEMA: usize = 127;

/// Reads one strict JSON value: no duplicate keys, no `NaN`, nothing after it, at most 64 levels deep.
pub fn read_strict(text: &str) -> Result<Value, MalformedJson> {
    Reader::strict(text, DEEPEST).only_value()
}

/// Reads the JSON of a request, such as a schema, which may nest deeper than arguments.
pub fn read_schema(text: &str) -> Result<Value, MalformedJson> {
    Reader::strict(text, DEEPEST_SCHEMA).only_value()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn accepts_strict_json_with_its_numbers_as_written() {
        for text in [
            r#"{"a":1,"b":[true,null,"x"],"c":{"a":2}}"#,
            r#"{"n":123456789012345678901234567890.12345678901234567890}"#,
            r#"{"$serde_json::private::Number":"7"}"#,
            r#"{"$serde_json::private::RawValue":"[1]"}"#,
            "[-0,1.50,1e+9]",
            "3",
        ] {
            assert_eq!(read_strict(text).unwrap().to_string(), text);
        }
        let odd = read_strict(r#"{"$serde_json::private::Number":"7"}"#).unwrap();
        assert!(odd.is_object());
        assert_eq!(read_strict(" [1] \n").unwrap(), json!([1]));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (text, message, cut_off) in [
            (r#"{"a":1,"a":1}"#, "key \"a\" appears twice (at character 7)", false),
            (r#"{"a":1,"a":2}"#, "key \"a\" appears twice (at character 7)", false),
            (r#"{"a":NaN}"#, "NaN is not a JSON value (at character 5)", false),
            (r#"{"é":1,}"#, "a comma stands before the closing bracket (at character 7)", false),
            ("{'a':1}", "text must be in double quotes, not single quotes (at character 1)", false),
            ("[1] 2", "there is more than one JSON value (at character 4)", false),
            (r#"{"a":-"#, "unexpected end: the JSON is cut off at character 6", true),
            ("", "unexpected end: the JSON is cut off at character 0", true),
        ] {
            let refused = read_strict(text).unwrap_err();
            assert_eq!((refused.message.as_str(), refused.cut_off), (message, cut_off), "{text}");
        }
    }

    #[test]
    fn nests_64_deep_and_no_deeper() {
        let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read_strict(&nested(64)).is_ok());
        let refused = read_strict(&nested(65)).unwrap_err();
        assert_eq!(refused.message, "objects and arrays nest deeper than 64 levels (at character 64)");
    }
}
