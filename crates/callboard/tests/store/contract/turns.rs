//! Turns: one at a time, written atomically.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use callboard::store::{Count, ItemPage, Store, StoreError, Turn, TurnRecords, TurnWrite};

use super::conversations::{new, new_items};
use super::journal::{made, replayed};
use super::memory_after_calls::memory_after;
use super::records::response;
use super::run::Promise;
use crate::databases::{Database, LEASE, block_on};

pub(crate) const WAIT: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(50);

pub(super) const PROMISES: &[Promise] = &[
    ("a turn whose client disconnected is written before the next one begins", interrupted),
    ("a turn whose client disconnected is written before it is read", read_after_interruption),
    ("a process that is alone does not wait for leases of dead processes", alone_in_a_file),
    ("a turn whose client disconnects during its last write is written before the next one", interrupted_at_end),
    ("an entry that is not the next of its journal is refused", entries_out_of_turn),
    ("a second turn waits, and fails after its timeout", one_at_a_time),
    ("a turn of another process waits too", two_processes),
    ("a turn that is dropped writes nothing and blocks no other", dropped),
    ("a turn of a conversation that does not exist is refused", not_found),
    ("a turn whose conversation was deleted writes nothing at all", deleted_in_flight),
    ("a lease of a dead process expires", dead_process),
    ("a lease that ends later than any new lease could is ignored", clock_set_back),
    ("a turn that lost its lease is refused, and nothing of it is stored", lost_lease),
    ("a long turn keeps its lease", long_turn),
    ("a lease ends with the turn that is written", written_lease),
    ("turns from many threads and runtimes are all written, in order", many_threads),
];

fn write(ids: std::ops::Range<usize>) -> TurnWrite {
    TurnWrite { at: 2, items: new_items(ids), ..TurnWrite::default() }
}

async fn ids(store: &Store, conversation: &str) -> Vec<String> {
    let page = ItemPage { after: None, descending: false, limit: 10_000 };
    store.items(conversation, page).await.unwrap().into_iter().map(|item| item.id).collect()
}

fn one_at_a_time(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        store.create_conversation(new("conv_2", 1)).await.unwrap();
        let first = store.begin_turn("conv_1", WAIT).await.unwrap();
        let busy = store.begin_turn("conv_1", SHORT).await.unwrap_err();
        assert_eq!(busy, StoreError::Busy { conversation: "conv_1".to_owned(), waited: SHORT });
        drop(store.begin_turn("conv_2", SHORT).await.unwrap());
        let finished = async { first.finish(write(0..1)).await.unwrap() };
        let (_, second) = tokio::join!(finished, store.begin_turn("conv_1", WAIT));
        let second = second.unwrap();
        assert_eq!(second.head().conversation.version, 1);
        second.finish(write(1..2)).await.unwrap();
        assert_eq!(ids(&store, "conv_1").await, ["item_0", "item_1"]);
    });
}

fn two_processes(database: &Database) {
    if database.is_in_memory() {
        return;
    }
    let (here, there) = (database.open(), database.open());
    block_on(async {
        here.create_conversation(new("conv_1", 1)).await.unwrap();
        let first = here.begin_turn("conv_1", WAIT).await.unwrap();
        let busy = there.begin_turn("conv_1", SHORT).await.unwrap_err();
        assert_eq!(busy, StoreError::Busy { conversation: "conv_1".to_owned(), waited: SHORT });
        let finished = async { first.finish(write(0..1)).await.unwrap() };
        let (_, second) = tokio::join!(finished, there.begin_turn("conv_1", WAIT));
        let second = second.unwrap();
        assert_eq!(second.head().conversation.next_position, 1);
        second.finish(write(1..2)).await.unwrap();
        assert_eq!(ids(&here, "conv_1").await, ["item_0", "item_1"]);
    });
}

fn dropped(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        drop(store.begin_turn("conv_1", WAIT).await.unwrap());
        let next = store.begin_turn("conv_1", WAIT).await.unwrap();
        assert_eq!(next.head().conversation.version, 0);
        drop(next);
    });
    if !database.is_in_memory() {
        let other = database.open();
        block_on(async { drop(other.begin_turn("conv_1", WAIT).await.unwrap()) });
    }
}

fn not_found(database: &Database) {
    let store = database.open();
    let missing = block_on(store.begin_turn("conv_1", WAIT)).unwrap_err();
    assert_eq!(missing, StoreError::NotFound("conv_1".to_owned()));
}

