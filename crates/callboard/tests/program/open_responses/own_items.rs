//! Items, events and fields that the specification does not have: their names, and that what is documented of them is all there is.

use std::collections::{BTreeMap, BTreeSet};

use callboard_test_support::{COUNTER, CharacterFolder, Program, Script, calls, text};
use serde_json::{Value, json};

use super::requests::{create, events};
use super::schema::{OWN_EVENTS, OWN_ITEMS, check_event};

const PAGE: &str = include_str!("../../../../../docs/responses.md");

/// A streamed turn with a character's call and one of a custom tool, both of which have items and events of their own.
fn turns() -> Vec<Vec<Value>> {
    let folder = CharacterFolder::with("counter", COUNTER);
    let custom = calls("Look.", &[("shell", json!({"input": "ls"}))]);
    let fails = calls("", &[("add", json!({"number": 400}))]);
    let (_, server) =
        Script::start([calls("", &[("add", json!({"number": 2}))]), text("Two."), fails, text("Too many."), custom]);
    let program = folder.serve(&server);
    let ask = |fields: Value| {
        let answer = create(&program, &fields);
        assert_eq!(answer.status, 200, "{answer:?}");
        events(&answer).into_iter().map(|(_, event)| event).collect::<Vec<_>>()
    };
    let by_character = || ask(json!({"model": "counter", "input": "Add.", "stream": true}));
    let tools = json!([{"type": "custom", "name": "shell"}]);
    vec![by_character(), by_character(), ask(json!({"tools": tools, "stream": true}))]
}

/// The rows of the tables about what the specification does not have: names, and fields.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let (_, section) = PAGE.split_once("\nItems and events that Open Responses does not have:\n").unwrap();
    let rows = section.trim_start().lines().take_while(|line| line.starts_with('|')).skip(2);
    let mut found = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let fields: BTreeSet<String> = quoted(&without_parentheses(cells[1])).into_iter().collect();
        let names = quoted(cells[0]);
        let stem = names[0].rsplit_once('.').map_or("", |(stem, _)| stem);
        for name in &names {
            let name = if name.starts_with('.') { format!("{stem}{name}") } else { name.clone() };
            found.insert(name, fields.clone());
        }
    }
    found
}

fn without_parentheses(text: &str) -> String {
    let (mut depth, mut kept) = (0, String::new());
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept
}

fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// They have OpenAI's bare names instead of names with a slug, which its SDKs do not know; the page says so.
#[test]
fn own_items_and_events_have_the_documented_names_and_fields() {
    let (documented, turns) = (documented(), turns());
    let of_item = |item: &Value| OWN_ITEMS.contains(&item["type"].as_str().unwrap());
    let is_own = |kind: &str| OWN_EVENTS.iter().any(|own| kind.starts_with(own));
    let mut seen = BTreeSet::new();
    for event in turns.iter().flatten() {
        check_event(event);
        let kind = event["type"].as_str().unwrap();
        if is_own(kind) {
            let mut fields = keys(event);
            ["type", "sequence_number"].iter().for_each(|common| assert!(fields.remove(*common), "{event}"));
            assert!(fields.is_subset(&documented[kind]), "{fields:?} in {event}");
            seen.insert(kind.to_owned());
        }
        if let Some(item) = event.get("item").filter(|item| of_item(item)) {
            let mut fields = keys(item);
            ["type", "id", "status"].iter().for_each(|common| assert!(fields.remove(*common), "{item}"));
            let kind = item["type"].as_str().unwrap();
            assert!(fields.is_subset(&documented[kind]), "{fields:?} in {item}");
            seen.insert(kind.to_owned());
        }
    }
    assert_eq!(seen, documented.into_keys().collect(), "all that is documented comes");
    assert!(PAGE.contains(
        "| item and event types of one's own | `callboard:…` | OpenAI's names: `mcp_call`, `custom_tool_call`,"
    ));
}

#[test]
fn a_client_that_ignores_own_events_has_the_whole_response() {
    for events in turns() {
        let is_known = |event: &&Value| !OWN_EVENTS.iter().any(|own| event["type"].as_str().unwrap().starts_with(own));
        let numbers: Vec<u64> =
            events.iter().filter(is_known).map(|event| event["sequence_number"].as_u64().unwrap()).collect();
        assert!(numbers.is_sorted_by(|earlier, later| earlier < later), "{numbers:?}");
        let done: Vec<&Value> = events
            .iter()
            .filter(is_known)
            .filter(|event| event["type"] == "response.output_item.done")
            .map(|event| &event["item"])
            .collect();
        let last = &events.last().unwrap()["response"]["output"];
        assert_eq!(done, last.as_array().unwrap().iter().collect::<Vec<_>>());
        for item in &done {
            let added = events.iter().filter(|event| event["item"]["id"] == item["id"]).count();
            assert_eq!(added, 2, "added and done: {item}");
        }
    }
}

/// Fields of its own in standard objects are optional, and each is on the page.
#[test]
fn own_fields_of_the_response_are_documented() {
    let (_, server) = Script::start([text("Yes.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let response = create(&program, &json!({"user": "someone", "metadata": {"a": "b"}})).ok();
    let standard: BTreeSet<String> = super::schema::response_fields().map(str::to_owned).collect();
    let own: BTreeSet<String> = keys(&response).difference(&standard).cloned().collect();
    let (_, section) = PAGE.split_once("\nFields that it does not have:").unwrap();
    let listed: BTreeSet<String> = quoted(section.split("\n\n").next().unwrap()).into_iter().collect();
    assert!(own.is_subset(&listed), "{own:?} of {listed:?}");
    let details = keys(&response["usage"]["input_tokens_details"]);
    assert!(details.iter().all(|name| name == "cached_tokens" || listed.contains(name)), "{details:?}");
}
