//! Two programs on one database. Conversations move between them at random while one of them is drained and restarted: nothing
//! is lost or reordered.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use callboard_test_support::new_conversation;
use serde_json::{Value, json};

use super::client::{note, post, said};
use super::consistency::{RequestedChange, check, tick};
use super::fixture::{Database, Fixture};

const CONVERSATIONS: usize = 200;
const CLIENTS: usize = 6;
const TURNS: usize = 600;

#[test]
fn conversations_move_between_two_programs_on_postgres() {
    let fixture = Fixture::new(Database::postgres());
    let programs = [fixture.start(), fixture.start()];
    let addresses = programs.each_ref().map(|program| program.address.clone());
    let (events, answered) = channel();
    let clients = Clients {
        conversations: (0..CONVERSATIONS).map(|number| new_conversation(&addresses[number % 2])).collect(),
        asked: (0..CONVERSATIONS).map(|_| Mutex::default()).collect(),
        addresses: addresses.map(|address| Mutex::new(Some(address))),
        turns: AtomicUsize::new(0),
        events: Mutex::new(events),
    };
    let [staying, leaving] = programs;
    let returned = std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| clients.run());
        }
        for _ in 0..TURNS / 3 {
            answered.recv().unwrap();
        }
        leaving.terminate();
        *clients.addresses[1].lock().unwrap() = None;
        assert_eq!(leaving.exit_code(), Some(0));
        for _ in 0..TURNS / 6 {
            answered.recv().unwrap();
        }
        let returned = fixture.start();
        *clients.addresses[1].lock().unwrap() = Some(returned.address.clone());
        returned
    });
    let mut changes = 0;
    for (number, (id, asked)) in clients.conversations.iter().zip(&clients.asked).enumerate() {
        let asked = asked.lock().unwrap();
        let unanswered = asked.iter().filter(|asked| asked.acknowledged.is_none());
        let begun: Vec<_> = unanswered.filter(|asked| fixture.was_asked_to_note(&asked.token)).collect();
        assert!(begun.is_empty(), "begun before the program was drained, and never answered: {begun:?}");
        changes += check(if number % 2 == 0 { &staying.address } else { &returned.address }, id, &asked);
    }
    assert_eq!(changes, TURNS);
}

/// The state that all clients share.
struct Clients {
    addresses: [Mutex<Option<String>>; 2],
    conversations: Vec<String>,
    asked: Vec<Mutex<Vec<RequestedChange>>>,
    turns: AtomicUsize,
    events: Mutex<Sender<()>>,
}

impl Clients {
    /// Runs turns of random conversations, each at a random program.
    fn run(&self) {
        while self.turns.fetch_add(1, Ordering::SeqCst) < TURNS {
            let mut random = [0; 3];
            getrandom::fill(&mut random).unwrap();
            // Half of the turns go to five conversations.
            let among = if random[0].is_multiple_of(2) { CONVERSATIONS } else { 5 };
            let number = usize::from(random[1]) % among;
            while !self.turn(number, &format!("t{}", tick()), random[2]) {}
            self.events.lock().unwrap().send(()).unwrap();
        }
    }

    /// One turn; false if its program was not running.
    fn turn(&self, number: usize, token: &str, choice: u8) -> bool {
        let first = usize::from(choice) % 2;
        let address_of = |which: usize| self.addresses[which].lock().unwrap().clone();
        let address = address_of(first).or_else(|| address_of(1 - first)).unwrap();
        let token = format!("{token}x{}", tick());
        let mut body = note(&token, choice >= 128);
        body["conversation"] = json!(self.conversations[number]);
        let sent = tick();
        let answer: Option<Value> = post(&address, "/v1/responses", &[], &body).acknowledged();
        let is_answered = answer.is_some();
        assert!(answer.is_none_or(|response| said(&response).ends_with(&token)));
        let acknowledged = is_answered.then(tick);
        self.asked[number].lock().unwrap().push(RequestedChange { token, sent, acknowledged });
        is_answered
    }
}
