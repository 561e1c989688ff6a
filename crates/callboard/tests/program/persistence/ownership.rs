//! Ownership of conversations: with API keys, the client's key owns them; without keys, all clients share them.

use callboard_test_support::{Program, ask};
use serde_json::{Value, json};

use super::fixture::{Database, Fixture};

const KEYS: [&str; 2] = ["authorization: Bearer one", "authorization: Bearer two"];

/// Creates, as the first client, a conversation with a turn of the keeper, and a separate response.
fn begun(program: &Program) -> (String, String) {
    let post = |path: &str, body: &Value| -> Value {
        let answer = ask(&program.address, "POST", path, &[KEYS[0]], &body.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        serde_json::from_str(&answer.body).unwrap()
    };
    let id = |object: &Value| object["id"].as_str().unwrap().to_owned();
    let conversation = id(&post("/v1/conversations", &json!({})));
    let turn = json!({"model": "keeper", "input": "note one", "conversation": conversation});
    post("/v1/responses", &turn);
    let response = id(&post("/v1/responses", &json!({"model": "keeper", "input": "note two"})));
    (conversation, response)
}

/// The statuses of another client's requests for them.
fn tried(program: &Program, headers: &[&str], (conversation, response): &(String, String)) -> Vec<u16> {
    let conversation = format!("/v1/conversations/{conversation}");
    let stored = format!("/v1/responses/{response}");
    let follows = json!({"model": "keeper", "input": "note three", "previous_response_id": response}).to_string();
    let requests = [
        ("GET", conversation.clone(), ""),
        ("GET", format!("{conversation}/items"), ""),
        ("GET", format!("{conversation}/state"), ""),
        ("GET", format!("{conversation}/journal"), ""),
        ("POST", format!("{conversation}/undo"), r#"{"last": 1}"#),
        ("GET", stored.clone(), ""),
        ("GET", format!("{stored}/input_items"), ""),
        ("POST", "/v1/responses".to_owned(), &follows),
        ("DELETE", conversation, ""),
        ("DELETE", stored, ""),
    ];
    requests.iter().map(|(method, path, body)| ask(&program.address, method, path, headers, body).status).collect()
}

#[test]
fn with_keys_a_conversation_belongs_to_the_key_that_created_it() {
    let fixture = Fixture::new(Database::file());
    let program = fixture.start_with(&[("CALLBOARD_API_KEYS", "one,two")]);
    let begun = begun(&program);
    assert_eq!(tried(&program, &[KEYS[1]], &begun), [404, 404, 404, 404, 404, 404, 404, 400, 404, 404]);
    assert_eq!(tried(&program, &[KEYS[0]], &begun), [200; 10]);
}

#[test]
fn without_keys_conversations_are_shared() {
    for headers in [&[][..], &[KEYS[1]]] {
        let fixture = Fixture::new(Database::file());
        let program = fixture.start();
        let begun = begun(&program);
        assert_eq!(tried(&program, headers, &begun), [200; 10], "{headers:?}");
    }
}
