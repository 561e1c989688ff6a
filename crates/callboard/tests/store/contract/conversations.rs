//! Conversations and their items.

use callboard::store::{Item, ItemPage, NewConversation, NewItem, Store, StoreError, TurnWrite};

use super::run::Promise;
use super::turns::WAIT;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("a conversation is created once, found, changed and deleted", one_conversation),
    ("items keep their order, page by page, both ways", items),
    ("a turn begins with all items in their order", all_items),
    ("items are found and deleted by id", one_item),
    ("a deleted conversation leaves nothing behind", deleted),
];

pub(crate) fn new(id: &str, at: i64) -> NewConversation {
    NewConversation { id: id.to_owned(), owner: "someone".to_owned(), at, metadata: "{}".to_owned() }
}

pub(super) fn new_items(ids: impl IntoIterator<Item = usize>) -> Vec<NewItem> {
    ids.into_iter().map(|id| NewItem { id: format!("item_{id}"), body: format!("{{\"n\":{id}}}") }).collect()
}

async fn write_items(store: &Store, conversation: &str, ids: std::ops::Range<usize>) {
    let turn = store.begin_turn(conversation, WAIT).await.unwrap();
    turn.finish(TurnWrite { at: 5, items: new_items(ids), ..TurnWrite::default() }).await.unwrap();
}

fn all_items(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let all = async || store.begin_turn_with_items("conv_1", WAIT).await.unwrap().1;
        assert_eq!(all().await, "[]");
        for ids in [0..1, 1..8, 8..10, 10..27] {
            write_items(&store, "conv_1", ids).await;
        }
        store.delete_item("conv_1", "item_2").await.unwrap();
        let left: Vec<String> = new_items([0, 1].into_iter().chain(3..27)).into_iter().map(|item| item.body).collect();
        assert_eq!(all().await, format!("[{}]", left.join(",")));
    });
}

fn one_conversation(database: &Database) {
    let store = database.open();
    block_on(async {
        assert_eq!(store.conversation("conv_1").await.unwrap(), None);
        store.create_conversation(new("conv_1", 7)).await.unwrap();
        let again = store.create_conversation(new("conv_1", 8)).await;
        assert_eq!(again, Err(StoreError::Exists("conv_1".to_owned())));
        let found = store.conversation("conv_1").await.unwrap().unwrap();
        assert_eq!(found.owner, "someone");
        assert_eq!((found.created_at, found.updated_at, found.version), (7, 7, 0));
        store.set_metadata("conv_1", r#"{"topic":"x"}"#.to_owned(), 9).await.unwrap();
        let found = store.conversation("conv_1").await.unwrap().unwrap();
        assert_eq!((found.metadata.as_str(), found.updated_at), (r#"{"topic":"x"}"#, 9));
        assert!(store.delete_conversation("conv_1").await.unwrap());
        assert!(!store.delete_conversation("conv_1").await.unwrap());
        let gone = store.set_metadata("conv_1", "{}".to_owned(), 9).await;
        assert_eq!(gone, Err(StoreError::NotFound("conv_1".to_owned())));
    });
}

fn items(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        store.create_conversation(new("conv_2", 1)).await.unwrap();
        write_items(&store, "conv_1", 0..3).await;
        write_items(&store, "conv_2", 9..10).await;
        write_items(&store, "conv_1", 3..5).await;
        let page = async |after, descending, limit| {
            let page = ItemPage { after, descending, limit };
            let items = store.items("conv_1", page).await.unwrap();
            items.into_iter().map(|item| (item.position, item.id)).collect::<Vec<_>>()
        };
        let named = |positions: &[i64]| positions.iter().map(|at| (*at, format!("item_{at}"))).collect::<Vec<_>>();
        assert_eq!(page(None, false, 100).await, named(&[0, 1, 2, 3, 4]));
        assert_eq!(page(Some(1), false, 2).await, named(&[2, 3]));
        assert_eq!(page(None, true, 2).await, named(&[4, 3]));
        assert_eq!(page(Some(3), true, 100).await, named(&[2, 1, 0]));
        assert_eq!(page(Some(4), false, 100).await, named(&[]));
    });
}

fn one_item(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        write_items(&store, "conv_1", 0..2).await;
        let item = Item { position: 1, id: "item_1".to_owned(), body: "{\"n\":1}".to_owned() };
        assert_eq!(store.item("conv_1", "item_1").await.unwrap(), Some(item));
        assert_eq!(store.item("conv_2", "item_1").await.unwrap(), None);
        assert!(store.delete_item("conv_1", "item_1").await.unwrap());
        assert!(!store.delete_item("conv_1", "item_1").await.unwrap());
        write_items(&store, "conv_1", 2..3).await;
        // A position is never reused.
        assert_eq!(store.item("conv_1", "item_2").await.unwrap().unwrap().position, 2);
    });
}

fn deleted(database: &Database) {
    let store = database.open();
    block_on(async {
        for _ in 0..2 {
            store.create_conversation(new("conv_1", 1)).await.unwrap();
            assert_eq!(store.conversation("conv_1").await.unwrap().unwrap().next_position, 0);
            write_items(&store, "conv_1", 0..2).await;
            let page = ItemPage { after: None, descending: false, limit: 10 };
            assert_eq!(store.items("conv_1", page).await.unwrap().len(), 2);
            store.delete_conversation("conv_1").await.unwrap();
            assert_eq!(store.items("conv_1", page).await.unwrap(), []);
        }
    });
}
