//! Refusals as servers word them, and what each must teach.
//!
//! Most are held against one request that holds nearly everything, so that each has to be understood for what it says;
//! and all against one that holds next to nothing, from which nothing may be learned.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::refusal_retries::tries;
use super::{Lessons, Refusal};
use crate::wire::chat::adapt::tests::{any_body, any_json};
use crate::wire::chat::adapt::{Family, Quirk, adapt};

const REFUSALS: &str = include_str!("refusals.txt");

/// A request that holds nearly everything. Messages: 1 has parts, 2 is null beside calls, 3 is empty.
fn full() -> Value {
    json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 100, "temperature": 0.5,
        "frequency_penalty": 0.0, "logit_bias": {}, "store": false, "thinking": {"type": "enabled"}, "stop": ["x"], "user": "u",
        "reasoning_effort": "tools need --jinja", "n": 1, "maxTokens": 5, "metadata": null, "top_k": 5, "safe_prompt": true,
        "parallel_tool_calls": false, "tool_choice": "required",
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": {}}},
        "tools": [{"type": "function", "function": {"name": "f", "strict": true, "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "Ada"},
            {"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [
                {"id": "call_abcdefghijklmnopqrstuvwx", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "call_bbcdefghijklmnopqrstuvwx", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "call_abcdefghijklmnopqrstuvwx", "content": ""},
            {"role": "system", "content": "Be exact."},
        ],
    })
}

fn bare() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
}

fn spoken(roles: &[&str]) -> Value {
    let messages: Vec<Value> = roles.iter().map(|role| json!({"role": role, "content": "Hi"})).collect();
    json!({"model": "m", "messages": messages})
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

fn without_developer() -> Value {
    let mut body = full();
    body["messages"].as_array_mut().unwrap().remove(0);
    body
}

fn request(name: &str) -> Value {
    match name {
        "full" => full(),
        "max_completion_tokens" => with(bare(), name, json!(10)),
        "auto" => with(full(), "tool_choice", json!("auto")),
        "json_object" => with(full(), "response_format", json!({"type": "json_object"})),
        "no developer" => without_developer(),
        "in turn" => spoken(&["system", "user", "assistant", "user"]),
        "two users" => spoken(&["system", "user", "user"]),
        "user after tool" => spoken(&["user", "assistant", "tool", "user"]),
        "late system" => spoken(&["user", "system"]),
        _ => panic!("no request is called {name}"),
    }
}

#[test]
fn refusals_teach_what_they_say() {
    let (mut sent, mut learned, mut mistakes) = (Value::Null, 0, 0);
    for line in REFUSALS.lines().skip(3).filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# ") {
            sent = request(name);
            continue;
        }
        let row: Vec<&str> = line.splitn(5, '|').map(str::trim).collect();
        let [expected, status, param, code, message] = row[..] else { panic!("{line}") };
        let (message, some) =
            (message.replace("\\n", "\n"), |text: &'static str| Some(text).filter(|text| !text.is_empty()));
        let refusal =
            Refusal { status: status.parse().unwrap(), message: &message, param: some(param), code: some(code) };
        check(&refusal, &sent, expected);
        if expected == "nothing" { mistakes += 1 } else { learned += 1 }
    }
    assert!(learned > 105 && mistakes > 40, "{learned} and {mistakes}: rows are missing");
}

fn check(refusal: &Refusal<'_>, sent: &Value, expected: &str) {
    let message = refusal.message;
    let first = tries(refusal, sent).into_iter().next().unwrap_or_default();
    let shown: Vec<String> = first.iter().map(Quirk::to_string).collect();
    let shown = if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") };
    assert_eq!(shown, expected, "{message}");
    assert!(tries(refusal, &bare()).is_empty(), "nothing of it was sent: {message}");
    if !first.is_empty() {
        let mut adapted = sent.clone();
        adapt(&mut adapted, &first, Family::Hermes);
        assert_ne!(tries(refusal, &adapted).first(), Some(&first), "tried again after it was heeded: {message}");
    }
}

