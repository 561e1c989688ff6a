//! Values are read exactly as they were written.

use std::sync::Arc;

use callboard::store::{CharacterMemory, NewConversation, NewItem, NewSnapshot, TurnRecords, TurnWrite};
use callboard_core::journal::CallNote;

use super::conversations::new;
use super::histories::{find, memory_of};
use super::memory_after_calls::memory_after;
use super::records::{put, response};
use super::run::Promise;
use super::turns::WAIT;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("unusual text is read as written", unusual_text),
    ("digits and the order of keys are read as written", unusual_numbers),
    ("malformed ids match nothing", malformed_ids),
    ("a large turn is written like a small one", large),
];

const WORDS: &str = "quote ' \" ; -- \\ % _ $1 ?1 :a \u{0} \u{1f600} \u{202e} e\u{301} \r\n\t \u{feff}";

fn unusual_text(database: &Database) {
    let store = database.open();
    let json = serde_json::to_string(WORDS).unwrap();
    block_on(async {
        store.create_conversation(NewConversation { metadata: json.clone(), ..new("conv_1", 1) }).await.unwrap();
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        let call = CallNote { call_id: "call_1".to_owned(), result: WORDS.to_owned(), ..CallNote::default() };
        let mut memory = CharacterMemory::new(WORDS, WORDS.to_owned(), Some("{}".to_owned()));
        memory.record.change(call.clone(), json.clone());
        let write = TurnWrite {
            memory: Some(Arc::new(memory)),
            items: vec![NewItem { id: "item_1".to_owned(), body: json.clone() }],
            ..TurnWrite::default()
        };
        turn.finish(write).await.unwrap();
        let head = store.conversation_head("conv_1").await.unwrap().unwrap();
        assert_eq!((head.conversation.metadata.as_str(), head.state()), (json.as_str(), Some(json.as_str())));
        let memory = head.memory.unwrap();
        assert_eq!((memory.system_prompt.as_str(), memory.character.as_str()), (WORDS, WORDS));
        assert_eq!(store.journal("conv_1", 0, 9).await.unwrap()[0].call, call);
        assert_eq!(store.item("conv_1", "item_1").await.unwrap().unwrap().body, json);
        let snapshot = NewSnapshot {
            key: "key".to_owned(),
            at: 1,
            memory: Arc::new(memory_of(WORDS, &json, &["x"])),
            interrupted: Some(WORDS.to_owned()),
            ..NewSnapshot::default()
        };
        store.write_records(&TurnRecords { snapshot: Some(snapshot), ..TurnRecords::default() }).await.unwrap();
        assert_eq!(find(&store, &["key"]).await, Some((0, memory_of(WORDS, &json, &["x"]))));
        let found = store.find_snapshot(&["key".to_owned()], |_, _| true).await.unwrap().unwrap();
        assert_eq!(found.interrupted.as_deref(), Some(WORDS));
    });
}

fn unusual_numbers(database: &Database) {
    let store = database.open();
    let state = r#"{"z":1.0,"a":1e2,"n":123456789012345678901234567890.10,"m":-0,"0":[1E+2]}"#;
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        let memory = memory_after(turn.head(), None, vec![(CallNote::default(), state.to_owned())]);
        turn.finish(TurnWrite { memory, ..TurnWrite::default() }).await.unwrap();
        assert_eq!(store.conversation_head("conv_1").await.unwrap().unwrap().state(), Some(state));
        let replayed = super::journal::replayed(&store, "conv_1").await;
        let expected: serde_json::Value = serde_json::from_str(state).unwrap();
        assert_eq!(replayed, expected.to_string());
    });
}

fn malformed_ids(database: &Database) {
    let store = database.open();
    block_on(async {
        put(&store, response("resp_1", None, 1)).await;
        for id in ["", "\u{0}", "resp_1\u{0}", "resp_1'", "RESP_1", "resp_1 ", WORDS] {
            assert_eq!(store.response(id, 0).await.unwrap(), None, "{id:?}");
            assert_eq!(store.conversation(id).await.unwrap(), None, "{id:?}");
            assert!(store.begin_turn(id, WAIT).await.is_err(), "{id:?}");
            assert!(!store.delete_response(id, 0).await.unwrap(), "{id:?}");
        }
        assert!(store.response("resp_1", 0).await.unwrap().is_some());
    });
}

fn large(database: &Database) {
    let store = database.open();
    block_on(async {
        store.create_conversation(new("conv_1", 1)).await.unwrap();
        let body = format!("\"{}\"", "x".repeat(1_000_000));
        let item = |number| NewItem { id: format!("item_{number}"), body: body.clone() };
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        let mut big = response("resp_1", None, 1);
        big.exchange.input = body.clone();
        let records = TurnRecords { response: Some(big), ..TurnRecords::default() };
        turn.finish(TurnWrite { items: (0..60).map(item).collect(), records, ..TurnWrite::default() }).await.unwrap();
        assert_eq!(store.item("conv_1", "item_59").await.unwrap().unwrap().body, body);
        assert_eq!(store.response("resp_1", 0).await.unwrap().unwrap().exchange.input, body);
    });
}
