//! Histories of Chat Completions.

use std::sync::Arc;

use callboard::store::{CharacterMemory, ClientName, ConversationPlace, NewSnapshot, SnapshotName, Store, TurnRecords};
use callboard_core::journal::{CallNote, Entry, StateRecord};
use serde_json::json;

use super::conversations;
use super::run::Promise;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("a history is found by its newest known key", newest_key),
    ("a continued history is found with all of its messages", continued),
    ("an edited history forks, and both branches stay unchanged", forks),
    ("a history keeps its journal, also what was undone in it", journal),
    ("a snapshot that does not fit is skipped", interrupted),
    ("an unawaited write is found by the next read", unawaited),
    ("a snapshot replaces an older one with the same key", same_key),
    ("a named conversation is found at its newest snapshot", named),
    ("a client's name leads to the conversations of its newest turns", client_names),
    ("a delayed write does not hide a later turn of a named conversation", delayed),
    ("a long history is found by an old key", far_back),
];

pub(crate) fn memory_of(system_prompt: &str, state: &str, messages: &[&str]) -> CharacterMemory {
    CharacterMemory {
        system_prompt: system_prompt.to_owned(),
        record: StateRecord::resumed(None, Some(state.to_owned()), Vec::new(), 1),
        messages: messages.iter().map(|text| format!("{{\"content\":\"{text}\"}}")).collect(),
        ..CharacterMemory::default()
    }
}

pub(crate) fn new_snapshot(key: &str, at: i64, memory: CharacterMemory) -> NewSnapshot {
    NewSnapshot { key: key.to_owned(), at, memory: Arc::new(memory), ..NewSnapshot::default() }
}

pub(crate) async fn keep(store: &Store, key: &str, name: Option<&str>, at: i64, memory: CharacterMemory) {
    let name = name.map(|name| SnapshotName { key: name.to_owned(), ..SnapshotName::default() });
    let new = NewSnapshot { name, ..new_snapshot(key, at, memory) };
    store.write_records(&TurnRecords { snapshot: Some(new), ..TurnRecords::default() }).await.unwrap();
}

/// The memory that is found, without its position, which only the store knows.
pub(crate) async fn find(store: &Store, keys: &[&str]) -> Option<(usize, CharacterMemory)> {
    let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    let found = store.find_snapshot(&keys, |_, _| true).await.unwrap();
    found.map(|found| (found.index, CharacterMemory { stored: None, ..found.memory }))
}

/// The next memory of a history that was found.
pub(crate) async fn follow(store: &Store, key: &str, next: CharacterMemory) -> CharacterMemory {
    let keys = [key.to_owned()];
    let found = store.find_snapshot(&keys, |_, _| true).await.unwrap().unwrap();
    CharacterMemory { stored: found.memory.stored, ..next }
}

fn newest_key(database: &Database) {
    let store = database.open();
    block_on(async {
        assert_eq!(find(&store, &["b", "a"]).await, None);
        keep(&store, "a", None, 1, memory_of("p", "1", &["x"])).await;
        assert_eq!(find(&store, &["b", "a"]).await, Some((1, memory_of("p", "1", &["x"]))));
        keep(&store, "b", None, 1, memory_of("p", "2", &["x", "y"])).await;
        assert_eq!(find(&store, &["b", "a"]).await, Some((0, memory_of("p", "2", &["x", "y"]))));
        assert_eq!(find(&store, &[]).await, None);
    });
}

fn continued(database: &Database) {
    let store = database.open();
    block_on(async {
        keep(&store, "k0", None, 1, memory_of("p", "0", &["0"])).await;
        let mut messages = vec!["0"];
        for (number, pair) in [["1", "2"], ["3", "4"], ["5", "6"]].iter().enumerate() {
            messages.extend(pair);
            let next = follow(&store, &format!("k{number}"), memory_of("p", "9", &messages)).await;
            keep(&store, &format!("k{}", number + 1), None, 1, next).await;
        }
        assert_eq!(find(&store, &["k3"]).await.unwrap().1, memory_of("p", "9", &["0", "1", "2", "3", "4", "5", "6"]));
        assert_eq!(find(&store, &["k1"]).await.unwrap().1, memory_of("p", "9", &["0", "1", "2"]));
        assert_eq!(find(&store, &["k0"]).await.unwrap().1, memory_of("p", "0", &["0"]));
    });
}

