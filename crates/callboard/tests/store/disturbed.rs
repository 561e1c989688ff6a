//! A PostgreSQL that is lost, hangs, is full or refuses to write: callers get the true outcome, and the store recovers by itself.

use std::time::{Duration, Instant};

use callboard::store::{Address, ItemPage, NewItem, Store, StoreError, StoreSettings, Trace, TurnRecords, TurnWrite};
use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::cluster::{Server, new_name};
use crate::contract::{WAIT, new, response};
use crate::databases::{Database, Kind, block_on, runtime};
use crate::proxy::{Fault, Proxy};

fn open(address: &str) -> Store {
    open_with(address, |settings| settings.job_timeout = Duration::from_secs(3)).unwrap()
}

fn open_with(address: &str, change: impl FnOnce(&mut StoreSettings)) -> Result<Store, StoreError> {
    let mut settings = StoreSettings::new(new_name("instance"));
    change(&mut settings);
    Store::open(&Address::read(address)?, settings)
}

/// Plays a turn that appends an item.
async fn play(store: &Store, id: &str) -> Result<(), StoreError> {
    let turn = store.begin_turn("conv_1", WAIT).await?;
    let items = vec![NewItem { id: id.to_owned(), body: "{}".to_owned() }];
    turn.finish(TurnWrite { items, ..TurnWrite::default() }).await.map(drop)
}

