//! The program is killed repeatedly while many clients write: no acknowledged change is lost, and none is applied twice.
//!
//! All kinds of stored conversations are used at once: conversations by id, with concurrent turns and undo, chains of
//! responses, histories of Chat Completions, and named histories. Kills come after a random number of events, between turns
//! and in the middle of them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use callboard_test_support::new_conversation;
use serde_json::{Value, json};

use super::client::{Outcome, note, post, said};
use super::consistency::{RequestedChange, check, tick};
use super::fixture::{Database, Fixture, play};

const TURNS: usize = 1000;
const KILLS: usize = 25;
const CONVERSATIONS: usize = 80;
/// This many conversations get concurrent turns all the time; the others get one turn at a time.
const CONTENDED: usize = 2;
/// After this many turns a client begins a new history.
const LONGEST: usize = 20;
/// How long the lease of a killed program may last.
const LEASE: Duration = Duration::from_secs(6);

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
    let clients = Clients::new(&program.address, events);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| clients.run_turns());
        }
        for number in 0..3 {
            let clients = &clients;
            scope.spawn(move || clients.run_contended(number % CONTENDED));
        }
        for _ in 0..2 {
            scope.spawn(|| clients.run_histories());
            scope.spawn(|| clients.run_response_chains());
        }
        scope.spawn(|| clients.run_named_histories());
        let _stop = StopOnDrop(&clients);
        let mut program = program;
        let mut kills = 0;
        while kills < KILLS || clients.acknowledged.load(Ordering::SeqCst) < TURNS {
            wait_for(&happened, 40 + usize::from(random_byte()));
            clients.close();
            program.kill();
            kills += 1;
            program = fixture.start();
            clients.open(&program.address);
        }
        program
    })
    .kill();
    let program = fixture.start();
    let changes: usize =
        clients.asked.iter().map(|(id, asked)| check(&program.address, id, &asked.lock().unwrap())).sum();
    println!("{changes} changes in conversations of {} acknowledged", clients.acknowledged.load(Ordering::SeqCst));
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

/// Stops the clients when the test ends, also when it fails.
struct StopOnDrop<'a>(&'a Clients);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
        let mut address = self.0.address.lock().unwrap();
        address.get_or_insert_with(|| "127.0.0.1:1".to_owned());
        self.0.opened.notify_all();
    }
}

/// The state that all clients share.
struct Clients {
    address: Mutex<Option<String>>,
    opened: Condvar,
    events: Mutex<Sender<()>>,
    over: AtomicBool,
    acknowledged: AtomicUsize,
    tokens: AtomicUsize,
    /// The requested changes of each conversation.
    asked: HashMap<String, Mutex<Vec<RequestedChange>>>,
    contended: Vec<String>,
    /// Conversations without a running turn, and when their lease has expired at the latest.
    free: Mutex<VecDeque<(Instant, String)>>,
}

impl Clients {
    fn new(address: &str, events: Sender<()>) -> Self {
        let mut ids: Vec<String> = (0..CONVERSATIONS).map(|_| new_conversation(address)).collect();
        let asked = ids.iter().map(|id| (id.clone(), Mutex::default())).collect();
        let contended = ids.split_off(CONVERSATIONS - CONTENDED);
        Self {
            address: Mutex::new(Some(address.to_owned())),
            opened: Condvar::new(),
            events: Mutex::new(events),
            over: AtomicBool::new(false),
            acknowledged: AtomicUsize::new(0),
            tokens: AtomicUsize::new(0),
            asked,
            contended,
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
            // There was nothing to undo.
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

    fn is_running(&self) -> bool {
        !self.over.load(Ordering::SeqCst)
    }

    /// Runs turns one after the other, each in the conversation that is idle longest.
    fn run_turns(&self) {
        while self.is_running() {
            let id = self.take_idle();
            let is_answered = self.turn(&id);
            let usable = if is_answered { Instant::now() } else { Instant::now() + LEASE };
            self.free.lock().unwrap().push_back((usable, id));
        }
    }

    fn take_idle(&self) -> String {
        let mut free = self.free.lock().unwrap();
        // Sometimes one that a killed program may still have leased: the turn has to wait.
        let may_be_leased = random_byte().is_multiple_of(16);
        let usable = free.iter().position(|(since, _)| may_be_leased || *since <= Instant::now());
        free.remove(usable.unwrap_or(0)).unwrap().1
    }

    /// Runs turns of one conversation, concurrently with other clients.
    fn run_contended(&self, number: usize) {
        while self.is_running() {
            self.turn(&self.contended[number]);
        }
    }

    /// One change of a conversation; true if it was answered.
    fn turn(&self, id: &str) -> bool {
        let sent = tick();
        let asked = if random_byte().is_multiple_of(8) { self.undo(id, sent) } else { self.note(id, sent) };
        let is_answered = asked.as_ref().is_some_and(|asked| asked.acknowledged.is_some());
        self.asked[id].lock().unwrap().extend(asked.filter(|asked| !asked.token.is_empty()));
        is_answered
    }

    fn note(&self, id: &str, sent: u64) -> Option<RequestedChange> {
        let token = self.token();
        let mut body = note(&token, random_byte().is_multiple_of(2));
        body["conversation"] = json!(id);
        let answer = self.post("/v1/responses", &[], &body);
        if let Some(response) = &answer {
            assert!(said(response).ends_with(&token) || said(response).len() > 500, "{response}");
        }
        Some(RequestedChange { token, sent, acknowledged: answer.map(|_| tick()) })
    }

    /// The token of an undo is known only from its answer, and empty if there was nothing to undo.
    fn undo(&self, id: &str, sent: u64) -> Option<RequestedChange> {
        let answer = self.post(&format!("/v1/conversations/{id}/undo"), &[], &json!({"last": 1}))?;
        let token = answer["call_id"].as_str().unwrap_or_default().to_owned();
        Some(RequestedChange { token, sent, acknowledged: Some(tick()) })
    }

    /// Histories of Chat Completions: each turn continues the acknowledged history, and nothing else.
    fn run_histories(&self) {
        let (mut history, mut notes) = (Vec::new(), Vec::new());
        while self.is_running() {
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

    /// Responses, each following the last acknowledged one.
    fn run_response_chains(&self) {
        let (mut previous, mut notes) = (Value::Null, Vec::new());
        while self.is_running() {
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

    /// A named history: contains every acknowledged turn, and possibly unacknowledged ones.
    fn run_named_histories(&self) {
        for number in 0.. {
            let name = format!("callboard-conversation: name {number}");
            let mut notes: Vec<String> = Vec::new();
            while notes.len() < LONGEST {
                if !self.is_running() {
                    return;
                }
                let token = self.token();
                let body =
                    json!({"model": "keeper", "messages": [{"role": "user", "content": format!("note {token}")}]});
                let Some(answer) = self.post("/v1/chat/completions", &[&name], &body) else { continue };
                notes.push(token);
                let reply = words(&answer);
                let acknowledged: Vec<&str> =
                    reply.split(' ').filter(|token| notes.iter().any(|note| note == token)).collect();
                assert_eq!(acknowledged, notes, "among {reply}");
            }
        }
    }
}

fn words(answer: &Value) -> String {
    answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}
