//! The journal of a character's state: differences lead there and back, and an undo restores exactly.

use callboard_core::journal::{CallNote, Entry, Patch, StateRecord, Target, UndoError, replay, with_inverses};
use serde_json::Value;

use super::fields::joined;
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "{\"a\":1}",
    "[1,2,3]",
    "{\"a/b\":{\"~\":[]}}",
    "\"-\"",
    "1.00",
    "1e400",
    "-0",
    "null",
    "{\"\":{\"0\":1}}",
    "[[],[[]]]",
];

/// More steps only make an input slower.
const MOST_STEPS: usize = 24;

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    let states: Vec<&[u8]> = golden.states.iter().map(|state| state.as_bytes()).collect();
    let pairs = states.windows(2).map(|pair| joined(&[pair, &[b"u1", b"s1"]].concat()));
    let values = golden.calls.windows(3).map(|calls| {
        let states: Vec<&[u8]> = calls.iter().map(|(_, arguments)| arguments.as_bytes()).collect();
        joined(&[&states, [b"s1".as_slice(), b"c2", b"u2"].as_slice()].concat())
    });
    pairs.chain(values).collect()
}

/// Fields: the first state, then steps: `uN` undoes the last N calls, `cN` and `sN` entry N with or without those after it, and
/// JSON is the state after a call.
pub(crate) fn run(data: &[u8]) {
    let mut steps = data.split(|byte| *byte == 0).take(MOST_STEPS);
    let Some(initial) = steps.next().and_then(state) else { return };
    let mut record = StateRecord::new(Some(initial.to_string()));
    for step in steps {
        match target(step) {
            Some(target) => undo(&mut record, &target),
            None => call(&mut record, step),
        }
    }
    check(&record);
}

fn state(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
}

fn target(step: &[u8]) -> Option<Target> {
    let (kind, number) = step.split_first()?;
    let number: u8 = std::str::from_utf8(number).ok()?.parse().ok()?;
    match kind {
        b'u' => Some(Target::Last(number.into())),
        b'c' => Some(Target::Cascade(format!("call_{number}"))),
        b's' => Some(Target::Single(format!("call_{number}"))),
        _ => None,
    }
}

fn note(record: &StateRecord) -> CallNote {
    CallNote { call_id: format!("call_{}", record.journal().len() + 1), ..CallNote::default() }
}

fn call(record: &mut StateRecord, step: &[u8]) {
    let Some(new) = state(step) else { return };
    let old: Value = value(record);
    if let Some(entry) = Entry::of_call(1, CallNote::default(), &old, &new) {
        let there = entry.patch.apply(&old).expect("a difference fits its own value");
        assert_eq!(there.to_string(), new.to_string(), "a difference leads there");
        let written = serde_json::to_string(&entry.patch).expect("a patch is JSON");
        assert_eq!(serde_json::from_str::<Patch>(&written).ok().as_ref(), Some(&entry.patch), "a patch is read back");
    }
    let note = note(record);
    record.change(note, new.to_string());
}

/// An undo is refused and changes nothing, or can itself be undone.
fn undo(record: &mut StateRecord, target: &Target) {
    let before = record.clone();
    let note = note(record);
    match record.undo(target, note.clone()) {
        Err(error) => {
            assert!(!matches!(error, UndoError::Damaged(_)), "{error}");
            assert_eq!(*record, before, "a refused undo changes nothing");
        }
        Ok(None) => assert_eq!(*record, before, "an empty undo changes nothing"),
        Ok(Some(_)) => {
            let mut redone = record.clone();
            let redo = CallNote { call_id: "redo".to_owned(), ..CallNote::default() };
            redone.undo(&Target::Cascade(note.call_id), redo).expect("the last undo can be undone");
            assert_eq!(value(&redone).to_string(), value(&before).to_string(), "an undo is undone");
        }
    }
}

/// The journal leads to the state, forwards and backwards.
fn check(record: &StateRecord) {
    let initial: Value = serde_json::from_str(record.initial().unwrap_or("{}")).expect("a state is JSON");
    let replayed = replay(&initial, record.journal()).expect("the journal fits");
    assert_eq!(replayed.to_string(), value(record).to_string(), "forwards");
    let inverted = with_inverses(record.initial(), record.journal()).expect("the journal fits");
    let back =
        inverted.iter().rev().fold(replayed, |state, entry| entry.inverse.apply(&state).expect("an inverse fits"));
    assert_eq!(back.to_string(), initial.to_string(), "backwards");
}

fn value(record: &StateRecord) -> Value {
    serde_json::from_str(record.state().unwrap_or("{}")).expect("a state is JSON")
}
