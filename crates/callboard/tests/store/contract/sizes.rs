//! The size limit of histories.

use callboard::store::{Conversation, NewItem, Store, StoreError, TurnWrite};

use super::conversations::new;
use super::histories::{follow, keep, memory_of};
use super::records::{put, response};
use super::run::Promise;
use super::turns::WAIT;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("a conversation counts the bytes of its items", counted),
    ("a conversation over the limit cannot be continued until items are deleted", conversation),
    ("a chain is read up to the limit of a history", chain),
    ("a history over the limit is refused before it is read", history),
];

const LIMIT: u64 = 1000;

fn item(id: usize, bytes: usize) -> NewItem {
    NewItem { id: format!("item_{id}"), body: format!("\"{}\"", "é".repeat((bytes - 2) / 2)) }
}

async fn add(store: &Store, items: Vec<NewItem>) -> Conversation {
    let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
    turn.finish(TurnWrite { items, ..TurnWrite::default() }).await.unwrap().conversation
}

fn counted(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let known = add(&store, vec![item(1, 100), item(2, 300)]).await;
        assert_eq!(known.bytes, 400);
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        // Deleted while a turn runs.
        assert!(store.delete_item("conv_1", "item_1").await.unwrap());
        assert!(!store.delete_item("conv_1", "item_1").await.unwrap());
        turn.finish(TurnWrite { items: vec![item(3, 50)], ..TurnWrite::default() }).await.unwrap();
        assert_eq!(store.conversation("conv_1").await.unwrap().unwrap().bytes, 350);
    });
}

fn conversation(database: &Database) {
    let store = database.open_with(LIMIT);
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        add(&store, vec![item(1, 400), item(2, 600)]).await;
        let (turn, items) = store.begin_turn_with_items("conv_1", WAIT).await.unwrap();
        assert_eq!(items, format!("[{},{}]", item(1, 400).body, item(2, 600).body));
        let too_large = |bytes| StoreError::TooLarge { history: "conv_1".to_owned(), bytes, limit: LIMIT };
        assert_eq!(turn.check_room(&[]), Ok(()));
        assert_eq!(turn.check_room(&[item(3, 10)]), Err(too_large(1010)));
        // The items of a turn are written even beyond the limit.
        turn.finish(TurnWrite { items: vec![item(3, 10)], ..TurnWrite::default() }).await.unwrap();
        let refused = store.begin_turn_with_items("conv_1", WAIT).await.map(drop);
        assert_eq!(refused, Err(too_large(1010)));
        store.delete_item("conv_1", "item_3").await.unwrap();
        assert!(store.begin_turn_with_items("conv_1", WAIT).await.is_ok());
    });
}

fn chain(database: &Database) {
    let store = database.open_with(LIMIT);
    block_on(async {
        for number in 0..6_i64 {
            let previous = (number > 0).then(|| format!("resp_{}", number - 1));
            let mut next = response(&format!("resp_{number}"), previous.as_deref(), number);
            (next.exchange.input, next.exchange.output) =
                (format!("[\"{}\"]", "x".repeat(196)), format!("[\"{}\"]", "y".repeat(196)));
            next.body = "x".repeat(5000);
            put(&store, next).await;
        }
        let read = async |id: &str, most| {
            let chain = store.response_chain(id, most, Some(0)).await.unwrap();
            chain.exchanges.into_iter().map(|exchange| exchange.id).collect::<Vec<_>>()
        };
        // The third one exceeds the limit, so it is the last.
        assert_eq!(read("resp_5", 100).await, ["resp_3", "resp_4", "resp_5"]);
        assert_eq!(read("resp_2", 100).await, ["resp_0", "resp_1", "resp_2"]);
        assert_eq!(read("resp_1", 100).await, ["resp_0", "resp_1"]);
        assert_eq!(read("resp_5", 2).await, ["resp_4", "resp_5"]);
    });
}

fn history(database: &Database) {
    let store = database.open_with(LIMIT);
    let words = "x".repeat(300);
    block_on(async {
        keep(&store, "key 0", Some("name"), 1, memory_of("p", "0", &[&words])).await;
        let mut messages = vec![words.as_str()];
        for number in 0..3 {
            let found = store.find_snapshot(&[format!("key {number}")], |_, _| true).await;
            if number == 2 {
                let named = store.named_snapshot("name").await.map(drop);
                for refused in [found.map(drop), named] {
                    assert!(
                        matches!(refused, Err(StoreError::TooLarge { bytes: 1001.., limit: LIMIT, .. })),
                        "{refused:?}"
                    );
                }
                return;
            }
            messages.push(&words);
            let next = follow(&store, &format!("key {number}"), memory_of("p", "0", &messages)).await;
            keep(&store, &format!("key {}", number + 1), Some("name"), 1, next).await;
        }
    });
}
