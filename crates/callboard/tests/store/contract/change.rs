//! Changes of state as a turn makes them: each call with its entry in the journal.

use callboard::store::{Change, Standing};
use callboard_core::journal::{CallNote, Entry};
use serde_json::Value;

/// A call and the state after it.
pub(crate) type Made = (CallNote, String);

/// What the calls of a turn change in a conversation. The initial state counts where it has not begun.
pub(crate) fn change(standing: &Standing, initial: Option<&str>, made: Vec<Made>) -> Option<Change> {
    let mut old = value(standing.state.as_deref().or(initial));
    let mut sequence = u64::try_from(standing.conversation.next_sequence).unwrap();
    let mut entries = Vec::new();
    let mut state = None;
    for (call, new_state) in made {
        let new = value(Some(&new_state));
        if let Some(entry) = Entry::of_call(sequence, call, &old, &new) {
            entries.push(entry);
            sequence += 1;
            state = Some(new_state);
        }
        old = new;
    }
    state.map(|state| Change { state, entries, marks: Vec::new() })
}

fn value(state: Option<&str>) -> Value {
    serde_json::from_str(state.unwrap_or("{}")).unwrap()
}