fn forks(database: &Database) {
    let store = database.open();
    block_on(async {
        keep(&store, "a", None, 1, memory_of("p", "1", &["x"])).await;
        let one = follow(&store, "a", memory_of("p", "2", &["x", "y"])).await;
        let other = follow(&store, "a", memory_of("p", "3", &["x", "z"])).await;
        keep(&store, "b", None, 1, one).await;
        keep(&store, "c", None, 1, other).await;
        let further = follow(&store, "c", memory_of("p", "4", &["x", "z", "w"])).await;
        keep(&store, "d", None, 1, further).await;
        assert_eq!(find(&store, &["a"]).await.unwrap().1, memory_of("p", "1", &["x"]));
        assert_eq!(find(&store, &["b"]).await.unwrap().1, memory_of("p", "2", &["x", "y"]));
        assert_eq!(find(&store, &["c"]).await.unwrap().1, memory_of("p", "3", &["x", "z"]));
        assert_eq!(find(&store, &["d"]).await.unwrap().1, memory_of("p", "4", &["x", "z", "w"]));
    });
}

/// Each snapshot has the journal of its own time.
fn journal(database: &Database) {
    let store = database.open();
    let entry = |sequence, undone_by| {
        let call = CallNote { call_id: format!("call_{sequence}"), at: 1_790_000_000_000, ..CallNote::default() };
        let entry = Entry::of_call(sequence, call, &json!({"n": 0}), &json!({"n": 1.50})).unwrap();
        Entry { undone_by, ..entry }
    };
    let with = |journal: Vec<Entry>, messages: &[&str]| {
        let next = journal.len() as u64 + 1;
        let initial = Some(r#"{"n": 1e2}"#.to_owned());
        let record = StateRecord::resumed(initial, Some("1".to_owned()), journal, next);
        CharacterMemory { record, ..memory_of("p", "1", messages) }
    };
    let versions = [
        ("a", with(vec![entry(1, None), entry(2, None)], &["x"])),
        ("b", with(vec![entry(1, None), entry(2, Some(3)), entry(3, None)], &["x", "y"])),
        ("c", with(vec![entry(1, None), entry(2, None), entry(3, Some(4)), entry(4, None)], &["x", "y", "z"])),
    ];
    block_on(async {
        let mut before: Option<&str> = None;
        for (key, version) in &versions {
            let next = match before {
                Some(before) => follow(&store, before, version.clone()).await,
                None => version.clone(),
            };
            keep(&store, key, None, 1, next).await;
            before = Some(key);
        }
        let fork = with(vec![entry(1, Some(3)), entry(2, Some(3)), entry(3, None)], &["x", "other"]);
        let forked = follow(&store, "a", fork.clone()).await;
        keep(&store, "d", None, 1, forked).await;
        for (key, version) in versions.iter().chain([&("d", fork)]) {
            assert_eq!(find(&store, &[key]).await.unwrap().1, *version, "{key}");
        }
    });
}

fn interrupted(database: &Database) {
    let store = database.open();
    block_on(async {
        let interrupted = Some("Once upon a time".to_owned());
        let new = NewSnapshot { interrupted, ..new_snapshot("b", 1, memory_of("p", "2", &["x"])) };
        store.write_records(&TurnRecords { snapshot: Some(new), ..TurnRecords::default() }).await.unwrap();
        keep(&store, "a", None, 1, memory_of("p", "1", &[])).await;
        let keys = ["b".to_owned(), "a".to_owned()];
        for (read, expected) in [("Once upon", 0), ("Other", 1)] {
            let fits = |_, sent: Option<&str>| sent.is_none_or(|sent| sent.starts_with(read));
            let found = store.find_snapshot(&keys, fits).await.unwrap().unwrap();
            assert_eq!(found.index, expected);
            assert_eq!(found.interrupted.is_some(), expected == 0);
        }
        assert_eq!(store.find_snapshot(&keys, |_, _| false).await.unwrap(), None);
    });
}

fn unawaited(database: &Database) {
    let store = database.open();
    block_on(async {
        keep(&store, "key 0", None, 1, memory_of("p", "0", &["0"])).await;
        for number in 0..50 {
            let next = follow(&store, &format!("key {number}"), memory_of("p", "1", &["0", "1"])).await;
            let new = new_snapshot(&format!("key {}", number + 1), 1, next);
            store.write_records_in_background(&TurnRecords { snapshot: Some(new), ..TurnRecords::default() }).unwrap();
        }
        assert_eq!(find(&store, &["key 50"]).await.unwrap().1, memory_of("p", "1", &["0", "1"]));
    });
}

fn same_key(database: &Database) {
    let store = database.open();
    block_on(async {
        for state in ["1", "2", "3"] {
            keep(&store, "a", None, 1, memory_of("p", state, &[state])).await;
        }
        assert_eq!(find(&store, &["a"]).await.unwrap().1, memory_of("p", "3", &["3"]));
        let next = follow(&store, "a", memory_of("p", "4", &["3", "4"])).await;
        keep(&store, "b", None, 1, next).await;
        keep(&store, "a", None, 1, memory_of("p", "5", &["5"])).await;
        assert_eq!(find(&store, &["b"]).await.unwrap().1, memory_of("p", "4", &["3", "4"]));
        assert_eq!(find(&store, &["a"]).await.unwrap().1, memory_of("p", "5", &["5"]));
    });
    if !database.is_in_memory() {
        assert_eq!(database.execute("DELETE FROM chain_parts"), 3, "nothing that is not used is kept");
    }
}

fn named(database: &Database) {
    let store = database.open();
    block_on(async {
        assert_eq!(store.named_snapshot("game").await.unwrap(), None);
        keep(&store, "a", Some("game"), 1, memory_of("p", "1", &["x"])).await;
        keep(&store, "b", Some("game"), 1, memory_of("p", "2", &["x", "y"])).await;
        keep(&store, "c", Some("other"), 1, memory_of("p", "3", &[])).await;
        let found = store.named_snapshot("game").await.unwrap().unwrap();
        assert_eq!(CharacterMemory { stored: None, ..found.memory }, memory_of("p", "2", &["x", "y"]));
    });
}

fn client_names(database: &Database) {
    let store = database.open();
    let in_conversation = |key: &str, at: i64, (character, id): (&str, &str)| {
        let client =
            ClientName { owner: "someone".to_owned(), character: character.to_owned(), name: "my game".to_owned() };
        let place = Some(ConversationPlace { conversation: id.to_owned(), position: 1 });
        let name = Some(SnapshotName { key: format!("{character} my game"), turn: at, client });
        let snapshot = NewSnapshot { name, place, ..new_snapshot(key, at, memory_of("p", "1", &["x"])) };
        TurnRecords { snapshot: Some(snapshot), ..TurnRecords::default() }
    };
    let found = async |owner: &str, name: &str| {
        let found = store.named_conversations(owner, name).await.unwrap();
        found.into_iter().map(|found| (found.id, found.character)).collect::<Vec<_>>()
    };
    let pair = |id: &str, character: &str| (id.to_owned(), character.to_owned());
    block_on(async {
        for (at, id) in (1..).zip(["conv_a", "conv_b", "conv_c"]) {
            store.create_conversation(conversations::new(id, at)).await.unwrap();
        }
        for (key, at, place) in [("k1", 1, ("x", "conv_a")), ("k2", 2, ("y", "conv_b")), ("k3", 3, ("x", "conv_c"))] {
            store.write_records(&in_conversation(key, at, place)).await.unwrap();
        }
        assert_eq!(found("someone", "my game").await, [pair("conv_c", "x"), pair("conv_b", "y")]);
        assert_eq!((found("other", "my game").await, found("someone", "MY GAME").await), (vec![], vec![]));
        store.delete_conversation("conv_c").await.unwrap();
        assert_eq!(found("someone", "my game").await, [pair("conv_b", "y")]);
    });
}

/// Rows: the turn, its time, the turn found then and its state.
fn delayed(database: &Database) {
    let store = database.open();
    let rows = [
        (1, 10, 1, "1"),
        (2, 30, 2, "2"),
        // The first turn is written once more, late.
        (1, 99, 2, "2"),
        // Another second turn, which did not know of the first one: the later of the two stays.
        (2, 20, 2, "2"),
        (2, 40, 2, "5"),
        // Clocks may be set back.
        (3, 5, 3, "6"),
        // It continued from the client's history.
        (0, 1, 4, "7"),
    ];
    block_on(async {
        for (number, (turn, at, newest, state)) in (1..).zip(rows) {
            let name = Some(SnapshotName { key: "game".to_owned(), turn, ..SnapshotName::default() });
            let snapshot = new_snapshot(&format!("key {number}"), at, memory_of("p", &number.to_string(), &["x"]));
            let snapshot = Some(NewSnapshot { name, ..snapshot });
            store.write_records(&TurnRecords { snapshot, ..TurnRecords::default() }).await.unwrap();
            let found = store.named_snapshot("game").await.unwrap().unwrap();
            assert_eq!((found.turn, found.memory.record.state()), (newest, Some(state)), "write {number}");
        }
    });
}

fn far_back(database: &Database) {
    let store = database.open();
    block_on(async {
        keep(&store, "key 150", None, 1, memory_of("p", "1", &["x"])).await;
        keep(&store, "key 170", None, 1, memory_of("p", "2", &["x"])).await;
        let keys: Vec<String> = (0..200).map(|number| format!("key {number}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        assert_eq!(find(&store, &keys).await.map(|(number, _)| number), Some(150));
    });
}
