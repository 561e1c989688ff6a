//! Property tests: no panic, agreement with serde_json on strict JSON, and no text accepted with a wrong meaning.

use proptest::prelude::*;
use serde_json::{Map, Number, Value};

use super::lenient::Reader;
use super::{read_arguments, read_strict};

fn number() -> impl Strategy<Value = Value> {
    "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?(e[+-][0-9]{1,3})?"
        .prop_map(|text| Value::Number(text.parse::<Number>().unwrap()))
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        "\\PC{0,8}".prop_map(Value::String),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(("[a-z]{1,4}", value()), 1..4).prop_map(|entries| entries.into_iter().collect())
}

/// Random concatenations of JSON fragments and slips: nearly valid far more often than random characters.
fn nearly_json() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[{}\\[\\],:\"'`\\\\ \n]",
        "(true|false|null|True|None|NaN|a|b|\"a\"|\"b\"|'c'|\\\\n|\\\\d|\\\\u00e9|\\\\ud83d|\\\\ude00)",
        "(0|1|02|-1|1\\.5|1e5|1E5|1e+5|\\.5|```|```json|\u{e9}|\u{1F600}|\u{7f}|\u{1})",
        "(\"a\":1|\"b\":\"x\"|a:1|'c':'d'|\"a\":\\[1,2\\]|\\{\"a\":1\\}|\"\\{\\}\")",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// The same with strings that are equal in either kind of quotes.
fn without_quotes(value: &Value) -> Value {
    let plain = |text: &str| text.replace(['\\', '\'', '"'], "");
    match value {
        Value::String(text) => Value::String(plain(text)),
        Value::Array(items) => items.iter().map(without_quotes).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (plain(key), without_quotes(value))).collect(),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), near in nearly_json()) {
        for text in [text, near] {
            if let Ok(reading) = read_arguments(&text) {
                prop_assert!(!reading.values.is_empty());
            }
            if let Err(refused) = read_strict(&text) {
                prop_assert!(refused.at <= text.chars().count());
            }
        }
    }

    #[test]
    fn strict_json_is_what_serde_json_reads(near in nearly_json(), value in value()) {
        for text in [near, value.to_string()] {
            let independent = serde_json::from_str::<Value>(&text).ok();
            match read_strict(&text) {
                Ok(read) => {
                    let mut lenient = Reader::new(&text, 0);
                    prop_assert_eq!(&read, &lenient.only_value().unwrap());
                    prop_assert!(lenient.repairs.is_empty());
                    prop_assert_eq!(Some(read), independent);
                }
                Err(refused) => {
                    let twice = refused.message.contains("appears twice");
                    prop_assert!(twice || independent.is_none(), "{}: {}", text, refused);
                }
            }
        }
    }

    #[test]
    fn a_strict_object_comes_back_as_it_is(object in object()) {
        let text = Value::Object(object.clone()).to_string();
        let reading = read_arguments(&text).unwrap();
        prop_assert_eq!(reading.values, vec![object]);
        prop_assert!(reading.repairs.is_empty());
    }

    #[test]
    fn a_beginning_is_never_a_whole(object in object()) {
        let text = Value::Object(object).to_string();
        for (end, _) in text.char_indices().skip(1) {
            let refused = read_arguments(&text[..end]);
            prop_assert!(refused.as_ref().is_err_and(|refused| refused.cut_off), "{:?}", refused);
        }
    }

    #[test]
    fn a_beginning_in_python_or_encoded_twice_is_never_a_whole(object in object()) {
        let python = without_quotes(&Value::Object(object.clone())).to_string().replace('"', "'");
        for text in [python, Value::String(Value::Object(object).to_string()).to_string()] {
            for (end, _) in text.char_indices().skip(1) {
                prop_assert!(read_arguments(&text[..end]).is_err(), "{}", &text[..end]);
            }
        }
    }

    #[test]
    fn what_is_read_is_strict_json_when_written(near in nearly_json()) {
        if let Ok(reading) = read_arguments(&near) {
            for object in reading.values {
                let again = read_arguments(&Value::Object(object.clone()).to_string()).unwrap();
                prop_assert_eq!(again.values, vec![object]);
                prop_assert!(again.repairs.is_empty());
            }
        }
    }
}
