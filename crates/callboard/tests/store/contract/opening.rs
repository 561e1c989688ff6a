//! Opening and closing.

use callboard::store::StoreError;

use super::conversations::new;
use super::run::Promise;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("many processes open a new database at once", at_once),
    ("written rows are read after reopening", reopened),
    ("a database of a newer version is refused", newer),
    ("a database of the first version is brought up to date", older),
    ("connections that the server closed are opened again", lost_connections),
    ("a store can be opened, used and dropped inside a runtime", inside_a_runtime),
];

fn at_once(database: &Database) {
    std::thread::scope(|scope| {
        let opening: Vec<_> = (0..6).map(|_| scope.spawn(|| database.try_open())).collect();
        for opened in opening {
            let store = opened.join().unwrap().unwrap();
            block_on(store.check()).unwrap();
        }
    });
}

fn reopened(database: &Database) {
    if database.is_in_memory() {
        return;
    }
    let store = database.open();
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    drop(store);
    assert!(block_on(database.open().conversation("conv_1")).unwrap().is_some());
}

fn newer(database: &Database) {
    if database.is_in_memory() {
        return;
    }
    drop(database.open());
    database.execute("UPDATE callboard_schema SET version = version + 1");
    let refused = database.try_open().map(drop).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { .. }), "{refused}");
}

/// The sizes of its items are computed, and its rows get their owners.
fn older(database: &Database) {
    const FIRST: &str = include_str!("../../../src/store/migrations/001_tables.sql");
    const RESPONSE: &str = "resp_abcdefghijklmnopqrstuvwx";
    if database.is_in_memory() {
        return;
    }
    let rows = "INSERT INTO callboard_schema VALUES (1);
        INSERT INTO conversations VALUES ('conv_1', '', 'someone', 1, 1, '{}', 0, 2, 1);
        INSERT INTO items VALUES ('conv_1', 0, 'item_0', '\"é\"'), ('conv_1', 1, 'item_1', '{}');
        INSERT INTO responses VALUES ('RESPONSE', 'someone', NULL, NULL, 1, NULL, '{\"output\":[1],\"a\":2}', '[]');
        INSERT INTO chain_parts VALUES ('a', 0, '{\"messages\":[]}'), ('b', 0, '{\"messages\":[]}');
        INSERT INTO snapshots VALUES ('RESPONSE/bard', 'a', 1, NULL, NULL, 1), ('key', 'b', 1, NULL, NULL, 1);";
    let version = "CREATE TABLE callboard_schema (version BIGINT NOT NULL);";
    let unlogged = FIRST.replace("{unlogged}", "");
    database.execute_all(&format!("{version}\n{unlogged}\n{}", rows.replace("RESPONSE", RESPONSE)));
    let store = database.open();
    block_on(async {
        assert_eq!(store.conversation("conv_1").await.unwrap().unwrap().bytes, 6);
        let response = store.response(RESPONSE, 0).await.unwrap().unwrap();
        assert_eq!(
            (response.exchange.output.as_str(), response.to_text().unwrap().as_str()),
            ("[1]", r#"{"output":[1],"a":2}"#)
        );
        let chain = store.response_chain(RESPONSE, 9, None).await.unwrap();
        assert_eq!((chain.exchanges, chain.snapshot_key), (vec![response.exchange], Some(format!("{RESPONSE}/bard"))));
        assert!(store.delete_response(RESPONSE, 1).await.unwrap());
    });
    assert_eq!((database.count("snapshots"), database.count("chain_parts")), (1, 1));
    assert_eq!(database.count("snapshots WHERE history = 'key' AND bytes = 15"), 1);
}

fn inside_a_runtime(database: &Database) {
    block_on(async {
        let store = database.open();
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        assert!(store.conversation("conv_1").await.unwrap().is_some());
    });
}

fn lost_connections(database: &Database) {
    if database.schema.is_none() {
        return;
    }
    let store = database.open();
    block_on(store.create_conversation(new("conv_1", 1))).unwrap();
    database.terminate_connections();
    assert!(block_on(store.conversation("conv_1")).unwrap().is_some());
    block_on(store.create_conversation(new("conv_2", 1))).unwrap();
}
