//! Arguments of calls: read, repaired, validated, and quoted in an error.

use callboard_core::contract::{
    CallRules, CheckBudget, RawCall, SchemaLimits, ToolSet, check_arguments, history_call, violation_message,
};
use callboard_core::model::CallId;
use serde_json::json;

use super::cpu_time::Plain;
use super::runs::{CHARACTERS, WORDS, run};

const SIZE: usize = 1000;

/// Every beginning of these is followed by every run.
const ARGUMENTS: [&str; 5] = [
    r#" {"a": "x\n\u00e9\ud83d\ude00", "b": [1, -2.5e+3, true, null], "c": {"d": {}}}"#,
    r#"{'a': 'it\'s', b: True, "c": "\d", }, {"a": 1}"#,
    "```json\n{\"a\": [\"1\", 2,], \"a\": [\"1\", 2]}\n```",
    r#""{\"a\": \"{\\\"b\\\": [1]}\", \"c\": \"3\"}""#,
    r#"{"list": "[1, [2]]", "object": "{\"a\": 1}", "number": "12", "other": "x"}"#,
];

const ENDS: [&str; 4] = ["", "}", "\"}", "]}"];

fn tools() -> ToolSet {
    let properties = json!({
        "list": {"type": "array", "items": {"type": ["integer", "array"]}}, "object": {"type": "object"},
        "number": {"type": "number"}, "other": {"enum": ["x", "y"]}, "a": {"type": "object"},
    });
    let function = json!({"name": "f", "parameters": {"type": "object", "properties": properties}});
    ToolSet::compile(&json!([{"type": "function", "function": function}]), SchemaLimits::default()).unwrap()
}

fn read(arguments: String, tools: &ToolSet) {
    let call = RawCall { name: "f".to_owned(), arguments, ..RawCall::default() };
    if let Err(violation) = check_arguments(&call, tools, &CallRules::default(), &mut CheckBudget::new(usize::MAX)) {
        let _ = violation_message(&call, &violation);
        let _ = history_call(&call, CallId::from_random([0; 24]));
    }
}

#[test]
fn long_arguments_are_read_in_linear_time() {
    let (tools, plain) = (tools(), Plain::measure(SIZE));
    for (whole, (at, _)) in ARGUMENTS.iter().flat_map(|whole| whole.char_indices().map(move |place| (whole, place))) {
        for unit in CHARACTERS.iter().chain(&WORDS) {
            for end in ENDS {
                let beginning = &whole[..at];
                let work = |size| read(format!("{beginning}{}{end}", run(unit, size)), &tools);
                assert!(plain.permits(&work), "{beginning:?} and then {unit:?}, ended by {end:?}");
            }
        }
    }
}

/// Many keys, equal keys, objects in a row, and text that is encoded again and again.
#[test]
fn large_arguments_are_read_in_linear_time() {
    let (tools, plain) = (tools(), Plain::measure(SIZE));
    let many = |size: usize, entry: &dyn Fn(usize) -> String| (0..size / 10).map(entry).collect::<Vec<_>>().join(",");
    let arguments: [&dyn Fn(usize) -> String; 7] = [
        &|size| format!("{{{}}}", many(size, &|number| format!("\"k{number}\": {number}"))),
        &|size| format!("{{{}}}", many(size, &|number| format!("k{number}: '{number}',").replace(",", ""))),
        &|size| format!("{{{}}}", many(size, &|_| "\"a\": [1, 2]".to_owned())),
        &|size| many(size, &|number| format!("{{\"number\": {number}}}")),
        &|size| format!("{{\"list\": [{}]}}", many(size, &|_| "[[1], {\"a\": 2}]".to_owned())),
        &|size| format!("{{\"other\": {}}}", "[".repeat(size)),
        &|size| (0..size.ilog2() / 2).fold("{\"a\": 1}".to_owned(), |text, _| json!({"object": text}).to_string()),
    ];
    for (number, arguments) in arguments.iter().enumerate() {
        assert!(plain.permits(&|size| read(arguments(size), &tools)), "arguments {number}");
    }
}
