//! `arguments` as models have written them: accepted and repaired, or refused.

use serde_json::json;

use super::read_arguments;

/// Text, the values read, the repairs.
const ACCEPTED: &[(&str, &str, &str)] = &[
    (r#"{"city":"Paris"}"#, r#"[{"city":"Paris"}]"#, ""),
    (r#" {"q":"it's Anna's \"best\" {a: 'b'},]"} "#, r#"[{"q":"it's Anna's \"best\" {a: 'b'},]"}]"#, ""),
    (r#"{"n":123456789012345678901234567890}"#, r#"[{"n":123456789012345678901234567890}]"#, ""),
    ("", "[{}]", "empty"),
    (" \n", "[{}]", "empty"),
    ("null", "[{}]", "empty"),
    ("None", "[{}]", "python_literal empty"),
    (r#""""#, "[{}]", "encoded_twice empty"),
    (r#""null""#, "[{}]", "encoded_twice empty"),
    ("```json\n{\"a\":1}\n```", r#"[{"a":1}]"#, "code_fence"),
    ("\n```\n{\"a\":\"```\"}\n```\n", r#"[{"a":"```"}]"#, "code_fence"),
    ("```{\"a\":1}```", r#"[{"a":1}]"#, "code_fence"),
    ("```\nnull\n```", "[{}]", "code_fence empty"),
    (r#""{\"a\":1}""#, r#"[{"a":1}]"#, "encoded_twice"),
    (r#""\"{\\\"a\\\":1}\"""#, r#"[{"a":1}]"#, "encoded_twice"),
    (r#""{'a': True,}""#, r#"[{"a":true}]"#, "encoded_twice single_quotes python_literal trailing_comma"),
    ("\"{\n\\\"a\\\": 1}\"", r#"[{"a":1}]"#, "raw_control_character encoded_twice"),
    (r#"{"a":[1,2,],"b":{"c":1,},}"#, r#"[{"a":[1,2],"b":{"c":1}}]"#, "trailing_comma"),
    (r#"{'a': 'say "hi"', "b": 'it\'s'}"#, r#"[{"a":"say \"hi\"","b":"it's"}]"#, "single_quotes"),
    (r#"{"a":True,"b":False,"c":None}"#, r#"[{"a":true,"b":false,"c":null}]"#, "python_literal"),
    (r#"{a:1, _b$2 : 2}"#, r#"[{"a":1,"_b$2":2}]"#, "unquoted_key"),
    ("{\"a\":\"x\n\ty\\n\"}", r#"[{"a":"x\n\ty\n"}]"#, "raw_control_character"),
    (r#"{"a":"^\d+\w \"x\"$"}"#, r#"[{"a":"^\\d+\\w \"x\"$"}]"#, "invalid_escape"),
    (r#"{"a":"C:\Users\Anna"}"#, r#"[{"a":"C:\\Users\\Anna"}]"#, "invalid_escape"),
    (r#"{"a":"C:\users","b":"\n"}"#, r#"[{"a":"C:\\users","b":"\n"}]"#, "invalid_escape"),
    (r#"{'a':'\ud83d\ude00\u00e9'}"#, r#"[{"a":"😀é"}]"#, "single_quotes"),
    (r#"{"a":{"b":1},"a":{"b":1}}"#, r#"[{"a":{"b":1}}]"#, "repeated_equal_key"),
    (r#"{"a":1}{"a":2}"#, r#"[{"a":1},{"a":2}]"#, "concatenated"),
    (r#"{"a":1}{"a": 1}"#, r#"[{"a":1}]"#, "repeated_object"),
    ("{} {}", "[{}]", "repeated_object"),
    (r#"{"a":1},{"a":1},{"a":1}"#, r#"[{"a":1}]"#, "repeated_object"),
    (r#"{"a":1}{"a":2}{"a":1}"#, r#"[{"a":1},{"a":2},{"a":1}]"#, "concatenated"),
    ("{\"a\":1},\n{\"a\":1} {a:2}", r#"[{"a":1},{"a":1},{"a":2}]"#, "unquoted_key concatenated"),
];

#[test]
fn repairs_what_is_certain_and_says_so() {
    for (text, values, repairs) in ACCEPTED {
        let reading = read_arguments(text).unwrap_or_else(|refused| panic!("{text}: {refused}"));
        let named: Vec<_> = reading.repairs.iter().map(|repair| repair.as_str()).collect();
        assert_eq!(json!(reading.values).to_string(), *values, "{text}");
        assert_eq!(named.join(" "), *repairs, "{text}");
    }
}

/// Text, the start of the message, whether the text was cut off.
const REFUSED: &[(&str, &str, bool)] = &[
    ("3", "a JSON object is due, but this is a number (at character 0)", false),
    (" [1]", "a JSON object is due, but this is an array (at character 1)", false),
    (r#""hello""#, "a JSON object is due, but this is a string", false),
    (r#""a": 1"#, "a JSON object is due, but this is a string", false),
    (r#"'{"a":1}'"#, "a JSON object is due, but this is a string", false),
    (
        r#""\"\\\"{}\\\"\"""#,
        "in the JSON inside the string: in the JSON inside the string: a JSON object is due",
        false,
    ),
    (r#""{\"a\":""#, "in the JSON inside the string: unexpected end", true),
    (r#"{"a": "b", "c": 1"#, "unexpected end: the JSON is cut off at character 17", true),
    (r#"{"a": "b"#, "unexpected end", true),
    (r#"{"a": tru"#, "unexpected end", true),
    (r#"{"a": -"#, "unexpected end", true),
    (r#"{"a": 1.5e"#, "unexpected end", true),
    (r#"{"a": "\ud83d"#, "unexpected end", true),
    (r#"{"a": "\u00"#, "unexpected end", true),
    (r#"{a"#, "unexpected end", true),
    ("{", "unexpected end", true),
    (r#"{"a":1},"#, "unexpected end", true),
    (r#"{"a":1}{"a""#, "unexpected end", true),
    ("```json\n{\"a\":1}", "unexpected end", true),
    ("```hello```", "an object is due, but the code fence is empty", false),
    (r#"{"room": kitchenn", "on": tru"#, "`kitchenn` must be in double quotes (at character 9)", false),
    (r#"{action": 1}"#, "expected `:` after the key", false),
    (r#"{"a": 'it's'}"#, "expected `,` or `}`", false),
    (r#"{"a": NaN}"#, "NaN is not a JSON value", false),
    (r#"{"a": -Infinity}"#, "expected a digit", false),
    (r#"{"a": 1 /* one */}"#, "expected `,` or `}`", false),
    (r#"{"a": /* one */ 1}"#, "JSON has no comments", false),
    (r#"{"a": 02134}"#, "a number cannot start with 0 (at character 6)", false),
    (r#"{"a": +5}"#, "unexpected `+`", false),
    (r#"{"a": .5}"#, "unexpected `.`", false),
    (r#"{"a": 5.}"#, "expected a digit", false),
    (r#"{"a": 0x10}"#, "expected `,` or `}`", false),
    (r#"{"a":1,"a":2}"#, "key \"a\" appears twice (at character 7)", false),
    (r#"{"a":1,"a":1.0}"#, "key \"a\" appears twice", false),
    (r#"{"a":"C:\Users\new"}"#, "this string holds a lone backslash", false),
    (r#"{"a":"\\server\data"}"#, "this string holds a lone backslash", false),
    (r#"{"a":"it\'s"}"#, "this escape is not JSON", false),
    (r#"{"a":"\x1b[0m"}"#, "this escape is not JSON", false),
    ("{\"a\":\"one\\\ntwo\"}", "this escape is not JSON", false),
    (r#"{"a":"\ud83d!"}"#, "this `\\u` escape is half of a pair", false),
    (r#"{"a":"\ude00"}"#, "this `\\u` escape is half of a pair", false),
    (r#"{"a":"\u{1F600}"}"#, "`\\u` needs four hexadecimal digits", false),
    (r#"{True: 1}"#, "expected a key in double quotes", false),
    (r#"{1: 1}"#, "expected a key in double quotes", false),
    (r#"{,}"#, "expected a key in double quotes", false),
    (r#"{"a":[1,,2]}"#, "unexpected `,`", false),
    (r#"{"a":1}}"#, "unexpected text after the object", false),
    (r#"{"a":1} done"#, "unexpected text after the object", false),
    (r#"{}{"a":1}"#, "an empty object stands beside another one", false),
];

#[test]
fn refuses_what_would_be_a_guess() {
    for (text, message, cut_off) in REFUSED {
        let refused = read_arguments(text).expect_err(text);
        assert!(refused.message.starts_with(message), "{text}: {refused}");
        assert_eq!(refused.cut_off, *cut_off, "{text}: {refused}");
    }
}

#[test]
fn nests_64_deep_and_no_deeper() {
    let nested = |levels| format!("{{a:{}{}}}", "[".repeat(levels), "]".repeat(levels));
    assert!(read_arguments(&nested(63)).is_ok());
    let refused = read_arguments(&nested(64)).unwrap_err();
    assert!(refused.message.starts_with("objects and arrays nest deeper than 64 levels"));
    assert!(read_arguments(&"[".repeat(100_000)).is_err());
}
