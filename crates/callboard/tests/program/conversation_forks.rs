//! Conversations that continue in another way, what a model is given, and calls that were not valid, shown in the stream.

use callboard_test_support::{
    COUNTER, CharacterFolder, Connection, Program, Script, ask, calls, new_conversation, text,
};
use serde_json::{Value, json};

fn say(program: &Program, conversation: &str, input: &str) {
    let body = json!({"model": "counter", "conversation": conversation, "input": input}).to_string();
    ask(&program.address, "POST", "/v1/responses", &[], &body).ok();
}

fn get(program: &Program, path: &str) -> Value {
    ask(&program.address, "GET", path, &[], "").ok()
}

fn fork(program: &Program, conversation: &str, before: &Value) -> String {
    let body = json!({"before": before}).to_string();
    let new = ask(&program.address, "POST", &format!("/v1/conversations/{conversation}/fork"), &[], &body).ok();
    new["id"].as_str().unwrap().to_owned()
}

fn items(program: &Program, conversation: &str) -> Vec<Value> {
    let list = get(program, &format!("/v1/conversations/{conversation}/items?order=asc"));
    list["data"].as_array().unwrap().clone()
}

fn state(program: &Program, conversation: &str) -> Value {
    get(program, &format!("/v1/conversations/{conversation}/state"))["state"].clone()
}

fn journal(program: &Program, conversation: &str) -> Vec<Value> {
    get(program, &format!("/v1/conversations/{conversation}/journal"))["data"].as_array().unwrap().clone()
}

#[test]
fn a_fork_has_what_preceded_and_the_state_of_then() {
    let add = |number: u64| calls("", &[("add", json!({"number": number}))]);
    let replies = [add(1), text("One."), add(2), text("Three."), add(10), text("Eleven.")];
    let (_, server) = Script::start(replies);
    let folder = CharacterFolder::with("counter", COUNTER);
    let program = folder.serve(&server);
    let first = new_conversation(&program.address);
    say(&program, &first, "Add one.");
    let after_one = (items(&program, &first), state(&program, &first));
    say(&program, &first, "Add two.");
    let whole = (items(&program, &first), state(&program, &first));
    assert_ne!(after_one.1, whole.1);
    let second_message = &whole.0[after_one.0.len()]["id"];

    let forked = fork(&program, &first, second_message);
    assert_eq!((items(&program, &forked), state(&program, &forked)), after_one);
    say(&program, &forked, "Add ten.");
    assert_eq!(journal(&program, &forked).len(), 2);
    assert_eq!((items(&program, &first), state(&program, &first)), whole, "the original stays");

    let copy = fork(&program, &first, &Value::Null);
    assert_eq!((items(&program, &copy), state(&program, &copy)), whole);
    assert_eq!(journal(&program, &copy), journal(&program, &first));

    let empty = fork(&program, &first, &whole.0[0]["id"]);
    assert_eq!(items(&program, &empty), Vec::<Value>::new());
    assert_eq!(get(&program, &format!("/v1/conversations/{empty}/state"))["character"], Value::Null);
}

#[test]
fn only_the_owner_forks_and_only_before_its_own_items() {
    let (_, server) = Script::start([]);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_API_KEYS", "one,two")]);
    let keys = ["authorization: Bearer one", "authorization: Bearer two"];
    let own = ask(&program.address, "POST", "/v1/conversations", &[keys[0]], "{}").ok();
    let path = format!("/v1/conversations/{}/fork", own["id"].as_str().unwrap());
    let code = |key: &str, body: &str| {
        let refused = ask(&program.address, "POST", &path, &[key], body);
        (refused.status, refused.error("code"))
    };
    assert_eq!(code(keys[1], "{}"), (404, "conversation_not_found".to_owned()));
    assert_eq!(code(keys[0], r#"{"before": "msg_none"}"#), (404, "item_not_found".to_owned()));
    assert_eq!(code(keys[0], r#"{"after": "msg_none"}"#), (400, "unknown_parameter".to_owned()));
}

#[test]
fn the_prompt_of_a_character_can_be_looked_at() {
    let (_, server) = Script::start([]);
    let folder = CharacterFolder::with("counter", COUNTER);
    let program = folder.serve(&server);
    let conversation = new_conversation(&program.address);
    let before = get(&program, "/v1/characters/counter/prompt");
    assert_eq!((&before["object"], &before["conversation"]), (&json!("character.prompt"), &Value::Null));
    assert!(before["system_prompt"].as_str().is_some_and(|prompt| !prompt.is_empty()), "{before}");
    assert_eq!(before["turn_context"], "The count is 0.");
    assert_eq!(before["tools"][0]["function"]["name"], "add");
    let body = json!({"conversation": conversation, "arguments": {"number": 4}}).to_string();
    ask(&program.address, "POST", "/v1/characters/counter/tools/add", &[], &body).ok();
    let then = get(&program, &format!("/v1/characters/counter/prompt?conversation={conversation}"));
    assert_eq!(then["turn_context"], "The count is 4.");
    let refused = ask(&program.address, "GET", "/v1/characters/counter/prompt?conversation=conv_none", &[], "");
    assert_eq!((refused.status, refused.error("code").as_str()), (404, "conversation_not_found"));
    assert_eq!(ask(&program.address, "GET", "/v1/characters/none/prompt", &[], "").status, 404);
}

#[test]
fn a_stream_shows_calls_that_were_not_valid_to_whom_asks() {
    let broken = || calls("", &[("add", json!(r#"{"number": "4",}"#))]);
    let (_, server) = Script::start([broken(), text("Four."), broken(), text("Four.")]);
    let folder = CharacterFolder::with("counter", COUNTER);
    let program = folder.serve(&server);
    let body = json!({"model": "counter", "input": "Add four.", "stream": true}).to_string();
    let mut shown = Connection::send(&program.address, "POST", "/v1/responses", &["callboard-details: calls"], &body);
    let comment = shown.read_until(": callboard-call ").unwrap();
    let call: Value = serde_json::from_str(comment.trim().strip_prefix(": callboard-call ").unwrap()).unwrap();
    assert_eq!((&call["tool"], &call["outcome"]), (&json!("add"), &json!("repaired")));
    assert_eq!(call["before"], json!({"name": "add", "arguments": r#"{"number": "4",}"#}));
    assert_eq!(call["after"], json!([{"name": "add", "arguments": r#"{"number":4}"#}]));
    assert!(shown.read_until("[DONE]").is_some());
    let plain = ask(&program.address, "POST", "/v1/responses", &[], &body);
    assert!(plain.body.contains(": callboard-contract") && !plain.body.contains("callboard-call "), "{plain:?}");
}
