//! A program that is killed again and again while many clients change what it keeps: nothing that was acknowledged is lost,
//! nothing is made twice.
//!
//! All ways to keep a conversation are in use at once: conversations by id, also several turns of one at a time and undo,
//! responses that follow one another, histories of Chat Completions, and histories with a name. Kills come after a random
//! number of events, of which some lie between turns and some in the middle of them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use callboard_test_support::new_conversation;
use serde_json::{Value, json};

use super::client::{Outcome, note, post, said};
use super::consistency::{Asked, check, moment};
use super::fixture::{Database, Fixture, play};

const TURNS: usize = 1000;
const KILLS: usize = 25;
const CONVERSATIONS: usize = 80;
/// Conversations after this one are not shared by clients that take turns, but crowded by others at all times.
const CROWDED: usize = 2;
/// A history that got this long is left for a new one.
const LONGEST: usize = 20;
/// So long a conversation may stay claimed by a program that died in the middle of its turn.
const CLAIMED: Duration = Duration::from_secs(6);

#[test]
fn kills_lose_nothing_on_sqlite() {
    run(Database::file());
}

#[test]
fn kills_lose_nothing_on_postgres() {
    run(Database::postgres());
}

fn run(database: Database) {
    let (events, happened) = channel();
    let requests = Mutex::new(events.clone());
    let fixture = Fixture::with_model(database, move |mut exchange| {
        let _ = requests.lock().unwrap().send(());
        play(&mut exchange);
    });
    let program = fixture.start();
    let crowd = Crowd::new(&program.address, events);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| crowd.take_turns());
        }
        for number in 0..3 {
            let crowd = &crowd;
            scope.spawn(move || crowd.press(number % CROWDED));
        }
        for _ in 0..2 {
            scope.spawn(|| crowd.tell_histories());
            scope.spawn(|| crowd.follow_responses());
        }
        scope.spawn(|| crowd.name_histories());
        let _over = Over(&crowd);
        let mut program = program;
        let mut kills = 0;
        while kills < KILLS || crowd.acknowledged.load(Ordering::SeqCst) < TURNS {
            wait_for(&happened, 40 + usize::from(random_byte()));
            crowd.close();
            program.kill();
            kills += 1;
            program = fixture.start();
            crowd.open(&program.address);
        }
        program
    })
    .kill();
    let program = fixture.start();
    let changes: usize =
        crowd.asked.iter().map(|(id, asked)| check(&program.address, id, &asked.lock().unwrap())).sum();
    println!("{changes} changes in conversations of {} acknowledged", crowd.acknowledged.load(Ordering::SeqCst));
    assert!(changes > TURNS / 3, "{changes} changes");
}

fn wait_for(happened: &Receiver<()>, events: usize) {
    for _ in 0..events {
        happened.recv().unwrap();
    }
}

fn random_byte() -> u8 {
    let mut byte = [0];
    getrandom::fill(&mut byte).unwrap();
    byte[0]
}

/// Lets the clients go home when the test is over, also when it failed.
struct Over<'a>(&'a Crowd);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
        let mut address = self.0.address.lock().unwrap();
        address.get_or_insert_with(|| "127.0.0.1:1".to_owned());
        self.0.opened.notify_all();
    }
}

/// The clients, and what they know.
struct Crowd {
    address: Mutex<Option<String>>,
    opened: Condvar,
    events: Mutex<Sender<()>>,
    over: AtomicBool,
    acknowledged: AtomicUsize,
    tokens: AtomicUsize,
    /// What was asked in each conversation.
    asked: HashMap<String, Mutex<Vec<Asked>>>,
    crowded: Vec<String>,
    /// Conversations that nobody is in, and since when they can be used for certain.
    free: Mutex<VecDeque<(Instant, String)>>,
}

impl Crowd {
    fn new(address: &str, events: Sender<()>) -> Self {
        let mut ids: Vec<String> = (0..CONVERSATIONS).map(|_| new_conversation(address)).collect();
        let asked = ids.iter().map(|id| (id.clone(), Mutex::default())).collect();
        let crowded = ids.split_off(CONVERSATIONS - CROWDED);
        Self {
            address: Mutex::new(Some(address.to_owned())),
            opened: Condvar::new(),
            events: Mutex::new(events),
            over: AtomicBool::new(false),
            acknowledged: AtomicUsize::new(0),
            tokens: AtomicUsize::new(0),
            asked,
            crowded,
            free: Mutex::new(ids.into_iter().map(|id| (Instant::now(), id)).collect()),
        }
    }

    fn close(&self) {
        *self.address.lock().unwrap() = None;
    }

    fn open(&self, address: &str) {
        *self.address.lock().unwrap() = Some(address.to_owned());
        self.opened.notify_all();
    }

    fn post(&self, path: &str, headers: &[&str], body: &Value) -> Option<Value> {
        let closed = self.opened.wait_while(self.address.lock().unwrap(), |address| address.is_none());
        let address = closed.unwrap().clone().unwrap();
        self.happened();
        let answer = match post(&address, path, headers, body) {
            // There was nothing to take back.
            Outcome::Refused(409, body) if body.contains("cannot_undo") => Some(Value::Null),
            outcome => outcome.acknowledged(),
        };
        if answer.is_some() {
            self.acknowledged.fetch_add(1, Ordering::SeqCst);
        }
        self.happened();
        answer
    }

