//! Concurrent turns of one conversation.

use callboard_test_support::new_conversation;
use serde_json::json;

use super::client::{note, post, said};
use super::consistency::{RequestedChange, check, tick};
use super::fixture::{Database, Fixture};

const AT_ONCE: usize = 10;

#[test]
fn concurrent_turns_run_one_after_the_other() {
    for database in [Database::file(), Database::postgres()] {
        let fixture = Fixture::new(database);
        let program = fixture.start();
        let id = new_conversation(&program.address);
        let asked: Vec<(RequestedChange, String)> = std::thread::scope(|scope| {
            let turns: Vec<_> = (0..AT_ONCE)
                .map(|number| {
                    let (address, id) = (&program.address, &id);
                    scope.spawn(move || turn(address, id, number))
                })
                .collect();
            turns.into_iter().map(|turn| turn.join().unwrap()).collect()
        });
        let mut replies: Vec<&str> = asked.iter().map(|(_, notes)| notes.as_str()).collect();
        replies.sort_unstable_by_key(|notes| notes.len());
        let last = *replies.last().unwrap();
        for (number, notes) in replies.iter().enumerate() {
            assert_eq!(notes.split(' ').count(), number + 1, "each turn adds one note to those before it");
            assert!(last.starts_with(notes), "{notes:?} and {last:?}");
        }
        let asked: Vec<RequestedChange> = asked.into_iter().map(|(asked, _)| asked).collect();
        assert_eq!(check(&program.address, &id, &asked), AT_ONCE);
    }
}

fn turn(address: &str, conversation: &str, number: usize) -> (RequestedChange, String) {
    let (token, sent) = (format!("t{number}"), tick());
    let mut body = note(&token, number.is_multiple_of(2));
    body["conversation"] = json!(conversation);
    let response = post(address, "/v1/responses", &[], &body).acknowledged().unwrap();
    (RequestedChange { token, sent, acknowledged: Some(tick()) }, said(&response))
}
