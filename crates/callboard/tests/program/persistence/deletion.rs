//! Deletion and retention: all rows are deleted, except those that later responses depend on.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use callboard_test_support::{Answer, ask, new_conversation};
use serde_json::{Value, json};

use super::client::{get, note, post, said};
use super::fixture::{Database, Fixture, play, wanted};

const TABLES: [&str; 10] = [
    "conversations",
    "items",
    "openings",
    "states",
    "journal",
    "responses",
    "snapshots",
    "chain_parts",
    "named_snapshots",
    "traces",
];

/// An upper bound: rows past their retention are deleted right after startup.
const LONGEST: Duration = Duration::from_secs(60);

const WORDS_IN_TRACES: (&str, &str) = ("CALLBOARD_TRACE_CONTENT", "true");

/// The rows that are left. Reading the traces first flushes pending ones.
fn left_after_flush(address: &str, database: &Database) -> Vec<(&'static str, i64)> {
    get(address, "/v1/traces");
    left(database)
}

fn left(database: &Database) -> Vec<(&'static str, i64)> {
    TABLES.into_iter().map(|table| (table, database.count(table))).filter(|(_, rows)| *rows > 0).collect()
}

fn delete(address: &str, path: &str) {
    let answer = ask(address, "DELETE", path, &[], "");
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn status(address: &str, path: &str) -> u16 {
    ask(address, "GET", path, &[], "").status
}

/// A response of the keeper that follows another.
fn follow(address: &str, previous: Option<&str>, token: &str) -> Value {
    let mut request = note(token, false);
    request["previous_response_id"] = json!(previous);
    post(address, "/v1/responses", &[], &request).acknowledged().unwrap()
}

fn id(response: &Value) -> &str {
    response["id"].as_str().unwrap()
}

#[test]
fn deletion_leaves_no_rows_on_sqlite() {
    deleted(Database::file());
}

#[test]
fn deletion_leaves_no_rows_on_postgres() {
    deleted(Database::postgres());
}

fn deleted(database: Database) {
    let fixture = Fixture::new(database);
    let program = fixture.start_with(&[WORDS_IN_TRACES]);
    let address = &program.address;
    let first = follow(address, None, "a");
    let second = follow(address, Some(id(&first)), "b");
    delete(address, &format!("/v1/responses/{}", id(&first)));
    assert_eq!(status(address, &format!("/v1/responses/{}", id(&first))), 404);
    let refused = ask_to_follow(address, id(&first));
    assert_eq!((refused.status, refused.error("code").as_str()), (400, "previous_response_not_found"));
    // Its follower still works, and lists the deleted input.
    let third = follow(address, Some(id(&second)), "c");
    assert_eq!(said(&third), "a b c");
    let input = get(address, &format!("/v1/responses/{}/input_items?limit=100", id(&third)));
    assert!(input.to_string().contains("note a"), "{input}");
    for response in [&third, &second] {
        delete(address, &format!("/v1/responses/{}", id(response)));
    }
    assert_eq!(left_after_flush(address, &fixture.database), []);
    let conversation = new_conversation(address);
    let mut request = note("a", false);
    request["conversation"] = json!(conversation);
    let played = post(address, "/v1/responses", &[], &request).acknowledged().unwrap();
    delete(address, &format!("/v1/conversations/{conversation}"));
    assert_eq!(status(address, &format!("/v1/responses/{}", id(&played))), 404);
    assert_eq!(left_after_flush(address, &fixture.database), []);
}

fn ask_to_follow(address: &str, previous: &str) -> Answer {
    let mut request = note("x", false);
    request["previous_response_id"] = json!(previous);
    ask(address, "POST", "/v1/responses", &[], &request.to_string())
}

#[test]
fn a_response_whose_previous_is_deleted_in_flight_fails_on_sqlite() {
    deleted_in_flight(Database::file());
}

#[test]
fn a_response_whose_previous_is_deleted_in_flight_fails_on_postgres() {
    deleted_in_flight(Database::postgres());
}

fn deleted_in_flight(database: Database) {
    let ((begins, begun), (go, gate)) = (channel(), channel());
    let (begins, gate) = (Mutex::new(begins), Mutex::new(gate));
    let fixture = Fixture::with_model(database, move |mut exchange| {
        if wanted(&exchange).as_deref() == Some("slowly") {
            begins.lock().unwrap().send(()).unwrap();
            gate.lock().unwrap().recv().unwrap();
        }
        play(&mut exchange);
    });
    let program = fixture.start();
    let address = &program.address;
    let base = follow(address, None, "a");
    let mut request = note("slowly", false);
    request["previous_response_id"] = json!(id(&base));
    let refused = std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(address, "POST", "/v1/responses", &[], &request.to_string()));
        begun.recv().unwrap();
        delete(address, &format!("/v1/responses/{}", id(&base)));
        go.send(()).unwrap();
        asked.join().unwrap()
    });
    assert_eq!((refused.status, refused.error("code").as_str()), (400, "previous_response_not_found"), "{refused:?}");
    assert!(refused.error("message").contains("send the whole input anew"), "{refused:?}");
    for table in ["responses", "snapshots", "chain_parts"] {
        assert_eq!(fixture.database.count(table), 0, "{table}");
    }
}

#[test]
fn retention_deletes_all_old_rows_on_sqlite() {
    past_retention(Database::file());
}

#[test]
fn retention_deletes_all_old_rows_on_postgres() {
    past_retention(Database::postgres());
}

fn past_retention(database: Database) {
    const DAY: (&str, &str) = ("CALLBOARD_KEEP_RESPONSE_DAYS", "1");
    let fixture = Fixture::new(database);
    let program = fixture.start();
    play_everything(&program.address);
    program.terminate();
    assert_eq!(program.exit_code(), Some(0));
    assert_eq!(left(&fixture.database).len(), TABLES.len(), "{:?}", left(&fixture.database));
    for (table, time) in [
        ("conversations", "updated_at"),
        ("responses", "created_at"),
        ("snapshots", "kept_at"),
        ("named_snapshots", "kept_at"),
        ("traces", "created_at"),
    ] {
        fixture.database.execute(&format!("UPDATE {table} SET {time} = {time} - 3 * 86400000"));
    }
    let days = ["CALLBOARD_KEEP_CONVERSATION_DAYS", "CALLBOARD_KEEP_HISTORY_DAYS", "CALLBOARD_KEEP_TRACE_DAYS"];
    let settings: Vec<_> = days.into_iter().map(|days| (days, "1")).chain([DAY]).collect();
    let program = fixture.start_with(&settings);
    let begun = Instant::now();
    while !left(&fixture.database).is_empty() {
        assert!(begun.elapsed() < LONGEST, "still there: {:?}", left(&fixture.database));
    }
    assert_eq!(said(&follow(&program.address, None, "z")), "z");
}

/// Several turns of every kind.
fn play_everything(address: &str) {
    let conversation = new_conversation(address);
    let (mut previous, mut history) = (None, Vec::new());
    for token in ["a", "b", "c"] {
        let mut request = note(token, false);
        request["conversation"] = json!(conversation);
        post(address, "/v1/responses", &[], &request).acknowledged().unwrap();
        let next = follow(address, previous.as_deref(), token);
        previous = Some(id(&next).to_owned());
        history.push(json!({"role": "user", "content": format!("note {token}")}));
        let chat = json!({"model": "keeper", "messages": history});
        let headers = ["callboard-conversation: game"];
        let reply = post(address, "/v1/chat/completions", &headers, &chat).acknowledged().unwrap();
        history.push(reply["choices"][0]["message"].clone());
    }
}
