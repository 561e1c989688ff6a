//! Characters that have left the stage, or whose model has: nobody else answers under their names.

use serde_json::{Value, json};

use super::stage::{Folder, start};
use super::support::characters::COUNTER;
use super::support::{Answer, ModelServer, Program, Script, ask, text};

fn respond(program: &Program, body: &Value) -> Answer {
    ask(&program.address, "POST", "/v1/responses", &[], &body.to_string())
}

fn made(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

fn reload(program: &Program) {
    made(&ask(&program.address, "POST", "/v1/characters/reload", &[], ""));
}

#[test]
fn a_conversation_waits_for_the_character_that_plays_in_it() {
    let (script, server) = Script::start(["One.", "Two.", "Three.", "Four."].map(text));
    let folder = Folder::new("absence").with("counter", COUNTER);
    let program = start(&folder, &server);
    let conversation = made(&ask(&program.address, "POST", "/v1/conversations", &[], ""))["id"].clone();
    let played =
        made(&respond(&program, &json!({"model": "counter", "input": "Count.", "conversation": conversation})));
    assert_eq!(played["conversation"]["id"], conversation);
    let stored = made(&respond(&program, &json!({"model": "counter", "input": "Count."})));
    script.asked();

    folder.remove("counter");
    reload(&program);
    let in_conversation = json!({"model": "counter", "input": "Go on.", "conversation": conversation});
    let behind_response = json!({"model": "counter", "input": "Go on.", "previous_response_id": stored["id"]});
    for request in [&in_conversation, &behind_response] {
        let refused = respond(&program, request);
        assert_eq!((refused.status, refused.error("code")), (404, "character_not_found".to_owned()), "{refused:?}");
        assert!(refused.error("message").contains("\"counter\""), "{refused:?}");
    }
    assert_eq!(script.asked(), Vec::<Value>::new());

    folder.write("counter", COUNTER);
    reload(&program);
    for request in [&in_conversation, &behind_response] {
        made(&respond(&program, request));
    }
}

#[test]
fn a_character_that_cannot_be_loaded_is_no_plain_model() {
    let (script, server) = Script::start([]);
    let folder = Folder::new("unloaded").with("counter", "CHARACTER_NAME = ");
    let program = start(&folder, &server);
    let requests = [
        ("/v1/responses", json!({"model": "counter", "input": "Count."})),
        ("/v1/chat/completions", json!({"model": "counter", "messages": [{"role": "user", "content": "Count."}]})),
    ];
    for (path, request) in requests {
        let refused = ask(&program.address, "POST", path, &[], &request.to_string());
        assert_eq!((refused.status, refused.error("code")), (404, "character_not_loaded".to_owned()), "{refused:?}");
    }
    assert_eq!(script.asked(), Vec::<Value>::new());
}

/// The rehearsal model is there all the time, and does not play for a model server that is away or does not say what it has.
#[test]
fn nobody_steps_in_for_the_model_of_a_character() {
    let folder = Folder::new("modelless").with("counter", COUNTER);
    let silent = ModelServer::start(|mut visit| visit.json(404, r#"{"detail":"Not Found"}"#));
    let away = ModelServer { url: ModelServer::nowhere() };
    for (server, status, words) in [(silent, 502, "--model"), (away, 503, "cannot be reached")] {
        let refused = respond(&start(&folder, &server), &json!({"model": "counter", "input": "Count."}));
        assert_eq!(refused.status, status, "{refused:?}");
        assert!(refused.error("message").contains(words), "{refused:?}");
    }
}