#[test]
fn all_fields_of_a_list_are_tried_at_once() {
    let field = |name: &str| Quirk::Field(name.to_owned());
    let message = r#"{"detail":[
        {"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{}},
        {"type":"less_than_equal","loc":["body","temperature"],"msg":"Input should be less than or equal to 1"},
        {"type":"extra_forbidden","loc":["body","parallel_tool_calls"],"msg":"Extra inputs are not permitted","input":true},
        {"type":"extra_forbidden","loc":["body","top_k"],"msg":"Extra inputs are not permitted","input":5}]}"#;
    let refusal = Refusal { status: 422, message, ..Refusal::default() };
    let expected = BTreeSet::from([Quirk::StreamOptions, Quirk::ParallelToolCalls, field("top_k")]);
    assert_eq!(tries(&refusal, &full())[0], expected);
    let lines =
        "body.thinking: property 'body.thinking' is unsupported\nbody.top_k: property 'body.top_k' is unsupported";
    let refusal = Refusal { message: lines, param: Some("validation_error"), ..refusal };
    assert_eq!(tries(&refusal, &full())[0], BTreeSet::from([field("thinking"), field("top_k")]));
}

fn quirks(lessons: &Lessons) -> Vec<Quirk> {
    lessons.quirks().cloned().collect()
}

#[test]
fn what_does_not_help_is_dropped_and_what_helps_is_kept() {
    let alternate = "Conversation roles must alternate user/assistant/user/assistant/...";
    let refusal = |message| Refusal { status: 400, message, ..Refusal::default() };
    let mut lessons = Lessons::default();
    assert!(lessons.refused(&refusal(alternate), &full()));
    assert_eq!(quirks(&lessons), [Quirk::Tools]);
    assert!(lessons.refused(&refusal(alternate), &full()));
    assert_eq!(quirks(&lessons), [Quirk::Alternation], "the same words: it did not help");
    assert!(lessons.refused(&refusal("Unknown parameter: 'top_k'."), &full()));
    assert_eq!(quirks(&lessons), [Quirk::Alternation, Quirk::Field("top_k".to_owned())], "other words: it did");
    assert!(!lessons.refused(&refusal("Unknown parameter: 'top_k'."), &bare()), "nothing else is named");
}

#[test]
fn suspects_are_tried_alone_and_then_together() {
    let refusal = Refusal { status: 400, message: "Request has extra fields", ..Refusal::default() };
    let (mut lessons, mut tried) = (Lessons::default(), Vec::new());
    while lessons.refused(&refusal, &full()) {
        tried.push(quirks(&lessons));
    }
    let (stream, parallel, strict) = (Quirk::StreamOptions, Quirk::ParallelToolCalls, Quirk::Strict);
    let alone = [&stream, &parallel, &strict].map(|quirk| vec![quirk.clone()]);
    assert_eq!(tried, [&alone[..], &[vec![parallel, strict, stream]]].concat());
    for message in ["Bad Request", "invalid request", "Your balance is too low", "unknown field: 'x'"] {
        assert!(!Lessons::default().refused(&Refusal { message, ..refusal }, &full()), "{message}");
    }
}

#[test]
fn no_request_is_tried_for_ever() {
    let (mut lessons, mut body, mut tries) = (Lessons::default(), bare(), 0);
    for name in "abcdefghij".chars().map(|letter| format!("field_{letter}")) {
        body[&name] = json!(1);
        let message = format!("Unknown parameter: '{name}'.");
        let refusal = Refusal { status: 400, message: &message, ..Refusal::default() };
        tries += usize::from(lessons.refused(&refusal, &body));
    }
    assert_eq!(tries, 6);
}

proptest! {
    #[test]
    fn nothing_breaks_it(
        message in "[\\PC\n]{0,80}",
        words in prop::collection::vec(prop::sample::select(vec![
            "'loc': [", "]", "'msg': '", "\"", "messages[", "99999999999999999999", "1", "].content", "null", "not supported",
            "tools", "role", "é", "system", "use max_tokens", "strict", "'", "\\", "must alternate", "\n  ",
        ]), 0..12),
        param in prop::option::of("\\PC{0,20}"),
        body in prop_oneof![any_body(), any_json()],
    ) {
        for message in [message, words.concat(), words.join(" ")] {
            let refusal = Refusal { status: 400, message: &message, param: param.as_deref(), code: None };
            prop_assert_eq!(Lessons::default().refused(&refusal, &body), !tries(&refusal, &body).is_empty());
        }
    }
}
