//! PostgreSQL failures: lost connections, a hanging, full or read-only server. Callers get the true outcome; the store recovers.

use std::time::{Duration, Instant};

use callboard::store::{Address, ItemPage, NewItem, Store, StoreError, StoreSettings, Trace, TurnRecords, TurnWrite};
use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::contract::{WAIT, new, response};
use crate::databases::{Database, Kind, block_on, runtime};
use crate::proxy::{Fault, Proxy};
use crate::test_server::{Server, new_name};

fn open(address: &str) -> Store {
    open_with(address, |settings| settings.job_timeout = Duration::from_secs(3)).unwrap()
}

fn open_with(address: &str, change: impl FnOnce(&mut StoreSettings)) -> Result<Store, StoreError> {
    let mut settings = StoreSettings::new(new_name("instance"));
    change(&mut settings);
    Store::open(&Address::read(address)?, settings)
}

/// Runs a turn that appends an item.
async fn play(store: &Store, id: &str) -> Result<(), StoreError> {
    let turn = store.begin_turn("conv_1", WAIT).await?;
    let items = vec![NewItem { id: id.to_owned(), body: "{}".to_owned() }];
    turn.finish(TurnWrite { items, ..TurnWrite::default() }).await.map(drop)
}

/// Runs a turn that appends an item and stores a response; `before` runs before the write.
async fn finish(store: &Store, number: usize, before: impl AsyncFnOnce()) -> Result<(), StoreError> {
    let turn = store.begin_turn("conv_1", WAIT).await?;
    before().await;
    let items = vec![NewItem { id: format!("item_{number}"), body: "{}".to_owned() }];
    let records =
        TurnRecords { response: Some(response(&format!("resp_{number}"), None, 1)), ..TurnRecords::default() };
    turn.finish(TurnWrite { items, records, ..TurnWrite::default() }).await.map(drop)
}

fn outcome_of(written: Result<(), StoreError>) -> &'static str {
    match written {
        Ok(()) => "made",
        Err(StoreError::Unavailable(_)) => "not made",
        Err(StoreError::Unknown(_)) => "unknown",
        Err(StoreError::Conflict(_)) => "conflict",
        Err(other) => panic!("{other}"),
    }
}

async fn items(store: &Store) -> Vec<String> {
    let page = ItemPage { after: None, descending: false, limit: 100 };
    store.items("conv_1", page).await.unwrap().into_iter().map(|item| item.id).collect()
}

#[test]
fn the_outcome_of_a_commit_with_a_lost_answer_is_reported() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let proxy = Proxy::before(&database.address);
    let store = open(&proxy.address);
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        play(&store, "item_1").await.unwrap();
        // The lease is taken with its own COMMIT, so the fault is set after it.
        for (fault, id, expected) in [
            (Fault::LoseAnswer, "item_2", "made"),
            (Fault::LoseCommit, "item_3", "not made"),
            (Fault::WithholdAnswer, "item_4", "made"),
            (Fault::LoseAnswerAndRefuse, "item_5", "unknown"),
        ] {
            let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
            proxy.set(fault);
            let write = vec![NewItem { id: id.to_owned(), body: "{}".to_owned() }];
            let outcome = outcome_of(turn.finish(TurnWrite { items: write, ..TurnWrite::default() }).await.map(drop));
            assert_ne!(proxy.fault(), fault, "nothing was lost");
            assert_eq!(outcome, expected, "{fault:?}");
        }
        proxy.set(Fault::None);
        assert_eq!(items(&store).await, ["item_1", "item_2", "item_4", "item_5"]);
    });
}

/// After a crash, the id of a transaction that left nothing in the server's log is given to another one.
#[test]
fn a_transaction_that_a_crash_undid_is_not_reported_as_made() {
    let server = Kind::Postgres(Server::start_own(&["wal_writer_delay=10s"]));
    let database = Database::new(&server);
    let proxy = Proxy::before(&database.address);
    let store = open_with(&proxy.address, |settings| settings.job_timeout = Duration::from_secs(20)).unwrap();
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    let outcome = std::thread::scope(|scope| {
        let turn = block_on(store.begin_turn("conv_1", WAIT)).unwrap();
        proxy.set(Fault::LoseCommitAndRefuse);
        scope.spawn(|| {
            proxy.wait_for(Fault::Refuse);
            database.crash();
            for _ in 0..20 {
                database.execute("SELECT txid_current()");
            }
            proxy.set(Fault::None);
        });
        let items = vec![NewItem { id: "item_1".to_owned(), body: "{}".to_owned() }];
        outcome_of(block_on(turn.finish(TurnWrite { items, ..TurnWrite::default() })).map(drop))
    });
    assert_eq!(outcome, "unknown");
    assert_eq!(block_on(items(&store)), [""; 0]);
}

