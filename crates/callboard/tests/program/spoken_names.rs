//! Names as they are heard: what was named in an earlier turn decides which of several is meant, on every wire.

use callboard_test_support::{CharacterFolder, Script, ask, calls, new_conversation, post, text};
use serde_json::{Value, json};

const HERALD: &str = r#"
CHARACTER_NAME = "Herald"
INSTRUCTIONS = {"instruction_prompt": "You announce."}

class PromptGenerator:
    def __init__(self, instructions):
        self.announced = []

    def make_system_prompt(self):
        return "You announce."

    def get_names(self):
        return {"own": ["Captain in Gravis Armour", "Captain in Terminator Armour"], "other": ["Carnifex", "Captive"]}

    def announce(self, who, side):
        self.announced.append(who)
        return f"Announced {who}."

TOOLS = [{"type": "function", "function": {"name": "announce", "description": "Announce someone.", "parameters": {
    "type": "object", "required": ["who", "side"], "properties": {
        "who": {"type": "string", "x-names": "{side}"}, "side": {"type": "string", "enum": ["own", "other"]}}}}}]
"#;

fn announce(who: &str) -> Value {
    calls("", &[("announce", json!({"who": who, "side": "own"}))])
}

/// The results that the model got, in all requests.
fn results(script: &Script) -> Vec<String> {
    let last = script.asked().pop().unwrap();
    let messages = last["messages"].as_array().unwrap().clone();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|result| result["content"].as_str().unwrap().to_owned()).collect()
}

const EXPECTED: &str = "Announced Captain in Gravis Armour.";

#[test]
fn a_name_of_an_earlier_turn_decides() {
    let folder = CharacterFolder::with("herald", HERALD);
    let replies = || [announce("gravis captain"), text("Done."), announce("my captain"), text("Done.")];
    let (script, server) = Script::start(replies());
    let program = folder.serve(&server);
    let conversation = new_conversation(&program.address);
    for words in ["The gravis captain!", "My captain again!"] {
        let body = json!({"model": "herald", "input": words, "conversation": conversation});
        ask(&program.address, "POST", "/v1/responses", &[], &body.to_string()).ok();
    }
    assert_eq!(results(&script), [EXPECTED, EXPECTED], "in a conversation");

    script.then(replies());
    let mut messages = Vec::new();
    for words in ["The gravis captain!", "My captain again!"] {
        messages.push(json!({"role": "user", "content": words}));
        let answer = post(&program.address, &json!({"model": "herald", "messages": messages}).to_string()).ok();
        messages.push(answer["choices"][0]["message"].clone());
    }
    assert_eq!(results(&script), [EXPECTED, EXPECTED], "in a history of Chat Completions");
}

#[test]
fn an_unknown_name_comes_back_with_the_nearest() {
    let folder = CharacterFolder::with("herald", HERALD);
    for (who, parts) in [
        ("carnifex", &["\"carnifex\" is not known here; \"other\" has \"Carnifex\""][..]),
        ("my captain", &["\"my captain\" may be Captain in ", "say which"]),
        ("bananas", &["known are Captain in Gravis Armour, Captain in Terminator Armour"]),
    ] {
        let (script, server) = Script::start([announce(who), text("Who?")]);
        let program = folder.serve(&server);
        post(
            &program.address,
            &json!({"model": "herald", "messages": [{"role": "user", "content": "Hm."}]}).to_string(),
        )
        .ok();
        let results = results(&script);
        assert!(parts.iter().all(|part| results[0].contains(part)), "{who}: {results:?}");
    }
}
