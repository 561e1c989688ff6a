//! Turns of one conversation that are sent at once.

use callboard_test_support::new_conversation;
use serde_json::json;

use super::client::{note, post, said};
use super::consistency::{Asked, check, moment};
use super::fixture::{Database, Fixture};

const AT_ONCE: usize = 10;

#[test]
fn turns_that_are_sent_at_once_are_played_one_after_the_other() {
    for database in [Database::file(), Database::postgres()] {
        let fixture = Fixture::new(database);
        let program = fixture.start();
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
    let response = post(address, "/v1/responses", &[], &body).acknowledged().unwrap();
    (Asked { token, sent, acknowledged: Some(moment()) }, said(&response))
}