/// A turn that stores a response is one statement, and is resent until its outcome is known.
#[test]
fn a_turn_with_a_lost_answer_is_applied_once() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let proxy = Proxy::before(&database.address);
    let store = open(&proxy.address);
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        finish(&store, 0, async || proxy.set(Fault::None)).await.unwrap();
        for (number, fault, expected) in [
            (1, Fault::LoseTurn, "made"),
            (2, Fault::LoseTurnAnswer, "made"),
            (3, Fault::WithholdTurnAnswer, "made"),
            (4, Fault::LoseTurnAnswerAndRefuse, "unknown"),
        ] {
            let outcome = outcome_of(finish(&store, number, async || proxy.set(fault)).await);
            assert_ne!(proxy.fault(), fault, "nothing was lost");
            assert_eq!(outcome, expected, "{fault:?}");
            proxy.set(Fault::None);
        }
        assert_eq!(items(&store).await, ["item_0", "item_1", "item_2", "item_3", "item_4"]);
        assert_eq!(store.conversation("conv_1").await.unwrap().unwrap().version, 5);
    });
    assert_eq!(database.count("responses"), 5);
}

/// Another process wrote in between: the turn's response row proves whether it was written.
#[test]
fn a_turn_with_a_lost_answer_is_distinguished_from_another_write() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let proxy = Proxy::before(&database.address);
    let store = open_with(&proxy.address, |settings| settings.job_timeout = Duration::from_secs(30)).unwrap();
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    block_on(finish(&store, 0, async || {})).unwrap();
    for (number, fault, expected) in
        [(1, Fault::LoseTurnAndRefuse, "conflict"), (2, Fault::LoseTurnAnswerAndRefuse, "made")]
    {
        let written = std::thread::scope(|scope| {
            scope.spawn(|| {
                proxy.wait_for(Fault::Refuse);
                database.execute("UPDATE conversations SET version = version + 1, next_position = next_position + 1");
                proxy.set(Fault::None);
            });
            block_on(finish(&store, number, async || proxy.set(fault)))
        });
        assert_eq!(outcome_of(written), expected, "{fault:?}");
    }
    assert_eq!(block_on(items(&store)), ["item_0", "item_2"]);
}

/// As in a restart: the server announces the shutdown, and closes the connection later.
#[test]
fn a_turn_whose_connection_the_server_closes_is_applied_once() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let store = open_with(&database.address, |settings| settings.job_timeout = Duration::from_secs(30)).unwrap();
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    for number in 0..3 {
        let written = std::thread::scope(|scope| {
            let before = async || {
                scope.spawn(|| database.terminate_lock_waiter());
                scope.spawn(|| database.wait_until_locked()).join().unwrap();
            };
            block_on(finish(&store, number, before))
        });
        assert_eq!(outcome_of(written), "made");
    }
    assert_eq!(block_on(items(&store)), ["item_0", "item_1", "item_2"]);
}

/// A response without a turn is one statement, and so is a lease.
#[test]
fn idempotent_work_with_a_lost_answer_is_resent() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let proxy = Proxy::before(&database.address);
    let store = open(&proxy.address);
    let put = async |id: &str| {
        store.write_records(&TurnRecords { response: Some(response(id, None, 1)), ..TurnRecords::default() }).await
    };
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        put("resp_1").await.unwrap();
        proxy.set(Fault::LoseInsert);
        put("resp_2").await.unwrap();
        assert_eq!(proxy.fault(), Fault::None, "nothing was lost");
        proxy.set(Fault::LoseInsert);
        drop(store.begin_turn("conv_1", WAIT).await.unwrap());
        assert_eq!(proxy.fault(), Fault::None, "nothing was lost");
        proxy.set(Fault::LoseInsertAndRefuse);
        assert!(matches!(put("resp_3").await, Err(StoreError::Unavailable(_))));
        assert_eq!(proxy.fault(), Fault::Refuse, "nothing was lost");
    });
    assert_eq!(database.count("responses"), 3);
}

#[test]
fn writes_resume_after_a_server_was_read_only() {
    let server = Kind::Postgres(Server::start_own(&[]));
    let database = Database::new(&server);
    let store = open(&database.address);
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    database.execute("ALTER DATABASE postgres SET default_transaction_read_only = on");
    database.terminate_connections();
    // Opens all connections, all of them read-only.
    let refused = block_on(futures_util::future::join_all((0..16).map(|number| {
        let store = store.clone();
        async move { store.create_conversation(new(&format!("conv_1{number}"), 1)).await }
    })));
    for refused in refused {
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    }
    database.execute_writing("ALTER DATABASE postgres SET default_transaction_read_only = off");
    block_on(play(&store, "item_1")).unwrap();
}