fn full_write(turn: &Turn) -> TurnWrite {
    let response = response("resp_1", None, 0);
    let count = Count { day: 1, character: String::new(), model: "m".to_owned(), name: "turns".to_owned(), amount: 1 };
    TurnWrite {
        memory: memory_after(turn.head(), None, vec![made(1, r#"{"a":1}"#)]),
        records: TurnRecords { response: Some(response), counts: vec![count], ..TurnRecords::default() },
        ..write(0..2)
    }
}

/// Nothing of `full_write` is stored.
async fn assert_nothing(store: &Store) {
    assert_eq!(ids(store, "conv_1").await, [""; 0]);
    assert_eq!(store.journal("conv_1", 0, 10).await.unwrap(), []);
    assert_eq!(store.response("resp_1", 0).await.unwrap(), None);
    assert_eq!(store.counts(0).await.unwrap(), []);
}

fn deleted_in_flight(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        store.delete_conversation("conv_1").await.unwrap();
        let write = full_write(&turn);
        let refused = turn.finish(write).await;
        assert_eq!(refused.unwrap_err(), StoreError::Deleted("conv_1".to_owned()));
        assert_nothing(&store).await;
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        let write = full_write(&turn);
        turn.finish(write).await.unwrap();
        assert_eq!(ids(&store, "conv_1").await.len(), 2);
        assert_eq!(store.journal("conv_1", 0, 10).await.unwrap().len(), 1);
        assert!(store.response("resp_1", 0).await.unwrap().is_some());
        assert_eq!(store.counts(0).await.unwrap().len(), 1);
    });
}

fn dead_process(database: &Database) {
    if database.is_in_memory() {
        return;
    }
    let (store, _neighbour) = (database.open(), database.open());
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    let start = Instant::now();
    let end = lease_for(database, Duration::from_millis(400));
    drop(block_on(store.begin_turn("conv_1", WAIT)).unwrap());
    assert!(start.elapsed() < WAIT);
    assert!(SystemTime::now().duration_since(UNIX_EPOCH).unwrap() >= end - Duration::from_millis(1));
}

fn clock_set_back(database: &Database) {
    if database.is_in_memory() {
        return;
    }
    let (store, _neighbour) = (database.open(), database.open());
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    lease_for(database, LEASE * 50);
    drop(block_on(store.begin_turn("conv_1", LEASE)).unwrap());
}

/// A lease of another process that expires after this time.
fn lease_for(database: &Database, length: Duration) -> Duration {
    let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + length;
    let lease = format!("INSERT INTO turn_leases VALUES ('conv_1', 'dead', 'token', {}, 0)", end.as_millis());
    assert_eq!(database.execute(&lease), 1);
    end
}

/// File locks show which processes use an SQLite file.
fn alone_in_a_file(database: &Database) {
    if database.is_in_memory() || database.schema.is_some() {
        return;
    }
    let store = database.open();
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    lease_for(database, LEASE);
    let turn = block_on(store.begin_turn("conv_1", WAIT)).unwrap();
    let neighbour = database.open();
    let busy = block_on(neighbour.begin_turn("conv_1", Duration::from_millis(50)));
    assert!(matches!(busy, Err(StoreError::Busy { .. })));
    block_on(turn.finish(write(0..1))).unwrap();
    assert_eq!(block_on(ids(&store, "conv_1")), ["item_0"]);
}

fn lost_lease(database: &Database) {
    if database.is_in_memory() {
        return;
    }
    let (here, there) = (database.open(), database.open());
    block_on(here.create_conversation(new("conv_1", 1))).unwrap();
    let slow = block_on(here.begin_turn("conv_1", WAIT)).unwrap();
    assert_eq!(database.execute("DELETE FROM turn_leases"), 1);
    let quick = block_on(there.begin_turn("conv_1", WAIT)).unwrap();
    block_on(quick.finish(TurnWrite { at: 3, ..TurnWrite::default() })).unwrap();
    let write = full_write(&slow);
    let refused = block_on(slow.finish(write));
    assert_eq!(refused.unwrap_err(), StoreError::Conflict("conv_1".to_owned()));
    block_on(assert_nothing(&here));
}

/// The row of an ended lease blocks no turn.
fn written_lease(database: &Database) {
    if database.is_in_memory() {
        return;
    }
    let (here, there) = (database.open(), database.open());
    block_on(async {
        here.create_conversation(new("conv_1", 1)).await.unwrap();
        for (number, store) in (0..).zip([&here, &there, &here]) {
            let turn = store.begin_turn("conv_1", LEASE / 10).await.unwrap();
            turn.finish(write(number..number + 1)).await.unwrap();
            assert_eq!(database.count("turn_leases"), 1);
        }
    });
}

/// Another process waits for more than twice the duration of a lease, and does not get it.
fn long_turn(database: &Database) {
    if database.is_in_memory() {
        return;
    }
    let (here, there) = (database.open(), database.open());
    block_on(async {
        here.create_conversation(new("conv_1", 1)).await.unwrap();
        let turn = here.begin_turn("conv_1", WAIT).await.unwrap();
        assert!(matches!(there.begin_turn("conv_1", LEASE * 2 + SHORT).await, Err(StoreError::Busy { .. })));
        turn.finish(write(0..1)).await.unwrap();
    });
}

fn many_threads(database: &Database) {
    const THREADS: usize = 4;
    const TURNS: usize = 40;
    const CONVERSATIONS: usize = 3;
    let store = database.open();
    for number in 0..CONVERSATIONS {
        block_on(store.create_conversation(new(&format!("conv_{number}"), 1))).unwrap();
    }
    let clock = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, clock) = (store.clone(), &clock);
            scope.spawn(move || {
                block_on(async {
                    for turn in 0..TURNS {
                        let conversation = format!("conv_{}", (thread + turn) % CONVERSATIONS);
                        let playing = store.begin_turn(&conversation, WAIT).await.unwrap();
                        let time = clock.fetch_add(1, Ordering::SeqCst) as usize;
                        playing.finish(write(time..time + 1)).await.unwrap();
                    }
                });
            });
        }
    });
    let mut all = Vec::new();
    for number in 0..CONVERSATIONS {
        let ids = block_on(ids(&store, &format!("conv_{number}")));
        let times: Vec<usize> = ids.iter().map(|id| id.strip_prefix("item_").unwrap().parse().unwrap()).collect();
        assert!(times.is_sorted(), "{times:?}");
        all.extend(times);
    }
    all.sort_unstable();
    assert_eq!(all, (0..THREADS * TURNS).collect::<Vec<_>>());
}

