//! A character's state in one conversation: the journal of what changed it, and what the current turn adds to both.

use std::sync::Arc;

use serde_json::Value;

use super::diff::diff;
use super::entry::{CallNote, Entry};
use super::timeline::Timeline;
use super::undo_target::{Target, UndoError};

/// Which entry is undone by which other one; none for an entry that was restored.
pub type Mark = (u64, Option<u64>);

/// The state now, the state at the beginning, and every change between them. A clone shares the journal until one of the two
/// changes.
#[derive(Debug, Clone, PartialEq)]
pub struct StateRecord {
    initial: Option<String>,
    state: Option<String>,
    journal: Arc<Vec<Entry>>,
    next_sequence: u64,
    /// The number of entries before this turn.
    earlier: usize,
    /// What this turn has marked as undone or restored.
    marks: Vec<Mark>,
}

/// What a turn changed.
#[derive(Debug, Clone, PartialEq)]
pub struct StateChange<'a> {
    /// The state after it, as JSON text.
    pub state: &'a str,
    /// New journal entries, in order.
    pub entries: &'a [Entry],
    /// Entries, old or new, that were undone or restored. The last mark of an entry counts.
    pub marks: &'a [Mark],
}

/// What an undo did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoOutcome {
    /// The entry of the undo itself.
    pub sequence: u64,
    /// Entries that were undone or restored.
    pub marks: Vec<Mark>,
    /// The tools whose changes were undone, newest first.
    pub tools: Vec<String>,
}

impl Default for StateRecord {
    fn default() -> Self {
        Self::new(None)
    }
}

impl StateRecord {
    /// A conversation that begins in this state.
    #[must_use]
    pub fn new(state: Option<String>) -> Self {
        Self::resumed(state.clone(), state, Vec::new(), 1)
    }

    /// A conversation that continues. The journal may be left out where nothing can be undone; its next sequence may not.
    pub fn resumed(
        initial: Option<String>,
        state: Option<String>,
        journal: impl Into<Arc<Vec<Entry>>>,
        next_sequence: u64,
    ) -> Self {
        let journal = journal.into();
        Self { initial, state, earlier: journal.len(), journal, next_sequence, marks: Vec::new() }
    }

    /// Adds the stored journal to a record that was resumed without it.
    #[must_use]
    pub fn with_journal(self, journal: Vec<Entry>) -> Self {
        Self::resumed(self.initial, self.state, journal, self.next_sequence)
    }

    /// The record for the next turn: everything in it counts as stored.
    #[must_use]
    pub fn committed(&self) -> Self {
        Self { earlier: self.journal.len(), marks: Vec::new(), ..self.clone() }
    }

    /// The record for a conversation that begins with it: nothing in it counts as stored.
    #[must_use]
    pub fn unstored(self) -> Self {
        let marks = self.journal.iter().filter(|entry| entry.undone_by.is_some());
        Self { marks: marks.map(|entry| (entry.sequence, entry.undone_by)).collect(), earlier: 0, ..self }
    }

    /// The record as it was before this entry, with what undos had marked by then.
    pub fn before(&self, sequence: u64) -> Result<Self, UndoError> {
        let entries = self.journal.iter().take_while(|entry| entry.sequence < sequence);
        let kept: Vec<Entry> = entries.map(|entry| Entry { undone_by: None, ..entry.clone() }).collect();
        let initial = value(self.initial.as_deref());
        let timeline = Timeline::read(&initial, &kept)?;
        let (state, marks) = (timeline.state()?, timeline.marks());
        let state = if kept.is_empty() { self.initial.clone() } else { Some(state.to_string()) };
        let mut record = Self::resumed(self.initial.clone(), state, kept, sequence);
        record.mark(&marks);
        Ok(record.committed())
    }

    /// The sequence that the next entry gets.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// The entry with this sequence.
    #[must_use]
    pub fn entry(&self, sequence: u64) -> Option<&Entry> {
        self.journal.iter().find(|entry| entry.sequence == sequence)
    }

    /// The state at the beginning, as JSON text.
    #[must_use]
    pub fn initial(&self) -> Option<&str> {
        self.initial.as_deref()
    }

    /// The state as JSON text.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// All changes in their order.
    #[must_use]
    pub fn journal(&self) -> &[Entry] {
        &self.journal
    }

