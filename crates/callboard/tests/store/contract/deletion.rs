//! Which rows are deleted, and which are kept for their followers.

use std::sync::Arc;

use callboard::store::{
    CharacterMemory, NewSnapshot, Response, Retention, Store, StoreError, Trace, TurnRecords, TurnWrite,
};

use super::conversations::{new, new_items};
use super::histories::{find, follow, memory_of, new_snapshot};
use super::records::{response, response_in, trace};
use super::run::Promise;
use super::turns::WAIT;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("a deleted response is deleted with its snapshot and trace", alone),
    ("a deleted response with followers is hidden, and deleted with the last of them", followed),
    ("a response cannot follow a deleted one", base_gone),
    ("a history whose chain was deleted is written whole", chain_gone),
    ("a response is kept as long as its followers", kept_by_followers),
    ("a snapshot is pruned with its response, and not before", by_age_of_response),
    ("a long chain is pruned from its end", long_chain),
    ("a conversation is deleted with its responses, and traces with its content", conversation),
    ("a history that is written twice leaves no unused chain", replaced),
];

const DAY: i64 = 24 * 60 * 60 * 1000;
const NOW: i64 = 100 * DAY;
const TABLES: [&str; 4] = ["responses", "snapshots", "chain_parts", "traces"];

fn key(response: &str) -> String {
    format!("{response}/bard")
}

/// A response, a snapshot of the character's memory and a trace with content, as one write.
pub(crate) fn records(response: Response, memory: CharacterMemory) -> TurnRecords {
    let (id, at) = (response.exchange.id.clone(), response.created_at);
    TurnRecords {
        snapshot: Some(NewSnapshot {
            key: key(&id),
            at,
            memory: Arc::new(memory),
            response: Some(id.clone()),
            ..NewSnapshot::default()
        }),
        trace: Some(Trace { id: format!("trace of {id}"), content_of: Some(id), ..trace(0, at) }),
        response: Some(response),
        ..TurnRecords::default()
    }
}