/// Plays a turn that appends an item and leaves a response behind; something happens before it is written.
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
fn a_commit_whose_answer_is_lost_is_told_as_what_it_was() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let proxy = Proxy::before(&database.address);
    let store = open(&proxy.address);
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        play(&store, "item_1").await.unwrap();
        // The lease is taken with a COMMIT of its own, so the fault comes in between.
        for (fault, id, expected) in [
            (Fault::LoseAnswer, "item_2", "made"),
            (Fault::LoseCommit, "item_3", "not made"),
            (Fault::KeepAnswer, "item_4", "made"),
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

/// A turn that leaves a response behind is one statement, and is tried until its outcome is known.
#[test]
fn a_turn_whose_answer_is_lost_is_made_once() {
    let database = Database::new(&Kind::Postgres(Server::start()));
    let proxy = Proxy::before(&database.address);
    let store = open(&proxy.address);
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        finish(&store, 0, async || proxy.set(Fault::None)).await.unwrap();
        for (number, fault, expected) in [
            (1, Fault::LoseTurn, "made"),
            (2, Fault::LoseTurnAnswer, "made"),
            (3, Fault::KeepTurnAnswer, "made"),
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

/// Another process wrote meanwhile: what the turn left behind tells whether it was written before.
#[test]
fn a_turn_whose_answer_is_lost_is_told_from_that_of_another() {
    let database = Database::new(&Kind::Postgres(Server::start()));
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

/// As when it is restarted: it says so, and the connection ends a little later.
#[test]
fn a_turn_that_the_server_ends_is_made_once() {
    let database = Database::new(&Kind::Postgres(Server::start()));
    let store = open_with(&database.address, |settings| settings.job_timeout = Duration::from_secs(30)).unwrap();
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    for number in 0..3 {
        let written = std::thread::scope(|scope| {
            let before = async || {
                scope.spawn(|| database.end_who_waits());
                scope.spawn(|| database.wait_until_held()).join().unwrap();
            };
            block_on(finish(&store, number, before))
        });
        assert_eq!(outcome_of(written), "made");
    }
    assert_eq!(block_on(items(&store)), ["item_0", "item_1", "item_2"]);
}

/// A response without a turn is one statement, and so is a lease.
#[test]
fn what_may_be_done_again_is_done_again_where_its_answer_is_lost() {
    let database = Database::new(&Kind::Postgres(Server::start()));
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
fn a_server_that_only_reads_for_a_while_is_written_to_again() {
    let server = Kind::Postgres(Server::start_own(&[]));
    let database = Database::new(&server);
    let store = open(&database.address);
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    database.execute("ALTER DATABASE postgres SET default_transaction_read_only = on");
    database.end_connections();
    // As many connections as there can be learn that they may only read.
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
fn a_server_that_hangs_keeps_nobody_longer_than_the_time_that_is_set() {
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
        let looks = (0..40).map(|_| store.conversation("conv_1"));
        for look in futures_util::future::join_all(looks).await {
            assert!(matches!(look, Err(StoreError::Unavailable(_))), "{look:?}");
        }
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        proxy.set(Fault::None);
        // Connections that are being opened since the time of silence must be given up first.
        while store.conversation("conv_1").await.is_err() {}
    });
}

#[test]
fn a_store_ends_though_its_server_hangs() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let proxy = Proxy::before(&database.address);
    let store = open_with(&proxy.address, |settings| settings.job_timeout = Duration::from_secs(12)).unwrap();
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    proxy.set(Fault::Hang);
    let trace =
        Trace { id: "t".to_owned(), conversation: None, created_at: 1, body: "{}".to_owned(), content_of: None };
    store.write_records_in_background(&TurnRecords { trace: Some(trace), ..TurnRecords::default() }).unwrap();
    let began = Instant::now();
    drop(store);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[test]
fn what_takes_connections_and_says_nothing_is_no_store() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("postgres://callboard@{}/postgres?connect_timeout=1", listener.local_addr().unwrap());
    let refused = open_with(&address, |_| {}).map(drop).unwrap_err();
    assert!(refused.to_string().contains("no PostgreSQL answered within 1s"), "{refused}");
}

#[test]
fn work_waits_for_an_open_connection_where_no_other_can_be_had() {
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

/// Until it has one, others do its work; when it serves no more, they do so again.
#[test]
fn a_thread_that_serves_has_connections_of_its_own_where_they_can_be_had() {
    let server = Kind::Postgres(Server::start());
    for (limit, most) in [(2, 2), (10, 6)] {
        let database = Database::new(&server);
        let guest = database.guest(&format!("CONNECTION LIMIT {limit}"), "USAGE, CREATE");
        let (store, runtime) = (open_with(&guest, for_one_thread).unwrap(), runtime());
        let (close, closed) = oneshot::channel::<()>();
        let (own, pool) = store.for_thread(closed.map(drop));
        let pool = runtime.spawn(pool);
        look_until(&own, &runtime, || database.connections() == most);
        drop(close);
        runtime.block_on(pool).unwrap();
        look_until(&own, &runtime, || database.connections() <= 2);
    }
}

#[test]
fn a_thread_whose_own_connections_are_held_up_leaves_its_work_to_others() {
    let database = Database::new(&Kind::Postgres(Server::start()));
    let (store, runtime) = (open_with(&database.address, for_one_thread).unwrap(), runtime());
    let (own, pool) = store.for_thread(std::future::pending());
    let _pool = runtime.spawn(pool);
    look_until(&own, &runtime, || database.connections() == 6);
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
        let look = tokio::time::timeout(Duration::from_secs(2), own.conversation("conv_1")).await;
        assert_eq!(look.expect("the query was not handed over"), Ok(None));
        client.batch_execute("COMMIT").await.unwrap();
        drop(client);
        for ended in tasks.join_all().await {
            ended.unwrap();
        }
    });
}

/// Four connections for a thread that serves, and two for all others.
fn for_one_thread(settings: &mut StoreSettings) {
    (settings.connections, settings.serving_threads) = (6, 1);
}

/// Looks, many times at once, until something holds.
fn look_until(store: &Store, runtime: &tokio::runtime::Runtime, holds: impl Fn() -> bool) {
    let held = (0..500).any(|_| {
        let looks = (0..20).map(|_| store.conversation("conv_1"));
        for looked in runtime.block_on(futures_util::future::join_all(looks)) {
            looked.unwrap();
        }
        holds()
    });
    assert!(held, "it does not hold after many looks");
}

#[test]
fn a_whole_database_is_used_without_the_right_to_change_it() {
    let server = Kind::Postgres(Server::start());
    let database = Database::new(&server);
    let guest = database.guest("", "USAGE");
    let store = open(&guest);
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        play(&store, "item_1").await.unwrap();
    });
}