    /// What this turn changed; none where it changed nothing.
    #[must_use]
    pub fn changes(&self) -> Option<StateChange<'_>> {
        let entries = self.journal.get(self.earlier..).filter(|entries| !entries.is_empty())?;
        Some(StateChange { state: self.state()?, entries, marks: &self.marks })
    }

    /// The id of the newest change by this tool that was not undone.
    #[must_use]
    pub fn newest_by(&self, tool: &str) -> Option<&str> {
        let newest = self.journal.iter().rev().find(|entry| entry.is_call_in_force() && entry.call.tool == tool);
        newest.map(|entry| entry.call.call_id.as_str())
    }

    /// Sets the state after a call that succeeded.
    pub fn change(&mut self, call: CallNote, state: String) {
        let (old, new) = (value(self.state.as_deref()), value(Some(&state)));
        if let Some(entry) = Entry::of_call(self.next_sequence, call, &old, &new) {
            self.append(entry);
        }
        self.state = Some(state);
    }

    /// Undoes something; none where the target is empty. `note` becomes part of the new entry, which can be undone like any other.
    pub fn undo(&mut self, target: &Target, note: CallNote) -> Result<Option<UndoOutcome>, UndoError> {
        let (initial, current) = (value(self.initial.as_deref()), value(self.state.as_deref()));
        let sequence = self.next_sequence;
        let mut timeline = Timeline::read(&initial, &self.journal)?;
        let Some(undoes) = timeline.resolve(target)? else { return Ok(None) };
        timeline.undo(sequence, undoes)?;
        let (state, marks) = (timeline.state()?, timeline.marks());
        let tools = self.mark(&marks);
        let patch = diff(&current, &state);
        self.append(Entry { sequence, call: note, patch, undoes: Some(undoes), undone_by: None });
        self.state = Some(state.to_string());
        Ok(Some(UndoOutcome { sequence, marks, tools }))
    }

    /// Sets `undone_by` of old entries; returns the tools of the calls that were undone, newest first.
    fn mark(&mut self, marks: &[Mark]) -> Vec<String> {
        let mut tools = Vec::new();
        for entry in Arc::make_mut(&mut self.journal).iter_mut().rev() {
            let Some((_, undone_by)) = marks.iter().find(|(marked, _)| *marked == entry.sequence) else { continue };
            if entry.is_call_in_force() {
                tools.push(entry.call.tool.clone());
            }
            entry.undone_by = *undone_by;
        }
        self.marks.extend(marks);
        tools
    }

    fn append(&mut self, entry: Entry) {
        self.next_sequence = entry.sequence.saturating_add(1);
        Arc::make_mut(&mut self.journal).push(entry);
    }
}

/// A state as a value; no state is an empty one.
pub(super) fn value(state: Option<&str>) -> Value {
    state.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(id: &str, tool: &str) -> CallNote {
        CallNote { call_id: id.to_owned(), tool: tool.to_owned(), ..CallNote::default() }
    }

    fn undone_tools(record: &mut StateRecord, target: &Target, id: &str) -> Vec<String> {
        record.undo(target, note(id, "undo")).unwrap().unwrap().tools
    }

    #[test]
    fn changes_are_taken_back_exactly() {
        let mut record = StateRecord::new(Some(r#"{"a":1,"b":1}"#.to_owned()));
        record.change(note("1", "set_a"), r#"{"a":2,"b":1}"#.to_owned());
        record.change(note("2", "set_b"), r#"{"a":2,"b":[1,2]}"#.to_owned());
        assert_eq!(record.newest_by("set_a"), Some("1"));
        assert_eq!(undone_tools(&mut record, &Target::Single("1".to_owned()), "3"), ["set_a"]);
        assert_eq!((record.state(), record.newest_by("set_a")), (Some(r#"{"a":1,"b":[1,2]}"#), None));
        assert_eq!(undone_tools(&mut record, &Target::Last(1), "4"), ["set_b"]);
        assert_eq!(record.state(), Some(r#"{"a":1,"b":1}"#));
        assert!(record.undo(&Target::Last(1), note("5", "undo")).is_err());
        assert_eq!(record.undo(&Target::Last(0), note("5", "undo")), Ok(None));
        assert_eq!(record.journal().len(), 4);
    }

    #[test]
    fn an_earlier_record_is_as_it_was_then() {
        let mut record = StateRecord::new(Some(r#"{"a":1}"#.to_owned()));
        let mut earlier = vec![record.clone()];
        record.change(note("1", "set"), r#"{"a":2}"#.to_owned());
        earlier.push(record.clone());
        record.undo(&Target::Last(1), note("2", "undo")).unwrap();
        earlier.push(record.clone());
        record.undo(&Target::Cascade("2".to_owned()), note("3", "undo")).unwrap();
        earlier.push(record.clone());
        for (sequence, was) in (1..).zip(earlier) {
            assert_eq!(record.before(sequence), Ok(was.committed()), "before {sequence}");
        }
    }

    #[test]
    fn only_what_the_turn_added_is_a_change() {
        let mut record = StateRecord::new(Some(r#"{"a":1}"#.to_owned()));
        assert_eq!(record.changes(), None);
        record.change(note("1", "set"), r#"{"a":2}"#.to_owned());
        let before = record.committed();
        let mut record = before.clone();
        record.change(note("2", "set"), r#"{"a":2}"#.to_owned());
        assert_eq!(record.changes(), None, "the state is the same");
        record.undo(&Target::Last(1), note("3", "undo")).unwrap();
        let change = record.changes().unwrap();
        let sequences: Vec<u64> = change.entries.iter().map(|entry| entry.sequence).collect();
        assert_eq!((change.state, sequences, change.marks), (r#"{"a":1}"#, vec![2], &[(1, Some(2))][..]));
        assert_eq!(before.journal()[0].undone_by, None, "a clone keeps its own journal");
    }
}
