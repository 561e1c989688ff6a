//! Pruning of old rows.

use callboard::store::{ItemPage, Pruned, Response, Retention, Trace, TurnRecords, TurnWrite};

use super::conversations::{new, new_items};
use super::histories::{find, keep, memory_of};
use super::records::{put, response, trace};
use super::run::Promise;
use super::turns::WAIT;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("nothing is pruned without a retention", nothing),
    ("old rows are pruned, and all that belongs to them", by_age),
    ("a conversation is not pruned while a turn of it runs", playing),
    ("leases of dead processes are pruned", leases),
    ("a file does not grow by repeated writes and pruning", same_size),
    ("old rows are pruned in batches", in_batches),
];

const DAY: i64 = 24 * 60 * 60 * 1000;
const NOW: i64 = 100 * DAY;

fn nothing(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 0)).await.unwrap();
        put(&store, response("resp_1", None, 0)).await;
        put(&store, Response { expires_at: Some(NOW - 1), ..response("resp_2", None, 0) }).await;
        let pruned = store.prune(&Retention::default(), NOW).await.unwrap();
        assert_eq!(pruned, Pruned { responses: 1, ..Pruned::default() });
        assert!(store.conversation("conv_1").await.unwrap().is_some());
        assert!(store.response("resp_1", 0).await.unwrap().is_some());
        assert_eq!(store.response("resp_2", 0).await.unwrap(), None);
    });
}

fn by_age(database: &Database) {
    let store = database.open();
    block_on(async {
        for (id, at) in [("conv_old", NOW - 8 * DAY), ("conv_new", NOW - 6 * DAY)] {
            store.create_conversation(new(id, at - DAY)).await.unwrap();
            let turn = store.begin_turn(id, WAIT).await.unwrap();
            turn.finish(TurnWrite { at, items: new_items(0..2), ..TurnWrite::default() }).await.unwrap();
            put(&store, response(&id.replace("conv", "resp"), None, at)).await;
        }
        keep(&store, "a", Some("game"), NOW - 8 * DAY, memory_of("p", "1", &["x"])).await;
        keep(&store, "b", None, NOW - 6 * DAY, memory_of("p", "2", &["y"])).await;
        store
            .write_records(&TurnRecords { trace: Some(trace(1, NOW - 8 * DAY)), ..TurnRecords::default() })
            .await
            .unwrap();
        let all = Retention {
            conversations: Some(7),
            responses: Some(7),
            snapshots: Some(7),
            traces: Some(7),
            findings: Some(7),
        };
        let pruned = store.prune(&all, NOW).await.unwrap();
        assert_eq!(pruned, Pruned { conversations: 1, responses: 1, snapshots: 1, traces: 1 });
        let page = ItemPage { after: None, descending: false, limit: 9 };
        assert_eq!(store.conversation("conv_old").await.unwrap(), None);
        assert_eq!(store.items("conv_old", page).await.unwrap(), []);
        assert_eq!(store.items("conv_new", page).await.unwrap().len(), 2);
        assert_eq!(store.response("resp_old", 0).await.unwrap(), None);
        assert!(store.response("resp_new", 0).await.unwrap().is_some());
        assert_eq!(find(&store, &["a"]).await, None);
        assert_eq!(store.named_snapshot("game").await.unwrap(), None);
        assert!(find(&store, &["b"]).await.is_some());
        assert_eq!(store.prune(&all, NOW).await.unwrap(), Pruned::default());
    });
    if !database.is_in_memory() {
        assert_eq!(database.execute("DELETE FROM chain_parts"), 1);
    }
}

fn playing(database: &Database) {
    let store = database.open();
    let other = if database.is_in_memory() { store.clone() } else { database.open() };
    let all = Retention { conversations: Some(7), ..Retention::default() };
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        for store in [&store, &other] {
            assert_eq!(store.prune(&all, NOW).await.unwrap(), Pruned::default());
        }
        turn.finish(TurnWrite { at: NOW, items: new_items(0..1), ..TurnWrite::default() }).await.unwrap();
        assert_eq!(other.prune(&all, NOW + 8 * DAY).await.unwrap(), Pruned { conversations: 1, ..Pruned::default() });
    });
}

fn leases(database: &Database) {
    if database.is_in_memory() {
        return;
    }
    let store = database.open();
    database.execute("INSERT INTO turn_leases VALUES ('conv_1', 'instance', 'token', 1, 0)");
    block_on(store.prune(&Retention::default(), NOW)).unwrap();
    assert_eq!(database.count("turn_leases"), 0);
}

fn same_size(database: &Database) {
    let Some(pages) = database.pages() else { return };
    let store = database.open();
    let all = Retention { traces: Some(1), ..Retention::default() };
    let mut sizes = vec![pages];
    for _ in 0..4 {
        block_on(async {
            let large = |number| Trace { body: "x".repeat(20_000), ..trace(number, 1) };
            store.store_traces((0..200).map(large).collect(), Vec::new()).await.unwrap();
            assert_eq!(store.prune(&all, NOW).await.unwrap().traces, 200);
        });
        sizes.extend(database.pages());
    }
    let [_, first, .., last] = sizes[..] else { panic!("{sizes:?}") };
    assert!(first > 900 && last < first + 20, "{sizes:?}");
}

fn in_batches(database: &Database) {
    let store = database.open();
    block_on(async {
        for number in 0..250 {
            store
                .write_records(&TurnRecords { trace: Some(trace(number, number)), ..TurnRecords::default() })
                .await
                .unwrap();
        }
        let retention = Retention { traces: Some(1), ..Retention::default() };
        assert_eq!(store.prune(&retention, DAY + 247).await.unwrap(), Pruned { traces: 247, ..Pruned::default() });
        assert!(store.trace("trace_247").await.unwrap().is_some());
        assert_eq!(store.trace("trace_246").await.unwrap(), None);
    });
}