    fn happened(&self) {
        self.events.lock().unwrap().send(()).unwrap();
    }

    fn token(&self) -> String {
        format!("t{}", self.tokens.fetch_add(1, Ordering::SeqCst))
    }

    fn goes_on(&self) -> bool {
        !self.over.load(Ordering::SeqCst)
    }

    /// One turn after the other, each in whichever conversation is free for longest.
    fn take_turns(&self) {
        while self.goes_on() {
            let id = self.free_one();
            let is_answered = self.turn(&id);
            let usable = if is_answered { Instant::now() } else { Instant::now() + CLAIMED };
            self.free.lock().unwrap().push_back((usable, id));
        }
    }

    fn free_one(&self) -> String {
        let mut free = self.free.lock().unwrap();
        // Now and then one that a dead program still claims: the turn has to wait for it.
        let is_patient = random_byte().is_multiple_of(16);
        let usable = free.iter().position(|(since, _)| is_patient || *since <= Instant::now());
        free.remove(usable.unwrap_or(0)).unwrap().1
    }

    /// Turns of one conversation, while others do the same.
    fn press(&self, number: usize) {
        while self.goes_on() {
            self.turn(&self.crowded[number]);
        }
    }

    /// One change of a conversation; true if an answer came.
    fn turn(&self, id: &str) -> bool {
        let sent = moment();
        let asked = if random_byte().is_multiple_of(8) { self.undo(id, sent) } else { self.note(id, sent) };
        let is_answered = asked.as_ref().is_some_and(|asked| asked.acknowledged.is_some());
        self.asked[id].lock().unwrap().extend(asked.filter(|asked| !asked.token.is_empty()));
        is_answered
    }

    fn note(&self, id: &str, sent: u64) -> Option<Asked> {
        let token = self.token();
        let mut body = note(&token, random_byte().is_multiple_of(2));
        body["conversation"] = json!(id);
        let answer = self.post("/v1/responses", &[], &body);
        if let Some(response) = &answer {
            assert!(said(response).ends_with(&token) || said(response).len() > 500, "{response}");
        }
        Some(Asked { token, sent, acknowledged: answer.map(|_| moment()) })
    }

    /// The token of an undo is known only when it was answered, and empty where there was nothing to take back.
    fn undo(&self, id: &str, sent: u64) -> Option<Asked> {
        let answer = self.post(&format!("/v1/conversations/{id}/undo"), &[], &json!({"last": 1}))?;
        let token = answer["call_id"].as_str().unwrap_or_default().to_owned();
        Some(Asked { token, sent, acknowledged: Some(moment()) })
    }

    /// Histories of Chat Completions: each turn goes on from what was acknowledged, and from nothing else.
    fn tell_histories(&self) {
        let (mut history, mut notes) = (Vec::new(), Vec::new());
        while self.goes_on() {
            if notes.len() == LONGEST {
                (history, notes) = (Vec::new(), Vec::new());
            }
            let token = self.token();
            let user = json!({"role": "user", "content": format!("note {token}")});
            let messages: Vec<Value> = history.iter().chain([&user]).cloned().collect();
            let body = json!({"model": "keeper", "messages": messages});
            let Some(answer) = self.post("/v1/chat/completions", &[], &body) else { continue };
            notes.push(token);
            assert_eq!(words(&answer), notes.join(" "));
            history.extend([user, answer["choices"][0]["message"].clone()]);
        }
    }

    /// Responses, each of which follows the one that was acknowledged last.
    fn follow_responses(&self) {
        let (mut previous, mut notes) = (Value::Null, Vec::new());
        while self.goes_on() {
            if notes.len() == LONGEST {
                (previous, notes) = (Value::Null, Vec::new());
            }
            let token = self.token();
            let mut body = note(&token, random_byte().is_multiple_of(2));
            body["previous_response_id"] = previous.clone();
            let Some(response) = self.post("/v1/responses", &[], &body) else { continue };
            notes.push(token);
            assert_eq!(said(&response), notes.join(" "));
            previous = response["id"].clone();
        }
    }

    /// A history that is found by its name: what was acknowledged is in it, what was not may be.
    fn name_histories(&self) {
        for number in 0.. {
            let name = format!("callboard-conversation: name {number}");
            let mut notes: Vec<String> = Vec::new();
            while notes.len() < LONGEST {
                if !self.goes_on() {
                    return;
                }
                let token = self.token();
                let body =
                    json!({"model": "keeper", "messages": [{"role": "user", "content": format!("note {token}")}]});
                let Some(answer) = self.post("/v1/chat/completions", &[&name], &body) else { continue };
                notes.push(token);
                let told = words(&answer);
                let acknowledged: Vec<&str> =
                    told.split(' ').filter(|told| notes.iter().any(|note| note == told)).collect();
                assert_eq!(acknowledged, notes, "among {told}");
            }
        }
    }
}

fn words(answer: &Value) -> String {
    answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}
