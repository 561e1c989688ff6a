//! What must hold for any states and any sequence of calls and undos.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::diff::diff;
use super::*;

/// A record, and the ids of its entries by their number.
#[derive(Debug, Clone)]
struct Played(StateRecord);

impl Played {
    fn new(initial: &Value) -> Self {
        Self(StateRecord::new(Some(initial.to_string())))
    }

    fn state(&self) -> &str {
        self.0.state().unwrap()
    }

    fn note(&self) -> CallNote {
        CallNote { call_id: format!("call_{}", self.0.journal().len() + 1), ..CallNote::default() }
    }

    fn call(&mut self, new: &Value) -> Option<String> {
        let (note, before) = (self.note(), self.0.journal().len());
        self.0.change(note, new.to_string());
        self.0.journal().get(before).map(|entry| entry.call.call_id.clone())
    }

    fn undo(&mut self, target: &Target) -> Result<String, UndoError> {
        let note = self.note();
        let id = note.call_id.clone();
        self.0.undo(target, note)?.unwrap();
        Ok(id)
    }

    /// The journal leads to the state, forwards and backwards, and survives being written down.
    fn check(&self) {
        let entries = self.0.journal();
        let initial: Value = serde_json::from_str(self.0.initial().unwrap()).unwrap();
        assert_eq!(replay(&initial, entries).unwrap().to_string(), self.state());
        assert_eq!(self.taken_back(0), self.0.initial().unwrap());
        let text = serde_json::to_string(entries).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Entry>>(&text).unwrap(), entries);
    }

    /// The state when the inverses of all entries from there on are applied, newest first.
    fn taken_back(&self, first: usize) -> String {
        let inverted = with_inverses(self.0.initial(), self.0.journal()).unwrap();
        let mut state: Value = serde_json::from_str(self.state()).unwrap();
        for entry in inverted[first..].iter().rev() {
            state = entry.inverse.apply(&state).unwrap();
        }
        state.to_string()
    }
}

fn number() -> impl Strategy<Value = Value> {
    let odd = ["-0", "1.0", "1.00", "1e400", "0.1", "12345678901234567890123"]
        .map(|text| serde_json::from_str(text).unwrap());
    prop_oneof![(0..4i64).prop_map(Value::from), proptest::sample::select(odd.to_vec())]
}

