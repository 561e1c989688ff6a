//! Histories over the size limit: refused with the limit and a remedy, and never loaded.

use callboard_test_support::{Answer, ask};
use serde_json::{Value, json};

use super::fixture::{Database, Fixture};

const LIMIT: (&str, &str) = ("CALLBOARD_LIMITS_HISTORY_BYTES", "4000");

fn post(address: &str, path: &str, body: &Value) -> Answer {
    ask(address, "POST", path, &["content-type: application/json"], &body.to_string())
}

fn assert_too_large(answer: &Answer, remedy: &str) {
    assert_eq!((answer.status, answer.error("code").as_str()), (400, "context_length_exceeded"), "{answer:?}");
    assert_eq!(answer.error("type"), "invalid_request_error");
    for part in ["limits.history_bytes of 4000 bytes", "at least", remedy, "truncation"] {
        assert!(answer.error("message").contains(part), "{part:?} is missing in {answer:?}");
    }
}

fn message(letters: usize) -> Value {
    json!({"type": "message", "role": "user", "content": "x".repeat(letters)})
}

fn both(test: fn(&str)) {
    for database in [Database::file(), Database::postgres()] {
        let fixture = Fixture::new(database);
        test(&fixture.start_with(&[LIMIT]).address);
    }
}

#[test]
fn a_conversation_that_is_too_large_can_be_made_smaller() {
    both(|address| {
        let too_many = json!({"items": [message(2000), message(2000)]});
        assert_too_large(&post(address, "/v1/conversations", &too_many), "begin a new conversation");
        let made = post(address, "/v1/conversations", &json!({"items": [message(1000)]})).ok();
        let path = format!("/v1/conversations/{}/items", made["id"].as_str().unwrap());
        post(address, &path, &json!({"items": [message(1000)]})).ok();
        let large = post(address, &path, &json!({"items": [message(2500)]}));
        assert_too_large(&large, "delete items of it");
        // The last turn that starts within the limit is stored, even if it exceeds it.
        let turn = json!({"model": "m", "input": "y".repeat(1200), "conversation": made["id"]});
        post(address, "/v1/responses", &turn).ok();
        let next = json!({"model": "m", "input": "Hi", "conversation": made["id"], "truncation": "auto"});
        assert_too_large(&post(address, "/v1/responses", &next), "delete items of it");
        let items = ask(address, "GET", &format!("{path}?order=asc&limit=1"), &[], "").ok();
        assert_eq!(items["has_more"], true);
        let first = items["data"][0]["id"].as_str().unwrap();
        let behind = ask(address, "GET", &format!("{path}?order=asc&limit=100&after={first}"), &[], "").ok();
        assert_eq!(behind["data"].as_array().unwrap().len(), 3);
        let unknown = ask(address, "GET", &format!("{path}?after=msg_none"), &[], "");
        assert_eq!((unknown.status, unknown.error("code").as_str()), (400, "item_not_found"));
        ask(address, "DELETE", &format!("{path}/{first}"), &[], "").ok();
        post(address, "/v1/responses", &next).ok();
    });
}

#[test]
fn a_chain_of_responses_counts_its_items_only() {
    both(|address| {
        let follow = |previous: Option<&Value>, letters: usize| {
            // Instructions are stored with each response and do not count as history.
            let request = json!({"model": "m", "input": "x".repeat(letters), "instructions": "i".repeat(3500),
                "previous_response_id": previous.map(|previous| previous["id"].clone())});
            post(address, "/v1/responses", &request)
        };
        let mut last = follow(None, 10).ok();
        for _ in 0..5 {
            last = follow(Some(&last), 10).ok();
        }
        let input = format!("/v1/responses/{}/input_items?limit=100", last["id"].as_str().unwrap());
        assert_eq!(ask(address, "GET", &input, &[], "").ok()["data"].as_array().unwrap().len(), 11);
        let large = follow(Some(&last), 4000).ok();
        assert_too_large(&follow(Some(&large), 10), "send what matters of it as input");
        follow(Some(&last), 10).ok();
    });
}

#[test]
fn a_named_chat_conversation_is_limited() {
    both(|address| {
        let say = || {
            let request = json!({"model": "keeper", "messages": [{"role": "user", "content": "x".repeat(1000)}]});
            ask(address, "POST", "/v1/chat/completions", &["callboard-conversation: game"], &request.to_string())
        };
        let last = (0..10).map(|_| say()).find(|answer| answer.status != 200).expect("a refusal");
        assert_too_large(&last, "begin a new one");
    });
}