/// A chain of responses, each with a snapshot that follows the one before it.
async fn chain(store: &Store, ids: &[(&str, i64)]) {
    let mut previous: Option<&str> = None;
    for (number, (id, at)) in ids.iter().enumerate() {
        let words: Vec<String> = (0..=number).map(|word| word.to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let kept = match previous {
            None => memory_of("p", "1", &words),
            Some(previous) => follow(store, &key(previous), memory_of("p", "1", &words)).await,
        };
        store.write_records(&records(response(id, previous, *at), kept)).await.unwrap();
        previous = Some(id);
    }
}

async fn chain_of(store: &Store, id: &str) -> Vec<String> {
    let chain = store.response_chain(id, 100, Some(0)).await.unwrap();
    chain.exchanges.into_iter().map(|exchange| exchange.id).collect()
}

/// Rows in the tables above.
fn left(database: &Database) -> Option<[u64; 4]> {
    (!database.is_in_memory()).then(|| TABLES.map(|table| database.count(table)))
}

fn expect_left(database: &Database, expected: [u64; 4]) {
    assert_eq!(left(database).unwrap_or(expected), expected, "{TABLES:?}");
}

fn alone(database: &Database) {
    let store = database.open();
    block_on(async {
        chain(&store, &[("resp_1", 1)]).await;
        chain(&store, &[("resp_2", 1)]).await;
        expect_left(database, [2, 2, 2, 2]);
        assert!(store.delete_response("resp_1", NOW).await.unwrap());
        expect_left(database, [1, 1, 1, 1]);
        assert_eq!(find(&store, &[&key("resp_1")]).await, None);
        assert!(find(&store, &[&key("resp_2")]).await.is_some());
    });
}

fn followed(database: &Database) {
    let store = database.open();
    block_on(async {
        chain(&store, &[("resp_1", 1), ("resp_2", 2), ("resp_3", 3)]).await;
        let fork = follow(&store, &key("resp_2"), memory_of("p", "1", &["0", "1", "other"])).await;
        store.write_records(&records(response("resp_4", Some("resp_2"), 4), fork)).await.unwrap();
        for id in ["resp_1", "resp_2"] {
            assert!(store.delete_response(id, NOW).await.unwrap(), "{id}");
            assert!(!store.delete_response(id, NOW).await.unwrap(), "{id}");
            assert_eq!(store.response(id, 0).await.unwrap(), None, "{id}");
            assert_eq!(chain_of(&store, id).await, [""; 0]);
        }
        // Both branches can be continued; only the traces with content are deleted.
        expect_left(database, [4, 4, 4, 2]);
        assert_eq!(chain_of(&store, "resp_3").await, ["resp_1", "resp_2", "resp_3"]);
        assert_eq!(chain_of(&store, "resp_4").await, ["resp_1", "resp_2", "resp_4"]);
        assert_eq!(find(&store, &[&key("resp_3")]).await.unwrap().1, memory_of("p", "1", &["0", "1", "2"]));
        store.delete_response("resp_3", NOW).await.unwrap();
        assert_eq!(chain_of(&store, "resp_4").await, ["resp_1", "resp_2", "resp_4"]);
        assert_eq!(find(&store, &[&key("resp_4")]).await.unwrap().1, memory_of("p", "1", &["0", "1", "other"]));
        store.delete_response("resp_4", NOW).await.unwrap();
    });
    expect_left(database, [0, 0, 0, 0]);
}

/// Another process deletes the previous response between its read and the write of the next one.
fn base_gone(database: &Database) {
    let store = database.open();
    let other = if database.is_in_memory() { store.clone() } else { database.open() };
    block_on(async {
        chain(&store, &[("resp_1", 1)]).await;
        let next = follow(&store, &key("resp_1"), memory_of("p", "2", &["0", "1"])).await;
        other.delete_response("resp_1", NOW).await.unwrap();
        let refused = store.write_records(&records(response("resp_2", Some("resp_1"), 2), next)).await;
        assert_eq!(refused, Err(StoreError::BaseGone("resp_1".to_owned())));
    });
    expect_left(database, [0, 0, 0, 0]);
}

/// The same for a history of Chat Completions, which has no previous response.
fn chain_gone(database: &Database) {
    let store = database.open();
    let other = if database.is_in_memory() { store.clone() } else { database.open() };
    let keep = |key: &str, at, memory| {
        let new = new_snapshot(key, at, memory);
        TurnRecords { snapshot: Some(new), ..TurnRecords::default() }
    };
    block_on(async {
        store.write_records(&keep("a", 1, memory_of("p", "1", &["0"]))).await.unwrap();
        let next = follow(&store, "a", memory_of("p", "2", &["0", "1"])).await;
        let old = Retention { snapshots: Some(1), ..Retention::default() };
        assert_eq!(other.prune(&old, NOW).await.unwrap().snapshots, 1);
        store.write_records(&keep("b", NOW, next)).await.unwrap();
        assert_eq!(find(&store, &["b"]).await.unwrap().1, memory_of("p", "2", &["0", "1"]));
    });
    expect_left(database, [0, 1, 1, 0]);
}

fn thirty_days() -> Retention {
    Retention { responses: Some(30), ..Retention::default() }
}

fn kept_by_followers(database: &Database) {
    let store = database.open();
    block_on(async {
        let old = NOW - 40 * DAY;
        chain(&store, &[("resp_1", old), ("resp_2", old + 1), ("resp_3", NOW - DAY)]).await;
        chain(&store, &[("resp_5", old), ("resp_6", old + 1)]).await;
        assert_eq!(store.prune(&thirty_days(), NOW).await.unwrap().responses, 2);
        assert_eq!(chain_of(&store, "resp_3").await, ["resp_1", "resp_2", "resp_3"]);
        expect_left(database, [3, 3, 3, 3]);
        assert_eq!(store.prune(&thirty_days(), NOW + 30 * DAY).await.unwrap().responses, 3);
    });
    expect_left(database, [0, 0, 0, 0]);
}

fn by_age_of_response(database: &Database) {
    let store = database.open();
    block_on(async {
        chain(&store, &[("resp_1", NOW - 10 * DAY)]).await;
        let histories = Retention { snapshots: Some(1), ..thirty_days() };
        assert_eq!(store.prune(&histories, NOW).await.unwrap().snapshots, 0);
        assert!(find(&store, &[&key("resp_1")]).await.is_some());
        assert_eq!(store.prune(&thirty_days(), NOW + 30 * DAY).await.unwrap().responses, 1);
    });
    expect_left(database, [0, 0, 0, 0]);
}

/// More than fit into a batch.
fn long_chain(database: &Database) {
    let store = database.open();
    block_on(async {
        for number in 0..250 {
            let previous = (number > 0).then(|| format!("resp_{}", number - 1));
            let next = response(&format!("resp_{number}"), previous.as_deref(), number);
            store.write_records(&TurnRecords { response: Some(next), ..TurnRecords::default() }).await.unwrap();
            let single = response(&format!("single_{number}"), None, number);
            store.write_records(&TurnRecords { response: Some(single), ..TurnRecords::default() }).await.unwrap();
        }
        assert_eq!(store.prune(&thirty_days(), NOW).await.unwrap().responses, 500);
    });
}

fn conversation(database: &Database) {
    let store = database.open();
    block_on(async {
        for id in ["conv_1", "conv_2"] {
            store.create_conversation(new(id, 1)).await.unwrap();
            let turn = store.begin_turn(id, WAIT).await.unwrap();
            let kept = response_in(id, response(&id.replace("conv", "resp"), None, 1));
            let words = Trace { id: format!("words of {id}"), content_of: Some(id.to_owned()), ..trace(0, 1) };
            let records = TurnRecords { response: Some(kept), trace: Some(words), ..TurnRecords::default() };
            let write = TurnWrite { items: new_items(0..2), records, ..TurnWrite::default() };
            turn.finish(write).await.unwrap();
        }
        store.write_records(&TurnRecords { trace: Some(trace(1, 1)), ..TurnRecords::default() }).await.unwrap();
        store.delete_conversation("conv_1").await.unwrap();
        assert_eq!(store.response("resp_1", 0).await.unwrap(), None);
        assert!(store.response("resp_2", 0).await.unwrap().is_some());
    });
    expect_left(database, [1, 0, 0, 2]);
}

fn replaced(database: &Database) {
    let store = database.open();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = store.clone();
            scope.spawn(move || {
                for turn in 0..25 {
                    let new = new_snapshot("a", 0, memory_of("p", "1", &[&format!("{thread} {turn}")]));
                    block_on(store.write_records(&TurnRecords { snapshot: Some(new), ..TurnRecords::default() }))
                        .unwrap();
                }
            });
        }
    });
    expect_left(database, [0, 1, 1, 0]);
}
