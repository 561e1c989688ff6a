//! A character's state in one conversation, with the journal of what changed it.
//!
//! The one place that applies calls and undos. The store writes [`StateRecord::changes`] at the end of a turn.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::entry::{CallNote, Entry};
use super::undo::{Target, UndoError, Undone, undo};

/// The initial state, the current state, and the entries between them. Clones share the journal until one of them changes it.
#[derive(Debug, Clone, PartialEq)]
pub struct StateRecord {
    initial: Option<String>,
    state: Option<String>,
    journal: Arc<Vec<Entry>>,
    next_sequence: u64,
    /// Entries that were loaded, not made in this turn.
    loaded: usize,
    /// Changes of `undone_by` made in this turn.
    marks: Vec<(u64, Option<u64>)>,
}

/// What a turn changed.
#[derive(Debug, Clone, PartialEq)]
pub struct StateChange<'a> {
    /// The state after it, as JSON text.
    pub state: &'a str,
    /// New entries, in order.
    pub entries: &'a [Entry],
    /// Entries, old or new, whose `undone_by` changed. The last one for a sequence counts.
    pub marks: &'a [(u64, Option<u64>)],
}

impl Default for StateRecord {
    fn default() -> Self {
        Self::new(None)
    }
}

impl StateRecord {
    /// The record of a new conversation.
    #[must_use]
    pub fn new(initial: Option<String>) -> Self {
        Self::loaded(initial.clone(), initial, Vec::new(), 1)
    }

    /// A stored record. The journal may be left out where nothing will be undone; its next sequence may not.
    #[must_use]
    pub fn loaded(initial: Option<String>, state: Option<String>, journal: Vec<Entry>, next_sequence: u64) -> Self {
        let loaded = journal.len();
        Self { initial, state, journal: Arc::new(journal), next_sequence, loaded, marks: Vec::new() }
    }

    /// Adds the stored journal to a record that was loaded without it.
    #[must_use]
    pub fn with_journal(self, journal: Vec<Entry>) -> Self {
        Self::loaded(self.initial, self.state, journal, self.next_sequence)
    }

    /// The record as the next turn loads it: everything in it counts as stored.
    #[must_use]
    pub fn committed(&self) -> Self {
        Self { loaded: self.journal.len(), marks: Vec::new(), ..self.clone() }
    }

    /// The state before the first entry, as JSON text.
    #[must_use]
    pub fn initial(&self) -> Option<&str> {
        self.initial.as_deref()
    }

    /// The current state, as JSON text.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// All entries, oldest first.
    #[must_use]
    pub fn journal(&self) -> &[Entry] {
        &self.journal
    }

    /// What this turn changed, if anything.
    #[must_use]
    pub fn changes(&self) -> Option<StateChange<'_>> {
        let entries = self.journal.get(self.loaded..).filter(|entries| !entries.is_empty())?;
        Some(StateChange { state: self.state()?, entries, marks: &self.marks })
    }

    /// Applies a successful call: `state` replaces the current one.
    pub fn change(&mut self, call: CallNote, state: String) {
        let entry = Entry::of_call(self.next_sequence, call, &value(self.state()), &value(Some(&state)));
        if let Some(entry) = entry {
            self.push(entry);
        }
        self.state = Some(state);
    }

    /// Applies an undo; none where the target is empty. The journal must be loaded.
    pub fn undo(&mut self, target: &Target, call: CallNote) -> Result<Option<Undone>, UndoError> {
        let (initial, current) = (value(self.initial()), value(self.state()));
        let Some(undone) = undo((&initial, &current), &self.journal, target, call)? else { return Ok(None) };
        let journal = Arc::make_mut(&mut self.journal);
        for (sequence, by) in &undone.marks {
            if let Some(entry) = journal.iter_mut().find(|entry| entry.sequence == *sequence) {
                entry.undone_by = *by;
            }
        }
        self.marks.extend(&undone.marks);
        self.state = Some(undone.state.to_string());
        self.push(undone.entry.clone());
        Ok(Some(undone))
    }

    /// The id of the newest call of a tool that is not undone.
    #[must_use]
    pub fn newest_call_of(&self, tool: &str) -> Option<&str> {
        let holds = |entry: &&Entry| entry.undone_by.is_none() && entry.undoes.is_none() && entry.call.tool == tool;
        self.journal.iter().rev().find(holds).map(|entry| entry.call.call_id.as_str())
    }

    /// The entry with this sequence.
    #[must_use]
    pub fn entry(&self, sequence: u64) -> Option<&Entry> {
        self.journal.iter().find(|entry| entry.sequence == sequence)
    }

    fn push(&mut self, entry: Entry) {
        self.next_sequence = entry.sequence.saturating_add(1);
        Arc::make_mut(&mut self.journal).push(entry);
    }
}

/// A missing state counts as an empty object.
fn value(state: Option<&str>) -> Value {
    state.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| Value::Object(Map::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(id: &str, tool: &str) -> CallNote {
        CallNote { call_id: id.to_owned(), tool: tool.to_owned(), ..CallNote::default() }
    }

    #[test]
    fn changes_are_undone_exactly() {
        let mut record = StateRecord::new(Some(r#"{"a":1,"b":1}"#.to_owned()));
        record.change(note("1", "set_a"), r#"{"a":2,"b":1}"#.to_owned());
        record.change(note("2", "set_b"), r#"{"a":2,"b":[1,2]}"#.to_owned());
        assert_eq!(record.newest_call_of("set_a"), Some("1"));
        let undo = |record: &mut StateRecord, target, id| record.undo(&target, note(id, "undo"));
        assert_eq!(undo(&mut record, Target::Single("1".to_owned()), "3").unwrap().unwrap().marks, [(1, Some(3))]);
        assert_eq!(value(record.state()), serde_json::json!({"a": 1, "b": [1, 2]}));
        assert_eq!(undo(&mut record, Target::Last(1), "4").unwrap().unwrap().marks, [(2, Some(4))]);
        assert_eq!(value(record.state()), serde_json::json!({"a": 1, "b": 1}));
        assert!(undo(&mut record, Target::Last(1), "5").is_err());
        assert_eq!((record.journal().len(), record.newest_call_of("set_a")), (4, None));
        let changes = record.changes().unwrap();
        assert_eq!((changes.entries.len(), changes.marks), (4, &[(1, Some(3)), (2, Some(4))][..]));
        assert_eq!(record.committed().changes(), None);
    }
}
