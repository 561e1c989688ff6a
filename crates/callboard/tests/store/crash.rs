//! Processes are killed at random moments while they write: no acknowledged change is lost, none is applied twice.
//!
//! Two children at a time run turns on the same conversations and print each acknowledged change. The parent kills them after a
//! random number of lines and checks what is stored.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use callboard::store::{ConversationHead, ItemPage, NewItem, Store, StoreError, TurnWrite, UndoFailure};
use callboard_core::journal::{CallNote, Entry, Target};
use serde_json::{Value, json};

use crate::contract::{WAIT, memory_after, new, replayed};
use crate::databases::{Database, Kind, block_on, open};

const ROUNDS: usize = 20;
const CHILDREN: usize = 2;
const CONVERSATIONS: usize = 3;
const ADDRESS: &str = "CALLBOARD_CRASH_ADDRESS";
const NAME: &str = "CALLBOARD_CRASH_NAME";
const ACKNOWLEDGED: &str = "acknowledged ";

pub(crate) fn run(kind: &Kind) {
    let database = Database::new(kind);
    let store = database.open();
    for number in 0..CONVERSATIONS {
        block_on(store.create_conversation(new(&conversation(number), 1))).unwrap();
    }
    let acknowledged = Mutex::new(HashSet::new());
    for round in 0..ROUNDS {
        std::thread::scope(|scope| {
            for number in 0..CHILDREN {
                let (database, acknowledged) = (&database, &acknowledged);
                scope.spawn(move || {
                    let lines = 5 + usize::from(random_byte()) % 50;
                    let seen = killed_after(lines, database, &format!("{round}_{number}"));
                    acknowledged.lock().unwrap().extend(seen);
                });
            }
        });
        let most_unacknowledged = (round + 1) * CHILDREN;
        check(&database.open(), &acknowledged.lock().unwrap(), most_unacknowledged);
    }
    assert!(acknowledged.lock().unwrap().len() >= ROUNDS * CHILDREN * 5);
}

fn conversation(number: usize) -> String {
    format!("conv_{number}")
}

fn random_byte() -> u8 {
    let mut byte = [0];
    getrandom::fill(&mut byte).unwrap();
    byte[0]
}

/// Runs a child, kills it, and returns the changes that it acknowledged.
fn killed_after(lines: usize, database: &Database, name: &str) -> Vec<String> {
    let mut child = start(database, name);
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut seen = Vec::new();
    while seen.len() < lines {
        let line = output.next().expect("the child plays until it is killed");
        seen.extend(line.split_once(ACKNOWLEDGED).map(|(_, id)| id.to_owned()));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Includes lines that were in the pipe when it was killed.
    seen.extend(output.filter_map(|line| line.split_once(ACKNOWLEDGED).map(|(_, id)| id.to_owned())));
    seen
}

fn start(database: &Database, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture"])
        .env(ADDRESS, &database.address)
        .env(NAME, name)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The stored rows are consistent, and contain each acknowledged change exactly once.
fn check(store: &Store, acknowledged: &HashSet<String>, most_unacknowledged: usize) {
    let mut stored: HashMap<String, usize> = HashMap::new();
    for number in 0..CONVERSATIONS {
        let id = conversation(number);
        let head = block_on(store.conversation_head(&id)).unwrap().unwrap();
        let state = head.state().unwrap_or("{}");
        assert_eq!(block_on(replayed(store, &id)), state);
        let entries = block_on(store.journal(&id, 0, 100_000)).unwrap();
        let page = ItemPage { after: None, descending: false, limit: 100_000 };
        let items = block_on(store.items(&id, page)).unwrap();
        let calls: Vec<&Entry> = entries.iter().filter(|entry| entry.undoes.is_none()).collect();
        let of_calls: Vec<&str> = calls.iter().map(|entry| entry.call.call_id.as_str()).collect();
        let of_items: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(of_calls, of_items, "an item without its entry, or the other way round");
        let held = calls.iter().filter(|entry| entry.undone_by.is_none()).count();
        let value: Value = serde_json::from_str(state).unwrap();
        assert_eq!(value.get("made").and_then(Value::as_array).map_or(0, Vec::len), held);
        for entry in &entries {
            *stored.entry(entry.call.call_id.clone()).or_default() += 1;
        }
    }
    let twice: Vec<_> = stored.iter().filter(|(_, times)| **times != 1).collect();
    assert!(twice.is_empty(), "made twice: {twice:?}");
    let lost: Vec<_> = acknowledged.iter().filter(|id| !stored.contains_key(*id)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert!(stored.len() - acknowledged.len() <= most_unacknowledged, "more changes than were made");
}

/// The child that the tests above start and kill. Run as a normal test, it runs a few turns.
#[test]
fn child() {
    let (Ok(address), Ok(name)) = (std::env::var(ADDRESS), std::env::var(NAME)) else { return run_without_kills() };
    let store = open(&address, &format!("child_{name}")).unwrap();
    for number in 0.. {
        let conversation = conversation(usize::from(random_byte()) % CONVERSATIONS);
        let id = format!("call_{name}_{number}");
        while !block_on(play(&store, &conversation, &id)) {}
        let mut out = std::io::stdout().lock();
        writeln!(out, "{ACKNOWLEDGED}{id}").and_then(|()| out.flush()).unwrap();
    }
}

fn run_without_kills() {
    let store = Database::new(&Kind::Memory).open();
    for number in 0..CONVERSATIONS {
        block_on(store.create_conversation(new(&conversation(number), 1))).unwrap();
    }
    let ids: HashSet<String> = (0..50).map(|number| format!("call_{number}")).collect();
    for (number, id) in ids.iter().enumerate() {
        assert!(block_on(play(&store, &conversation(number % CONVERSATIONS), id)));
    }
    check(&store, &ids, 0);
}

/// Runs one turn; false on a conflict with another process, to be retried.
async fn play(store: &Store, conversation: &str, id: &str) -> bool {
    let mut turn = store.begin_turn(conversation, WAIT).await.unwrap();
    let call = CallNote { call_id: id.to_owned(), ..CallNote::default() };
    if random_byte().is_multiple_of(8) {
        match turn.undo(&Target::Last(1), call.clone()).await {
            Ok(_) => return true,
            Err(UndoFailure::Store(StoreError::Conflict(_))) => return false,
            Err(UndoFailure::Refused(_)) => {}
            Err(failure) => panic!("{failure}"),
        }
    }
    let write = next(turn.head(), call);
    match turn.finish(write).await {
        Ok(_) => true,
        Err(StoreError::Conflict(_)) => false,
        Err(failure) => panic!("{failure}"),
    }
}

fn next(head: &ConversationHead, call: CallNote) -> TurnWrite {
    let initial = json!({"made": [], "last": null});
    let state: Option<Value> = head.state().map(|state| serde_json::from_str(state).unwrap());
    let first = initial.to_string();
    let mut state = state.unwrap_or(initial);
    state["made"].as_array_mut().unwrap().push(json!(call.call_id));
    state["last"] = json!(call.call_id);
    let items = vec![NewItem { id: call.call_id.clone(), body: "{}".to_owned() }];
    let memory = memory_after(head, Some(&first), vec![(call, state.to_string())]);
    TurnWrite { items, memory, ..TurnWrite::default() }
}
