//! `POST /v1/responses/compact`, and going on from what it returns.

use callboard_test_support::{Answer, COUNTER, CharacterFolder, Program, Script, ask, calls, greeting_server, text};
use serde_json::{Value, json};

use super::requests::{JSON, create};

fn compact(program: &Program, body: &Value) -> Answer {
    ask(&program.address, "POST", "/v1/responses/compact", &JSON, &body.to_string())
}

fn continued(output: &Value, words: &str) -> Value {
    let mut input = output.as_array().unwrap().clone();
    input.push(json!({"role": "user", "content": words}));
    input.into()
}

#[test]
fn a_conversation_becomes_its_user_messages_and_a_summary() {
    let (script, server) = Script::start([text("They greeted; the code is 4711."), text("It is 4711.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let input = json!([{"role": "user", "content": "The code is 4711."}, {"role": "assistant", "content": "Noted."}]);
    let object = compact(&program, &json!({"model": "m", "input": input, "prompt_cache_key": "k"})).ok();
    assert_eq!(object["object"], "response.compaction");
    assert!(object["id"].is_string() && object["created_at"].is_u64());
    for count in ["input_tokens", "output_tokens", "total_tokens"] {
        assert!(object["usage"][count].is_u64(), "{object}");
    }
    let kinds: Vec<&str> =
        object["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "compaction"]);
    let next = create(&program, &json!({"input": continued(&object["output"], "Which code?"), "tools": []})).ok();
    assert_eq!(next["status"], "completed");
    let asked = script.asked()[1]["messages"].to_string();
    assert!(asked.contains("They greeted") && !asked.contains("Noted."), "{asked}");
    let gone = create(&program, &json!({"previous_response_id": object["id"]}));
    assert_eq!(gone.error("code"), "previous_response_not_found", "a compaction is no response");
}

#[test]
fn a_stored_response_can_be_compacted_and_a_compaction_again() {
    let (script, server) = Script::start([text("One."), text("Summary 1."), text("Summary 2.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let first = create(&program, &json!({"input": "first"})).ok();
    let once = compact(&program, &json!({"model": "m", "previous_response_id": first["id"]})).ok();
    let twice = compact(&program, &json!({"model": "m", "input": once["output"]})).ok();
    assert!(script.asked()[2]["messages"].to_string().contains("Summary 1."));
    let last = twice["output"].as_array().unwrap().last().unwrap().clone();
    assert!(last["encrypted_content"].as_str().unwrap().contains("Summary 2."), "{last}");
}

#[test]
fn a_call_without_output_can_be_answered_after_it() {
    let (script, server) = Script::start([text("A call waits."), text("Seven.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    let object = compact(&program, &json!({"model": "m", "input": [{"role": "user", "content": "u"}, call]})).ok();
    let mut input = object["output"].as_array().unwrap().clone();
    input.push(json!({"type": "function_call_output", "call_id": "c", "output": "7"}));
    create(&program, &json!({"input": input})).ok();
    let roles: Vec<Value> =
        script.asked()[1]["messages"].as_array().unwrap().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["user", "user", "assistant", "tool"]);
}

#[test]
fn a_character_finds_its_state_by_the_items_of_a_compaction() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let add = || calls("", &[("add", json!({"number": 2}))]);
    let (script, server) = Script::start([add(), text("Two."), text("Counted to two."), add(), text("Four.")]);
    let program = folder.serve(&server);
    let first = create(&program, &json!({"model": "counter", "input": "Add two."})).ok();
    let object = compact(&program, &json!({"model": "counter", "previous_response_id": first["id"]})).ok();
    let next = create(&program, &json!({"model": "counter", "input": continued(&object["output"], "Again.")})).ok();
    let ran = next["output"].as_array().unwrap().iter().find(|item| item["type"] == "mcp_call").unwrap().clone();
    assert!(ran["output"].as_str().is_some_and(|text| text.contains('4')), "{ran} {:?}", script.asked().len());
}

#[test]
fn bad_requests_name_their_fields() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    for (body, param) in [
        (json!({"input": "x"}), "model"),
        (json!({"model": "m"}), "input"),
        (json!({"model": "m", "previous_response_id": "resp_none"}), "previous_response_id"),
        (
            json!({"model": "m", "input": [{"type": "compaction", "encrypted_content": "gAAA"}]}),
            "input[0].encrypted_content",
        ),
    ] {
        let answer = compact(&program, &body);
        assert_eq!((answer.status, answer.error("param").as_str()), (400, param), "{body}");
    }
    assert_eq!(ask(&program.address, "GET", "/v1/responses/compact", &[], "").status, 405);
}
