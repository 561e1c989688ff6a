//! Concurrent turns and deletions on PostgreSQL: the second waits for the first, and no write is partial.
//!
//! A third transaction locks a row that the first one needs for its last statement, so the first one is still open when the
//! second one begins.

use std::pin::Pin;

use callboard::store::{Pruned, Retention, Store, StoreError, TurnRecords};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Error, NoTls};

use crate::contract::{find, follow, keep, memory_of, new_snapshot, records, response, trace};
use crate::databases::{Database, Kind, block_on};

const DAY: i64 = 24 * 60 * 60 * 1000;
const NOW: i64 = 100 * DAY;
const FIRST: &str = "resp_1/bard";
const SECOND: &str = "resp_2/bard";

pub(crate) fn run(kind: &Kind) {
    type Scene = fn(&Database, &Store);
    let scenes: [Scene; 5] = [
        deleted_while_followed,
        pruned_while_followed,
        followed_while_deleted,
        continued_while_pruned,
        pruned_while_continued,
    ];
    for scene in scenes {
        let database = Database::new(kind);
        scene(&database, &database.open());
    }
}

/// A transaction that locks a row until it is rolled back.
struct RowLock {
    runtime: Runtime,
    client: Client,
    wire: Pin<Box<dyn Future<Output = Result<(), Error>>>>,
}

impl RowLock {
    fn new(database: &Database, sql: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (client, wire) = runtime.block_on(tokio_postgres::connect(&database.address, NoTls)).unwrap();
        let mut row_lock = Self { runtime, client, wire: Box::pin(wire) };
        row_lock.execute(&format!("BEGIN; {sql}"));
        row_lock
    }

    fn release(mut self) {
        self.execute("ROLLBACK");
    }

    fn execute(&mut self, sql: &str) {
        let done = self.runtime.block_on(async {
            tokio::select! {
                done = self.client.batch_execute(sql) => done,
                ended = &mut self.wire => ended,
            }
        });
        done.unwrap();
    }
}

/// Runs both: the second one begins when the first one waits for the lock, which is released when the second one waits or is
/// done.
fn race<A: Send, B: Send>(
    database: &Database,
    row_lock: RowLock,
    first: impl Future<Output = A> + Send,
    second: impl Future<Output = B> + Send,
) -> (A, B) {
    let waiting = || {
        let name = database.schema.as_ref().unwrap();
        database.count(&format!("pg_stat_activity WHERE application_name = '{name}' AND wait_event_type = 'Lock'"))
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| block_on(first));
        while waiting() < 1 && !first.is_finished() {}
        assert!(!first.is_finished(), "the first one was not blocked");
        let second = scope.spawn(|| block_on(second));
        while waiting() < 2 && !second.is_finished() {}
        row_lock.release();
        (first.join().unwrap(), second.join().unwrap())
    })
}

/// Stores a response and returns its follower, to be written.
async fn follower(store: &Store) -> TurnRecords {
    store.write_records(&records(response("resp_1", None, 1), memory_of("p", "1", &["0"]))).await.unwrap();
    let next = follow(store, FIRST, memory_of("p", "2", &["0", "1"])).await;
    records(response("resp_2", Some("resp_1"), NOW), next)
}

/// Blocks the last statement of the second response.
const BLOCK_LAST_STATEMENT: &str = "INSERT INTO traces (id, created_at, body) VALUES ('trace of resp_2', 0, '{}')";

async fn is_whole(store: &Store) {
    let chain = store.response_chain("resp_2", 9, Some(0)).await.unwrap();
    assert_eq!(chain.exchanges.iter().map(|exchange| exchange.id.as_str()).collect::<Vec<_>>(), ["resp_1", "resp_2"]);
    assert_eq!(find(store, &[SECOND]).await.unwrap().1, memory_of("p", "2", &["0", "1"]));
}

fn deleted_while_followed(database: &Database, store: &Store) {
    let written = block_on(follower(store));
    let row_lock = RowLock::new(database, BLOCK_LAST_STATEMENT);
    let (kept, deleted) = race(database, row_lock, store.write_records(&written), store.delete_response("resp_1", NOW));
    assert_eq!((kept, deleted), (Ok(()), Ok(true)));
    block_on(is_whole(store));
}

fn pruned_while_followed(database: &Database, store: &Store) {
    let written = block_on(follower(store));
    let row_lock = RowLock::new(database, BLOCK_LAST_STATEMENT);
    let retention = Retention { responses: Some(1), snapshots: Some(1), ..Retention::default() };
    let (kept, pruned) = race(database, row_lock, store.write_records(&written), store.prune(&retention, NOW));
    assert_eq!((kept, pruned), (Ok(()), Ok(Pruned::default())));
    block_on(is_whole(store));
}

fn followed_while_deleted(database: &Database, store: &Store) {
    let written = block_on(follower(store));
    let row_lock = RowLock::new(database, "SELECT id FROM traces WHERE id = 'trace of resp_1' FOR UPDATE");
    let (deleted, kept) = race(database, row_lock, store.delete_response("resp_1", NOW), store.write_records(&written));
    assert_eq!((deleted, kept), (Ok(true), Err(StoreError::BaseGone("resp_1".to_owned()))));
    for table in ["responses", "snapshots", "chain_parts", "traces"] {
        assert_eq!(database.count(table), 0, "{table}");
    }
}

/// Stores the first part of a history of Chat Completions and returns the second, to be written.
async fn history(store: &Store) -> TurnRecords {
    keep(store, "a", Some("game"), 1, memory_of("p", "1", &["0"])).await;
    let next = follow(store, "a", memory_of("p", "2", &["0", "1"])).await;
    let new = new_snapshot("b", NOW, next);
    TurnRecords { snapshot: Some(new), trace: Some(trace(2, NOW)), ..TurnRecords::default() }
}

fn old_histories() -> Retention {
    Retention { snapshots: Some(1), ..Retention::default() }
}

fn continued_while_pruned(database: &Database, store: &Store) {
    let written = block_on(history(store));
    let row_lock = RowLock::new(database, "INSERT INTO traces (id, created_at, body) VALUES ('trace_2', 0, '{}')");
    let retention = old_histories();
    let (kept, pruned) = race(database, row_lock, store.write_records(&written), store.prune(&retention, NOW));
    assert_eq!((kept, pruned.map(|pruned| pruned.snapshots)), (Ok(()), Ok(1)));
    assert_eq!(block_on(find(store, &["b"])).unwrap().1, memory_of("p", "2", &["0", "1"]));
}

fn pruned_while_continued(database: &Database, store: &Store) {
    let written = block_on(history(store));
    let row_lock = RowLock::new(database, "SELECT name FROM named_snapshots FOR UPDATE");
    let retention = old_histories();
    let (pruned, kept) = race(database, row_lock, store.prune(&retention, NOW), store.write_records(&written));
    assert_eq!((kept, pruned.map(|pruned| pruned.snapshots)), (Ok(()), Ok(1)));
    assert_eq!(block_on(find(store, &["b"])).unwrap().1, memory_of("p", "2", &["0", "1"]));
    assert_eq!(database.count("chain_parts"), 1);
}
