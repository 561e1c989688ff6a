//! Behaviour besides tool selection: `tool_choice`, empty replies, results, corrections, arbitrary JSON.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::reply;
use super::calls_of;
use super::everyday::{EVERYDAY, request};

fn tools() -> Value {
    json!([
        {"type": "function", "function": {"name": "add_item", "description": "Add an item to the list.", "parameters": {
            "type": "object", "required": ["item"], "properties": {
                "item": {"type": "string"}, "quantity": {"type": "integer", "minimum": 1, "description": "How many"}}}}},
        {"type": "function", "function": {"name": "score", "description": "Score points for a side.", "parameters": {
            "type": "object", "required": ["side", "points"], "properties": {
                "side": {"type": "string", "enum": ["player", "opponent"]}, "points": {"type": "integer", "minimum": 0}}}}},
        {"type": "function", "function": {"name": "undo", "description": "Undo the last change.", "parameters": {
            "type": "object", "properties": {}}}},
    ])
}

fn ask(say: &str, more: &Value) -> Value {
    let mut request = json!({"messages": [{"role": "user", "content": say}], "tools": tools()});
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

fn shown(reply: &Value) -> Vec<String> {
    calls_of(reply).into_iter().map(|(name, arguments)| format!("{name}{}", Value::Object(arguments))).collect()
}

#[test]
fn tool_choice_and_parallel_calls_are_honoured() {
    let two = "add milk and score 5 points";
    for (say, more, expected) in [
        (two, json!({}), &[r#"add_item{"item":"milk"}"#, r#"score{"side":"player","points":5}"#][..]),
        (two, json!({"parallel_tool_calls": false}), &[r#"add_item{"item":"milk"}"#]),
        (two, json!({"tool_choice": "none"}), &[]),
        (
            two,
            json!({"tool_choice": {"type": "function", "function": {"name": "score"}}}),
            &[r#"score{"side":"player","points":5}"#],
        ),
        (
            "hello",
            json!({"tool_choice": {"type": "function", "function": {"name": "add_item"}}}),
            &[r#"add_item{"item":"hello"}"#],
        ),
        ("hello", json!({"tool_choice": "auto"}), &[]),
    ] {
        assert_eq!(shown(&reply(&ask(say, &more))), expected, "{say} {more}");
    }
    assert_eq!(shown(&reply(&ask("hello", &json!({"tool_choice": "required"})))).len(), 1);
}

#[test]
fn corrections_replace_what_came_before() {
    for (say, expected) in [
        ("he scores 2, no wait, 3 points", &[r#"score{"side":"opponent","points":3}"#][..]),
        ("add milk. Scratch that, add eggs", &[r#"add_item{"item":"eggs"}"#]),
        ("scratch that, I scored 4 points", &["undo{}", r#"score{"side":"player","points":4}"#]),
        ("actually that was 4 points not 3", &["undo{}", r#"score{"side":"player","points":4}"#]),
        ("add milk, never mind", &[]),
        ("never mind", &[]),
        ("take that back", &["undo{}"]),
    ] {
        assert_eq!(shown(&reply(&ask(say, &json!({})))), expected, "{say}");
    }
}

#[test]
fn a_correction_without_words_of_its_own_repeats_the_last_call() {
    let arguments = r#"{"side":"opponent","points":3}"#;
    let messages = json!([
        {"role": "user", "content": "he scores 3 points"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "score", "arguments": arguments}}]},
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "correction, 4"},
    ]);
    let request = json!({"messages": messages, "tools": tools()});
    assert_eq!(shown(&reply(&request)), ["undo{}", r#"score{"side":"opponent","points":4}"#]);
}

#[test]
fn text_is_written_only_where_it_is_wanted() {
    let text = |request: &Value| reply(request)["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    let silent = json!({"messages": [
        {"role": "system", "content": "You are a TOOL-CALLING AGENT. Do not chat."}, {"role": "user", "content": "hello"}], "tools": tools()});
    assert_eq!(text(&silent), "");
    assert!(text(&json!({"messages": [{"role": "user", "content": "hello"}]})).contains("--upstream"));
    assert!(text(&ask("hello", &json!({}))).contains("rehearsal"));
    let results = json!({"messages": [
        {"role": "user", "content": "add milk"},
        {"role": "assistant", "tool_calls": [{"id": "a"}]},
        {"role": "tool", "content": "{\"success\":true,\"message\":\"Milk is on the list\"}"}], "tools": tools()});
    assert_eq!(text(&results), "Milk is on the list.");
}

#[test]
fn a_bare_list_of_counted_things_goes_to_the_tool_that_counts() {
    let add = |name: &str| {
        json!({"type": "function", "function": {"name": name, "parameters": {
        "type": "object", "required": ["thing"], "properties": {
            "thing": {"type": "string", "description": "What it is, in the singular"},
            "number": {"type": "integer", "minimum": 1, "maximum": 9}}}}})
    };
    let told = |say: &str, tools: &Value| {
        shown(&reply(&json!({"messages": [{"role": "user", "content": say}], "tools": tools})))
    };
    let one = json!([add("tally")]);
    let (herons, swan) = (r#"tally{"thing":"heron","number":2}"#, r#"tally{"thing":"swan","number":1}"#);
    for (say, expected) in [
        ("Two herons and a swan!", &[herons, swan][..]),
        ("two herons", &[herons]),
        ("A swan.", &[]),
        ("Two herons and a swan?", &[]),
        ("Two herons flew over the old bridge", &[]),
        ("ten herons", &[]),
        ("herons", &[]),
    ] {
        assert_eq!(told(say, &one), expected, "{say}");
    }
    assert!(told("two herons", &json!([add("tally"), add("order")])).is_empty(), "several would fit");
}

/// Every phrase that is offered makes a call of its tool.
#[test]
fn an_answer_without_a_call_offers_phrases_that_work() {
    let said = |request: &Value| reply(request)["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    let sets: Vec<Value> = serde_json::from_str(EVERYDAY).unwrap();
    let (mut tools_shown, mut phrases_shown) = (0, 0);
    for set in &sets {
        let mut request = request(&set["tools"], "Hmm.");
        let text = said(&request);
        assert!(text.starts_with("I did not find a tool for that. I am Callboard's rehearsal model"), "{text}");
        for line in text.lines().filter_map(|line| line.strip_prefix("- ")) {
            tools_shown += 1;
            let Some((tool, phrase)) = line.split_once(": ") else { continue };
            phrases_shown += 1;
            request["messages"][0]["content"] = json!(phrase.trim_matches('"'));
            let called: Vec<String> = calls_of(&reply(&request)).into_iter().map(|(name, _)| name).collect();
            assert_eq!(called, [tool], "{phrase}");
        }
    }
    println!("{phrases_shown} phrases for {tools_shown} tools");
    assert!(phrases_shown * 100 >= tools_shown * 90, "{phrases_shown} phrases for {tools_shown} tools");
}

#[test]
fn a_greeting_is_answered_in_the_role_of_the_prompt() {
    let said = |system: &str, say: &str, tools: &Value| {
        let messages = json!([{"role": "system", "content": system}, {"role": "user", "content": say}]);
        let reply = reply(&json!({"messages": messages, "tools": tools}));
        reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    };
    let (guide, none) = ("You are the guide of the museum, and patient.", json!([]));
    assert!(
        said(guide, "Hello!", &none).starts_with("Hello. I am the guide of the museum. This is Callboard's rehearsal")
    );
    assert!(said("Tu es guide.", "Bonjour", &none).starts_with("Bonjour. Je suis guide."));
    assert!(
        said(guide, "Hello", &tools()).contains("I am the guide of the museum")
            && said(guide, "Hello", &tools()).contains("- undo")
    );
    assert!(said(guide, "What is a fresco?", &none).starts_with("I am the guide of the museum. This is Callboard's"));
    assert!(said("Be brief.", "Hello", &none).starts_with("I am Callboard's rehearsal model"));
}

#[test]
fn a_thought_may_be_spread_over_lines() {
    let messages = json!([
        {"role": "user", "content": "add"}, {"role": "assistant", "content": ""},
        {"role": "user", "content": "six eggs"}]);
    assert_eq!(
        shown(&reply(&json!({"messages": messages, "tools": tools()}))),
        [r#"add_item{"item":"eggs","quantity":6}"#]
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["string", "integer", "array", "object", "#/x", "enum", "no wait", "user", "tool"])
            .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "messages",
        "role",
        "content",
        "tools",
        "function",
        "name",
        "description",
        "parameters",
        "properties",
        "required",
        "enum",
        "type",
        "items",
        "anyOf",
        "$ref",
        "default",
        "minimum",
        "maxItems",
        "tool_choice",
        "tool_calls",
        "arguments",
    ]);
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| Value::Object(
                pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            )),
        ]
    })
}

const SPOKEN: &[&str] = &[
    "add", "I", "not", "no", "wait", ",", "and", "a", "half", "dozen", "twenty", "3", "points", "undo", "that", "was",
    "?", "'", "’s", "\"", "“", "if", "…", "–", "-", "2d6+3", "é", "🙂", "May", "3rd", "of", "the", "New", "York",
    "his", "opponent", "score", "to", "minus", "point", "5",
];

proptest! {
    #[test]
    fn any_request_is_answered(request in any_json()) {
        prop_assert_eq!(&reply(&request)["object"], "chat.completion");
    }

    #[test]
    fn any_schema_and_any_speech_are_answered(parameters in any_json(), say in ".{0,80}", choice in any_json()) {
        let request = json!({
            "messages": [{"role": "system", "content": say}, {"role": "user", "content": say}],
            "tools": [{"type": "function", "function": {"name": say, "description": say, "parameters": parameters}}],
            "tool_choice": choice,
        });
        let one = reply(&request);
        prop_assert_eq!(&one, &reply(&request));
    }

    #[test]
    fn any_order_of_words_is_answered(words in prop::collection::vec(prop::sample::select(SPOKEN.to_vec()), 0..24), forced in any::<bool>()) {
        let more = if forced { json!({"tool_choice": "required"}) } else { json!({}) };
        let one = reply(&ask(&words.join(" "), &more));
        let calls = calls_of(&one);
        prop_assert_eq!(one["choices"][0]["finish_reason"] == "tool_calls", !calls.is_empty());
        prop_assert!(!forced || !calls.is_empty());
        for (name, arguments) in calls {
            let required: &[&str] = match name.as_str() { "add_item" => &["item"], "score" => &["side", "points"], _ => &[] };
            prop_assert!(required.iter().all(|key| arguments.contains_key(*key)));
        }
    }
}
