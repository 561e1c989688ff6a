//! Reading of arguments: strict JSON is left unchanged, and what was repaired needs no second repair.

use callboard_core::contract::json::{read_arguments, read_strict};
use serde_json::Value;

use super::fields::text;
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "```json",
    "```",
    "True",
    "False",
    "None",
    "null",
    "true",
    "{}",
    "[]",
    "{\"a\":1}",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\d",
    "1e400",
    "-0",
    "0.10",
    "NaN",
    ",}",
    ",]",
    "{'a': '",
    "{a:",
    "\"{\\\"a\\\":1}\"",
    "$serde_json::private::Number",
];

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    golden.calls.iter().map(|(_, arguments)| arguments.clone().into_bytes()).collect()
}

pub(crate) fn run(data: &[u8]) {
    let written = text(data);
    let read = read_arguments(&written);
    if let Err(error) = &read {
        assert!(error.at <= written.chars().count(), "{error} is at {}", error.at);
    }
    if let Ok(strict) = read_strict(&written) {
        check_strict(&written, &strict);
    }
    let Ok(read) = read else { return };
    assert!(!read.values.is_empty(), "no object and no error");
    for object in read.values {
        let again = read_arguments(&Value::Object(object.clone()).to_string()).expect("what was read is JSON");
        assert_eq!((again.values, again.repairs), (vec![object], Vec::new()), "repaired twice");
    }
}

/// Strict JSON is JSON to an independent reader too, and an object is taken as it is.
fn check_strict(written: &str, strict: &Value) {
    if !written.contains("serde_json::private") {
        assert_eq!(serde_json::from_str::<Value>(written).ok().as_ref(), Some(strict), "strict JSON");
    }
    if let Value::Object(object) = strict {
        let read = read_arguments(written).expect("strict JSON can be read");
        assert_eq!((read.values, read.repairs), (vec![object.clone()], Vec::new()), "strict JSON is changed");
    }
}
