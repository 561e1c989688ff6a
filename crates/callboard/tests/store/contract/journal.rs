//! State, journal and undo.

use callboard::store::{Store, TurnWrite, UndoFailure};
use callboard_core::journal::{CallNote, Target, UndoError, replay, with_inverses};
use serde_json::Value;

use super::conversations::new;
use super::memory_after_calls::{Made, memory_after};
use super::run::Promise;
use super::turns::WAIT;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("state and journal are written together, and the one is the replay of the other", written_together),
    ("a call that changes nothing leaves no entry", nothing_changed),
    ("the last calls are undone, and the undo is undone", undo_and_redo),
    ("one call alone is undone, unless a later one conflicts", single_undo),
    ("the journal is read page by page", pages),
];

pub(crate) fn made(number: usize, state: &str) -> Made {
    let call = CallNote {
        call_id: format!("call_{number}"),
        tool: "act".to_owned(),
        arguments: format!("{{\"n\":{number}}}"),
        result: format!("did {number}"),
        at: number as i64,
    };
    (call, state.to_owned())
}

/// The state after replaying the journal.
pub(crate) async fn replayed(store: &Store, conversation: &str) -> String {
    let memory = store.conversation_head(conversation).await.unwrap().unwrap().memory.unwrap_or_default();
    let initial: Value = serde_json::from_str(memory.record.initial().unwrap_or("{}")).unwrap();
    let entries = store.journal(conversation, 0, 100_000).await.unwrap();
    let sequences: Vec<u64> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(sequences, (1..=entries.len() as u64).collect::<Vec<_>>());
    replay(&initial, &entries).unwrap().to_string()
}

async fn state(store: &Store) -> String {
    let state = store.conversation_head("conv_1").await.unwrap().unwrap().state().unwrap().to_owned();
    assert_eq!(replayed(store, "conv_1").await, state);
    state
}

/// A conversation with these states, one call after the other.
async fn play(store: &Store, states: &[&str]) {
    store.create_conversation(new("conv_1", 1)).await.unwrap();
    let first = states.first().copied();
    let made = states.iter().enumerate().skip(1).map(|(number, state)| made(number, state)).collect();
    let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
    let memory = memory_after(turn.head(), first, made);
    turn.finish(TurnWrite { memory, ..TurnWrite::default() }).await.unwrap();
}

async fn undo(store: &Store, target: Target, id: &str) -> Result<String, UndoFailure> {
    let mut turn = store.begin_turn("conv_1", WAIT).await.unwrap();
    let note = CallNote { call_id: id.to_owned(), tool: "undo".to_owned(), at: 50, ..CallNote::default() };
    turn.undo(&target, note).await?;
    Ok(turn.head().state().unwrap().to_owned())
}

async fn undone_by(store: &Store) -> Vec<Option<u64>> {
    store.journal("conv_1", 0, 100).await.unwrap().into_iter().map(|entry| entry.undone_by).collect()
}

fn written_together(database: &Database) {
    let store = database.open();
    block_on(async {
        play(&store, &[r#"{"cp":1.0,"log":[]}"#, r#"{"cp":1,"log":["a"]}"#, r#"{"cp":0,"log":["a","b"]}"#]).await;
        assert_eq!(state(&store).await, r#"{"cp":0,"log":["a","b"]}"#);
        let memory = store.conversation_head("conv_1").await.unwrap().unwrap().memory.unwrap();
        assert_eq!(
            (memory.system_prompt.as_str(), memory.record.initial()),
            ("You are", Some(r#"{"cp":1.0,"log":[]}"#))
        );
        let entries = store.journal("conv_1", 0, 10).await.unwrap();
        assert_eq!(entries[1].call, made(2, "").0);
        assert_eq!(
            serde_json::to_string(&entries[0].patch).unwrap(),
            r#"[{"op":"replace","path":"/cp","value":1},{"op":"add","path":"/log/0","value":"a"}]"#
        );
        assert_eq!(
            serde_json::to_string(&with_inverses(memory.record.initial(), &entries).unwrap()[0].inverse).unwrap(),
            r#"[{"op":"replace","path":"/cp","value":1.0},{"op":"remove","path":"/log/0"}]"#
        );
    });
}

fn nothing_changed(database: &Database) {
    let store = database.open();
    block_on(async {
        play(&store, &[r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":2}"#]).await;
        assert_eq!(store.journal("conv_1", 0, 10).await.unwrap().len(), 1);
        assert_eq!(state(&store).await, r#"{"a":2}"#);
    });
}

fn undo_and_redo(database: &Database) {
    let store = database.open();
    block_on(async {
        play(&store, &["{}", r#"{"a":1}"#, r#"{"a":1,"b":2}"#, r#"{"a":1,"b":3}"#]).await;
        assert_eq!(undo(&store, Target::Last(2), "undo_1").await.unwrap(), r#"{"a":1}"#);
        assert_eq!(state(&store).await, r#"{"a":1}"#);
        assert_eq!(undone_by(&store).await, [None, Some(4), Some(4), None]);
        assert_eq!(undo(&store, Target::Cascade("undo_1".to_owned()), "undo_2").await.unwrap(), r#"{"a":1,"b":3}"#);
        assert_eq!(state(&store).await, r#"{"a":1,"b":3}"#);
        assert_eq!(undone_by(&store).await, [None, None, None, Some(5), None]);
        assert_eq!(undo(&store, Target::Cascade("call_1".to_owned()), "undo_3").await.unwrap(), "{}");
        assert_eq!(state(&store).await, "{}");
        assert_eq!(undone_by(&store).await, [Some(6), Some(6), Some(6), Some(5), None, None]);
        let refused = undo(&store, Target::Last(1), "undo_4").await.unwrap_err();
        assert_eq!(refused, UndoFailure::Refused(UndoError::TooMany { wanted: 1, there: 0 }));
        assert_eq!(undone_by(&store).await.len(), 6);
    });
}

fn single_undo(database: &Database) {
    let store = database.open();
    block_on(async {
        let states =
            [r#"{"cp":5,"vp":0,"log":[]}"#, r#"{"cp":4,"vp":0,"log":["x"]}"#, r#"{"cp":4,"vp":3,"log":["x","y"]}"#];
        play(&store, &states).await;
        let after = undo(&store, Target::Single("call_1".to_owned()), "undo_1").await.unwrap();
        assert_eq!(after, r#"{"cp":5,"vp":3,"log":["y"]}"#);
        assert_eq!(state(&store).await, after);
        let turn = store.begin_turn("conv_1", WAIT).await.unwrap();
        let memory = memory_after(turn.head(), None, vec![made(9, r#"{"cp":5,"vp":4,"log":["y"]}"#)]);
        turn.finish(TurnWrite { memory, ..TurnWrite::default() }).await.unwrap();
        let refused = undo(&store, Target::Single("call_2".to_owned()), "undo_2").await.unwrap_err();
        assert!(matches!(refused, UndoFailure::Refused(UndoError::Conflict { later: 4, .. })), "{refused}");
        assert_eq!(state(&store).await, r#"{"cp":5,"vp":4,"log":["y"]}"#);
    });
}

fn pages(database: &Database) {
    let store = database.open();
    block_on(async {
        play(&store, &["0", "1", "2", "3", "4"]).await;
        let page = async |after, limit| {
            let entries = store.journal("conv_1", after, limit).await.unwrap();
            entries.into_iter().map(|entry| entry.sequence).collect::<Vec<_>>()
        };
        assert_eq!(page(0, 2).await, [1, 2]);
        assert_eq!(page(2, 10).await, [3, 4]);
        assert_eq!(page(4, 10).await, [0; 0]);
    });
}