#[test]
fn jobs_time_out_on_a_server_that_hangs() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let proxy = Proxy::before(&database.address);
    let store = open_with(&proxy.address, |settings| {
        settings.job_timeout = Duration::from_secs(1);
        settings.connections = 2;
    })
    .unwrap();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        proxy.set(Fault::Hang);
        let began = Instant::now();
        let queries = (0..400).map(|_| store.conversation("conv_1"));
        for result in futures_util::future::join_all(queries).await {
            assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
        }
        // One after the other on two connections they would take 200 s.
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
        proxy.set(Fault::None);
        // Connection attempts that began while the server hung must time out first.
        while store.conversation("conv_1").await.is_err() {}
    });
}

#[test]
fn a_store_closes_while_its_server_hangs() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let proxy = Proxy::before(&database.address);
    let store = open_with(&proxy.address, |settings| settings.job_timeout = Duration::from_secs(120)).unwrap();
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    proxy.set(Fault::Hang);
    let trace = Trace {
        id: "t".to_owned(),
        conversation: None,
        request_id: None,
        created_at: 1,
        body: "{}".to_owned(),
        content_of: None,
    };
    store.write_records_in_background(&TurnRecords { trace: Some(trace), ..TurnRecords::default() }).unwrap();
    let began = Instant::now();
    drop(store);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn a_silent_peer_is_not_accepted_as_a_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("postgres://callboard@{}/postgres?connect_timeout=1", listener.local_addr().unwrap());
    let refused = open_with(&address, |_| {}).map(drop).unwrap_err();
    assert!(refused.to_string().contains("no PostgreSQL answered within 1s"), "{refused}");
}

#[test]
fn jobs_wait_for_open_connections_when_no_more_can_be_opened() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let guest = database.guest("CONNECTION LIMIT 2", "USAGE, CREATE");
    let store = open(&guest);
    block_on(async {
        let made = (0..60).map(|number| {
            let store = store.clone();
            async move { store.create_conversation(new(&format!("conv_{number}"), 1)).await }
        });
        for made in futures_util::future::join_all(made).await {
            made.unwrap();
        }
    });
}

/// Before it has a connection and after it has closed, the shared pool runs its jobs.
#[test]
fn a_serving_thread_gets_its_own_connections() {
    let server = Kind::Postgres(Server::start());
    for (limit, most) in [(2, 2), (10, 6)] {
        let database = Database::new(&server);
        let guest = database.guest(&format!("CONNECTION LIMIT {limit}"), "USAGE, CREATE");
        let (store, runtime) = (open_with(&guest, for_one_thread).unwrap(), runtime());
        let (close, closed) = oneshot::channel::<()>();
        let (own, pool) = store.for_thread(closed.map(drop));
        let pool = runtime.spawn(pool);
        query_until(&own, &runtime, || database.connections() == most);
        drop(close);
        runtime.block_on(pool).unwrap();
        query_until(&own, &runtime, || database.connections() <= 2);
    }
}

#[test]
fn jobs_of_a_blocked_thread_pool_move_to_the_shared_pool() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let (store, runtime) = (open_with(&database.address, for_one_thread).unwrap(), runtime());
    let (own, pool) = store.for_thread(std::future::pending());
    let _pool = runtime.spawn(pool);
    query_until(&own, &runtime, || database.connections() == 6);
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        let (client, connection) = tokio_postgres::connect(&database.address, tokio_postgres::NoTls).await.unwrap();
        tasks.spawn(async { connection.await.map_err(|error| StoreError::Unavailable(error.to_string())) });
        client.batch_execute("BEGIN; LOCK TABLE responses").await.unwrap();
        let put = |number: usize| {
            let (store, put) = (own.clone(), Some(response(&format!("resp_{number}"), None, 1)));
            async move { store.write_records(&TurnRecords { response: put, ..TurnRecords::default() }).await }
        };
        for number in 0..4 {
            tasks.spawn(put(number));
        }
        tokio::task::yield_now().await;
        let result = tokio::time::timeout(Duration::from_secs(60), own.conversation("conv_1")).await;
        assert_eq!(result.expect("the query was not handed over"), Ok(None));
        client.batch_execute("COMMIT").await.unwrap();
        drop(client);
        for ended in tasks.join_all().await {
            ended.unwrap();
        }
    });
}

/// Four connections for a serving thread, and two shared ones.
fn for_one_thread(settings: &mut StoreSettings) {
    (settings.connections, settings.serving_threads) = (6, 1);
}

/// Runs many concurrent queries until a condition holds.
fn query_until(store: &Store, runtime: &tokio::runtime::Runtime, holds: impl Fn() -> bool) {
    let held = (0..500).any(|_| {
        let queries = (0..20).map(|_| store.conversation("conv_1"));
        for result in runtime.block_on(futures_util::future::join_all(queries)) {
            result.unwrap();
        }
        holds()
    });
    assert!(held, "the condition does not hold after many queries");
}

#[test]
fn a_migrated_database_needs_no_schema_privileges() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let guest = database.guest("", "USAGE");
    let store = open(&guest);
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        play(&store, "item_1").await.unwrap();
    });
}