fn interrupted(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        let next = store.begin_turn("conv_1", WAIT);
        let leave = async {
            let write = full_write(&turn);
            turn.finish_in_background(write).unwrap();
        };
        let (next, ()) = tokio::join!(next, leave);
        let next = next.unwrap();
        assert_eq!(next.head().state(), Some(r#"{"a":1}"#));
        next.finish(write(2..3)).await.unwrap();
        assert_eq!(ids(&store, "conv_1").await, ["item_0", "item_1", "item_2"]);
        assert_eq!(replayed(&store, "conv_1").await, r#"{"a":1}"#);
        assert!(store.response("resp_1", 0).await.unwrap().is_some());
    });
}

/// Each kind of read waits for the pending write of an interrupted turn.
fn read_after_interruption(database: &Database) {
    let store = database.open();
    block_on(async {
        for kind in 0..6 {
            let id = format!("conv_{kind}");
            store.create_conversation(new(&id, 1)).await.unwrap();
            let turn = store.begin_turn(&id, WAIT).await.unwrap();
            let write = full_write(&turn);
            turn.finish_in_background(write).unwrap();
            let found = match kind {
                0 => store.response("resp_1", 0).await.unwrap().is_some(),
                1 => store.conversation_head(&id).await.unwrap().is_some_and(|head| head.state().is_some()),
                2 => ids(&store, &id).await.len() == 2,
                3 => store.item(&id, "item_0").await.unwrap().is_some(),
                4 => store.journal(&id, 0, 10).await.unwrap().len() == 1,
                _ => store.conversation(&id).await.unwrap().is_some_and(|found| found.version > 0),
            };
            assert!(found, "kind {kind}");
        }
    });
}

/// The wait for the last write may be dropped while it is in flight.
fn interrupted_at_end(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        let write = full_write(&turn);
        tokio::select! {
            biased;
            _ = turn.finish(write) => {}
            () = std::future::ready(()) => {}
        }
        let next = store.begin_turn("conv_1", WAIT).await.unwrap();
        assert_eq!(next.head().state(), Some(r#"{"a":1}"#));
        next.finish(TurnWrite { at: 3, ..TurnWrite::default() }).await.unwrap();
    });
}

fn entries_out_of_turn(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        let late = full_write(&turn);
        turn.finish(late.clone()).await.unwrap();
        let again = store.begin_turn("conv_1", WAIT).await.unwrap();
        let refused = again.finish(TurnWrite { memory: late.memory, ..TurnWrite::default() }).await;
        assert_eq!(refused.unwrap_err(), StoreError::Conflict("conv_1".to_owned()));
        assert_eq!(store.journal("conv_1", 0, 10).await.unwrap().len(), 1);
    });
}
