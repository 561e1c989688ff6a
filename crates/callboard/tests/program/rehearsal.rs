//! The rehearsal model with the shipped characters, and with the examples of the pages: what someone sees who has no model server.

use std::path::Path;

use callboard_test_support::{Program, post};
use serde_json::{Value, json};

/// The shipped characters that only act: their text is never delivered.
const SILENT: &[&str] = &["grimlog"];

fn shipped() -> Program {
    let characters = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../characters");
    Program::start(&["--characters", characters.to_str().unwrap()], &[])
}

fn characters(program: &Program) -> Vec<Value> {
    let list = callboard_test_support::ask(&program.address, "GET", "/v1/characters", &[], "").ok();
    list["data"].as_array().unwrap().clone()
}

fn said(program: &Program, body: &Value) -> String {
    let answer = post(&program.address, &body.to_string()).ok();
    answer["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
}

fn say(program: &Program, character: &str, words: &str) -> String {
    said(program, &json!({"model": character, "messages": [{"role": "user", "content": words}]}))
}

#[test]
fn every_shipped_character_answers_a_greeting_in_its_role() {
    let program = shipped();
    let all = characters(&program);
    assert!(all.len() >= 14, "{all:?}");
    for character in &all {
        let id = character["id"].as_str().unwrap();
        let answer = say(&program, id, "Hello");
        if SILENT.contains(&id) {
            assert_eq!(answer, "", "{id}");
            continue;
        }
        let opening = ["Hello. I am ", "Bonjour. Je suis "].iter().any(|opening| answer.starts_with(opening));
        assert!(opening && answer.contains("This is Callboard's rehearsal model"), "{id}: {answer}");
        let tools = character["tools"].as_array().unwrap();
        for name in tools.iter().map(|tool| tool["name"].as_str().or(tool.as_str()).unwrap()) {
            assert!(answer.contains(&format!("\n- {name}")), "{id} has {name}: {answer}");
        }
    }
}

/// Each phrase that a character offers leads to a result of its tool, not to the list again.
#[test]
fn the_phrases_that_are_offered_work() {
    let program = shipped();
    let mut tried = 0;
    for character in characters(&program) {
        let id = character["id"].as_str().unwrap();
        let offered = say(&program, id, "Hello");
        for line in offered.lines().filter_map(|line| line.strip_prefix("- ")) {
            let (_, phrase) = line.split_once(": ").unwrap_or_else(|| panic!("{id}: no phrase for {line}"));
            let answer = say(&program, id, phrase.trim_matches('"'));
            assert!(!answer.contains("did not find a tool") && !answer.is_empty(), "{id}: {phrase}: {answer}");
            tried += 1;
        }
    }
    assert!(tried >= 12, "{tried} phrases");
}

#[test]
fn the_examples_of_the_pages_work() {
    let program = shipped();
    for (character, words, result) in
        [("narrator", "Log that the dragon has arrived.", "ogged"), ("grimlog", "Start the shooting phase.", "hooting")]
    {
        let answer = say(&program, character, words);
        assert!(answer.contains(result), "{character}: {answer}");
    }
    let weather = json!({"type": "function", "function": {"name": "get_weather", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"], "additionalProperties": false}}});
    let messages = json!([{"role": "user", "content": "What is the weather in Paris?"}]);
    let answer =
        post(&program.address, &json!({"model": "rehearsal", "messages": messages, "tools": [weather]}).to_string());
    let call = &answer.ok()["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!((&call["name"], &call["arguments"]), (&json!("get_weather"), &json!("{\"city\":\"Paris\"}")));
}

/// The counter of the page for authors, with its own example.
#[test]
fn the_counter_of_the_page_counts_what_its_page_says() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/characters.md")).unwrap();
    let code =
        page.split("```python\n# characters/tally.py\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folder = callboard_test_support::CharacterFolder::with("tally", code);
    let program = Program::start(&["--characters", folder.path()], &[]);
    let answer = say(&program, "tally", "Two herons and a swan!");
    assert!(answer.contains("heron: 2") && answer.contains("swan: 1"), "{answer}");
}