fn key() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["a", "b", "c", "", "0", "1", "-", "a/b", "~1", "m~n"]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number(), key().prop_map(Value::from)];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let object = proptest::collection::vec((key(), inner.clone()), 0..5);
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(Value::from),
            object.prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn a_difference_leads_there_and_back(old in value(), new in value()) {
        let patch = diff(&old, &new);
        prop_assert_eq!(patch.apply(&old).unwrap().to_string(), new.to_string());
        prop_assert_eq!(diff(&new, &old).apply(&new).unwrap().to_string(), old.to_string());
        let written = serde_json::to_string(&patch).unwrap();
        prop_assert_eq!(serde_json::from_str::<Patch>(&written).unwrap(), patch);
    }

    #[test]
    fn any_sequence_returns_to_exactly_the_earlier_state(
        initial in value(),
        steps in proptest::collection::vec((value(), 0..6usize, any::<prop::sample::Index>()), 1..12),
    ) {
        let mut played = Played::new(&initial);
        // The state before each entry, by its id: where undoing it with all after it must lead, unless its past changed.
        let mut history: Vec<String> = vec![played.state().to_owned()];
        for (new, kind, pick) in steps {
            if kind < 4 || history.len() < 2 {
                if played.call(&new).is_some() { history.push(played.state().to_owned()); }
            } else {
                let held: Vec<&str> = history.iter().map(String::as_str).collect();
                let back = 1 + pick.index(held.len() - 1);
                played.undo(&Target::Last(back)).unwrap();
                prop_assert_eq!(played.state(), held[held.len() - 1 - back]);
                history.truncate(history.len() - back);
            }
            played.check();
        }
    }

    #[test]
    fn an_undo_can_be_undone(initial in value(), states in proptest::collection::vec(value(), 1..6), pick in any::<prop::sample::Index>()) {
        let mut played = Played::new(&initial);
        let ids: Vec<String> = states.into_iter().filter_map(|state| played.call(&state)).collect();
        prop_assume!(!ids.is_empty());
        let before = played.clone();
        let undo = played.undo(&Target::Cascade(pick.get(&ids).clone())).unwrap();
        let after = played.clone();
        let redo = played.undo(&Target::Cascade(undo)).unwrap();
        prop_assert_eq!(played.state(), before.state());
        let undone = |played: &Played| played.0.journal().iter().take(ids.len()).map(|entry| entry.undone_by).collect::<Vec<_>>();
        prop_assert_eq!(undone(&played), undone(&before));
        played.undo(&Target::Single(redo)).unwrap();
        prop_assert_eq!(played.state(), after.state());
        played.check();
    }

    #[test]
    fn cascade_is_the_inverses_newest_first(initial in value(), states in proptest::collection::vec(value(), 1..6), pick in any::<prop::sample::Index>()) {
        let mut played = Played::new(&initial);
        let ids: Vec<String> = states.into_iter().filter_map(|state| played.call(&state)).collect();
        prop_assume!(!ids.is_empty());
        let at = pick.index(ids.len());
        let by_hand = played.taken_back(at);
        played.undo(&Target::Cascade(ids[at].clone())).unwrap();
        prop_assert_eq!(played.state(), by_hand);
    }

    /// Each call changes members of its own and appends to a log that all of them write: alone undone, it never was.
    #[test]
    fn a_single_undo_is_as_if_the_call_had_never_been(
        calls in proptest::collection::vec((0..3usize, value()), 1..7),
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let act = |state: &Value, number: usize, (kind, value): &(usize, Value)| {
            let mut state = state.clone();
            if *kind > 0 { state["log"].as_array_mut().unwrap().push(serde_json::json!({"by": number, "value": value})); }
            if *kind < 2 { state["own"][format!("call {number}")] = value.clone(); }
            state
        };
        let mut played = Played::new(&serde_json::json!({"log": ["begin"], "own": {}}));
        for (number, call) in calls.iter().enumerate() {
            let new = act(&serde_json::from_str(played.state()).unwrap(), number, call);
            played.call(&new).unwrap();
        }
        let mut removed = Vec::new();
        for pick in picks {
            let number = pick.index(calls.len());
            let id = format!("call_{}", number + 1);
            if removed.contains(&number) {
                let is_refused = matches!(played.undo(&Target::Single(id)), Err(UndoError::AlreadyUndone { .. }));
                prop_assert!(is_refused);
                continue;
            }
            removed.push(number);
            played.undo(&Target::Single(id)).unwrap();
            let mut expected: Value = serde_json::from_str(played.0.initial().unwrap()).unwrap();
            for (number, call) in calls.iter().enumerate().filter(|(number, _)| !removed.contains(number)) {
                expected = act(&expected, number, call);
            }
            prop_assert_eq!(played.state(), expected.to_string());
            played.check();
        }
    }

    /// Whatever is asked for, in any order: either a clear error and no change, or a journal that still fits its state.
    #[test]
    fn nothing_breaks_the_journal(
        initial in value(),
        steps in proptest::collection::vec((value(), 0..8usize, any::<prop::sample::Index>()), 1..16),
    ) {
        let mut played = Played::new(&initial);
        for (new, kind, pick) in steps {
            let before = played.clone();
            let id = format!("call_{}", pick.index(played.0.journal().len().max(1)) + 1);
            let target = match kind {
                0..4 => { played.call(&new); played.check(); continue; }
                4 => Target::Last(1),
                5 => Target::Cascade(id),
                _ => Target::Single(id),
            };
            match played.undo(&target) {
                Err(error) => {
                    prop_assert!(!matches!(error, UndoError::Damaged(_)), "{}", error);
                    prop_assert_eq!(played.0.journal(), before.0.journal());
                }
                Ok(undo) => {
                    played.check();
                    let mut again = played.clone();
                    again.undo(&Target::Cascade(undo)).unwrap();
                    prop_assert_eq!(again.state(), before.state());
                }
            }
        }
    }
}

#[test]
fn a_conflict_names_the_later_call() {
    let mut played = Played::new(&serde_json::json!({"cp": 5, "vp": 0}));
    for state in [
        serde_json::json!({"cp": 4, "vp": 0}),
        serde_json::json!({"cp": 4, "vp": 3}),
        serde_json::json!({"cp": 2, "vp": 3}),
    ] {
        played.call(&state).unwrap();
    }
    let error = played.undo(&Target::Single("call_1".to_owned())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry 1 cannot be undone alone: entry 3 (, call_3) changed \"/cp\" after it; \
         undo it with all after it, or undo entry 3 first"
    );
    played.undo(&Target::Single("call_2".to_owned())).unwrap();
    assert_eq!(played.state(), serde_json::json!({"cp": 2, "vp": 0}).to_string());
    played.undo(&Target::Last(1)).unwrap();
    assert_eq!(played.state(), serde_json::json!({"cp": 4, "vp": 0}).to_string());
    played.undo(&Target::Last(1)).unwrap();
    assert_eq!(played.state(), serde_json::json!({"cp": 5, "vp": 0}).to_string());
    let refusals = [
        (Target::Last(1), "not enough to undo: 1 requested, 0 in force"),
        (
            Target::Single("call_9".to_owned()),
            "no call \"call_9\" is in the journal: it changed nothing, or belongs to another conversation",
        ),
        (Target::Cascade("call_2".to_owned()), "entry 2 was undone before, by entry 4; undo that one to bring it back"),
    ];
    for (target, words) in refusals {
        assert_eq!(played.undo(&target).unwrap_err().to_string(), words);
    }
}
