//! Turns of one conversation that are sent at once, and clients that leave in the middle of one.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use super::clients::{get, new_conversation, note, post, said};
use super::house::{Database, House, play, wanted};
use super::proof::{Asked, check, moment};
use crate::support::{Connection, Program, calls, reply};

const AT_ONCE: usize = 10;

#[test]
fn turns_that_are_sent_at_once_are_played_one_after_the_other() {
    for database in [Database::file(), Database::postgres()] {
        let house = House::new(database);
        let program = house.open();
        let id = new_conversation(&program.address);
        let asked: Vec<(Asked, String)> = std::thread::scope(|scope| {
            let turns: Vec<_> = (0..AT_ONCE)
                .map(|number| {
                    let (address, id) = (&program.address, &id);
                    scope.spawn(move || turn(address, id, number))
                })
                .collect();
            turns.into_iter().map(|turn| turn.join().unwrap()).collect()
        });
        let mut told: Vec<&str> = asked.iter().map(|(_, told)| told.as_str()).collect();
        told.sort_unstable_by_key(|told| told.len());
        let last = *told.last().unwrap();
        for (number, told) in told.iter().enumerate() {
            assert_eq!(told.split(' ').count(), number + 1, "each turn adds one note to those before it");
            assert!(last.starts_with(told), "{told:?} and {last:?}");
        }
        let asked: Vec<Asked> = asked.into_iter().map(|(asked, _)| asked).collect();
        assert_eq!(check(&program.address, &id, &asked), AT_ONCE);
    }
}

fn turn(address: &str, conversation: &str, number: usize) -> (Asked, String) {
    let (token, sent) = (format!("t{number}"), moment());
    let mut body = note(&token, number.is_multiple_of(2));
    body["conversation"] = json!(conversation);
    let response = post(address, "/v1/responses", &[], &body).heard().unwrap();
    (Asked { token, sent, acknowledged: Some(moment()) }, said(&response))
}

/// The model holds back what it says at last, until the sender is dropped. It tells when it was asked for it.
fn holding_back() -> (House, Receiver<()>, impl Drop) {
    let (asked, waits) = channel();
    let (hold, held) = channel::<()>();
    let (asked, held) = (Mutex::new(asked), Mutex::new(held));
    let house = House::with_model(Database::file(), move |mut visit| match wanted(&visit).as_deref() {
        None if visit.body.contains("note away") && !visit.body.contains("note again") => {
            asked.lock().unwrap().send(()).unwrap();
            if visit.body.contains("\"stream\":true") {
                visit.begin_stream();
                visit.text("It is");
            }
            let _ = held.lock().unwrap().recv();
        }
        _ => play(&mut visit),
    });
    (house, waits, Hold(Some(hold)))
}

struct Hold(Option<std::sync::mpsc::Sender<()>>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0 = None;
    }
}

#[test]
fn what_happened_before_the_client_left_is_on_record() {
    for stream in [true, false] {
        let (house, waits, _hold) = holding_back();
        let program = house.open();
        let id = new_conversation(&program.address);
        let mut body = note("away", stream);
        body["conversation"] = json!(id);
        let client = Connection::send(&program.address, "POST", "/v1/responses", &[], &body.to_string());
        waits.recv().unwrap();
        drop(client);
        assert_eq!(said_next(&program, &id), "away again", "streamed: {stream}");
        let kinds = kinds(&program, &id);
        assert_eq!(kinds[..2], ["message", "mcp_call"], "streamed: {stream}");
    }
}

/// The next turn of a conversation: it waits until the one before it has ended.
fn said_next(program: &Program, conversation: &str) -> String {
    let mut body = note("again", false);
    body["conversation"] = json!(conversation);
    said(&post(&program.address, "/v1/responses", &[], &body).heard().unwrap())
}

fn kinds(program: &Program, conversation: &str) -> Vec<String> {
    let items = get(&program.address, &format!("/v1/conversations/{conversation}/items?order=asc&limit=100"));
    items["data"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
}

/// The first of two calls has changed something, and the second is running.
#[test]
fn a_call_that_was_done_when_the_client_left_is_on_record() {
    for stream in [true, false] {
        let house = House::with_model(Database::file(), |mut visit| match wanted(&visit).as_deref() {
            Some("away") => {
                let both = [("note", json!({"token": "away"})), ("linger", json!({}))];
                reply(&mut visit, &calls("", &both));
            }
            _ => play(&mut visit),
        });
        let program = house.open();
        let id = new_conversation(&program.address);
        let mut body = note("away", stream);
        body["conversation"] = json!(id);
        let client = Connection::send(&program.address, "POST", "/v1/responses", &[], &body.to_string());
        assert!(program.prints_line("[keeper] lingering"));
        drop(client);
        assert_eq!(said_next(&program, &id), "away again", "streamed: {stream}");
        let journal = get(&program.address, &format!("/v1/conversations/{id}/journal"));
        assert_eq!(journal["data"].as_array().map_or(0, Vec::len), 2, "{journal}");
        let made: Vec<String> = kinds(&program, &id);
        assert_eq!(made.iter().filter(|kind| *kind == "mcp_call").count(), 3, "{made:?}");
        let items = get(&program.address, &format!("/v1/conversations/{id}/items?order=asc"));
        let first = |name: &str| items["data"].as_array().unwrap().iter().find(|item| item["name"] == name).cloned();
        let (done, cut) = (first("note").unwrap(), first("linger").unwrap());
        // The model must not be told that a tool which has changed something gave no result.
        assert_eq!((done["status"].as_str(), done["output"].is_string()), (Some("completed"), true), "{done}");
        assert_eq!((cut["status"].as_str(), cut["output"].is_null()), (Some("incomplete"), true), "{cut}");
    }
}

/// In a history nothing names the conversation but what was said before.
#[test]
fn a_history_goes_on_from_a_turn_that_its_client_left() {
    let (house, waits, _hold) = holding_back();
    let program = house.open();
    let user = |words: &str| json!({"role": "user", "content": words});
    let body = json!({"model": "keeper", "messages": [user("note away")]});
    let client = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], &body.to_string());
    waits.recv().unwrap();
    drop(client);
    let next = json!({"model": "keeper", "messages": [user("note away"), user("note again")]});
    // Nothing tells the client when the program has noticed that it left.
    let told = |next: &Value| post(&program.address, "/v1/chat/completions", &[], next).heard().unwrap();
    while told(&next)["choices"][0]["message"]["content"] != "away again" {}
}
