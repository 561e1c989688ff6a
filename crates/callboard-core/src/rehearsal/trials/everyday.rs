//! Accuracy on everyday utterances over many tool sets: the right calls with the right arguments, and none where none is due.
//!
//! The floors are the accuracy reached so far, so that a regression fails.

use serde_json::{Map, Value, json};

use super::super::reply;
use super::calls_of;

pub(super) const EVERYDAY: &str = include_str!("everyday.json");

/// Minimum accuracy in percent.
const FLOOR_CALLS: usize = 95;
const FLOOR_SILENCE: usize = 97;

pub(super) fn request(tools: &Value, say: &str) -> Value {
    let tools: Vec<Value> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            json!({"type": "function", "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": {"type": "object", "properties": tool["parameters"], "required": tool["required"]},
            }})
        })
        .collect();
    json!({"messages": [{"role": "user", "content": say}], "tools": tools})
}

fn same(want: &Value, got: &Value) -> bool {
    let lower = |value: &Value| value.as_str().map(str::to_lowercase);
    if let Some(part) = want.get("contains").and_then(lower) {
        return lower(got).is_some_and(|got| got.contains(&part));
    }
    match (want, got) {
        (Value::Array(want), Value::Array(got)) => {
            want.len() == got.len() && want.iter().zip(got).all(|(want, got)| same(want, got))
        }
        _ if want.is_number() => want.as_f64() == got.as_f64(),
        _ => want == got || lower(want).is_some() && lower(want) == lower(got),
    }
}

/// Exactly the wanted calls in order, each with every wanted argument.
fn is_right(wanted: &[Value], got: &[(String, Map<String, Value>)]) -> bool {
    wanted.len() == got.len()
        && wanted.iter().zip(got).all(|(want, (name, arguments))| {
            let wanted = want["arguments"].as_object().unwrap();
            want["tool"] == **name
                && wanted.iter().all(|(key, want)| arguments.get(key).is_some_and(|got| same(want, got)))
        })
}

#[test]
fn everyday_speech_gives_the_right_calls() {
    let (mut calls, mut silences) = ([0, 0], [0, 0]);
    for set in serde_json::from_str::<Vec<Value>>(EVERYDAY).unwrap() {
        for case in set["cases"].as_array().unwrap() {
            let say = case["say"].as_str().unwrap();
            let wanted = case["calls"].as_array().unwrap();
            let got = calls_of(&reply(&request(&set["tools"], say)));
            let right = is_right(wanted, &got);
            let count = if wanted.is_empty() { &mut silences } else { &mut calls };
            count[0] += 1;
            count[1] += usize::from(right);
            if !right {
                println!("{}: {say}\n    got {}", set["set"], json!(got));
            }
        }
    }
    println!("calls {}/{}, silence {}/{}", calls[1], calls[0], silences[1], silences[0]);
    assert!(calls[1] * 100 >= FLOOR_CALLS * calls[0], "calls: {} of {}", calls[1], calls[0]);
    assert!(silences[1] * 100 >= FLOOR_SILENCE * silences[0], "silence: {} of {}", silences[1], silences[0]);
}
