//! A character's state in one conversation, with the journal of what changed it.

use callboard_core::journal::{CallNote, Entry, Target, UndoError, undo};
use serde_json::Value;

use crate::store::Change;

/// The state now, the state at the beginning, and every change between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    initial: Option<String>,
    state: Option<String>,
    journal: Vec<Entry>,
    /// The sequence of the next entry.
    next: u64,
    /// How many entries were there before this turn.
    earlier: usize,
    /// Which entries this turn has marked as undone or brought back, and by which entry.
    marks: Vec<(u64, Option<u64>)>,
}

impl Default for Record {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Record {
    /// A conversation that begins in this state.
    pub fn new(state: Option<String>) -> Self {
        Self::resumed(state.clone(), state, Vec::new(), 1)
    }

    /// A conversation that goes on. Where nothing can be undone, the journal may be left out; the sequence of its next entry
    /// may not.
    pub fn resumed(initial: Option<String>, state: Option<String>, journal: Vec<Entry>, next: u64) -> Self {
        let (earlier, marks) = (journal.len(), Vec::new());
        Self { initial, state, journal, next, earlier, marks }
    }

    /// The state at the beginning.
    pub fn initial(&self) -> Option<&str> {
        self.initial.as_deref()
    }

    /// The record at the end of its turn, for the turn that follows.
    #[must_use]
    pub fn settled(self) -> Self {
        Self::resumed(self.initial, self.state, self.journal, self.next)
    }

    /// What this turn changed; none where it changed nothing.
    pub fn changed(&self) -> Option<Change> {
        let entries: Vec<Entry> = self.journal.iter().skip(self.earlier).cloned().collect();
        let state = self.state.clone().filter(|_| !entries.is_empty())?;
        Some(Change { state, entries, marks: self.marks.clone() })
    }

    /// The state as JSON text.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The changes in their order.
    pub fn journal(&self) -> &[Entry] {
        &self.journal
    }

    /// Takes over the state after a call that succeeded.
    pub fn change(&mut self, call: CallNote, state: String) {
        let entry = Entry::of_call(self.next, call, &value(self.state.as_deref()), &value(Some(&state)));
        self.next += u64::from(entry.is_some());
        self.journal.extend(entry);
        self.state = Some(state);
    }

    /// Takes something back. What was taken back comes as a list of the tools whose changes are gone, newest first.
    pub fn undo(&mut self, target: &Target, call: CallNote) -> Result<Vec<String>, UndoError> {
        let (initial, current) = (value(self.initial.as_deref()), value(self.state.as_deref()));
        let held: Vec<u64> = self.held().map(|entry| entry.sequence).collect();
        let Some(undone) = undo((&initial, &current), &self.journal, target, call)? else { return Ok(Vec::new()) };
        for (sequence, mark) in undone.marks {
            if let Some(entry) = self.journal.iter_mut().find(|entry| entry.sequence == sequence) {
                entry.undone_by = mark;
            }
            self.marks.push((sequence, mark));
        }
        self.state = Some(undone.state.to_string());
        let gone =
            self.journal.iter().rev().filter(|entry| entry.undone_by.is_some() && held.contains(&entry.sequence));
        let tools = gone.map(|entry| entry.call.tool.clone()).collect();
        self.journal.push(undone.entry);
        self.next += 1;
        Ok(tools)
    }

    /// The id of the newest change by this tool that still holds.
    pub fn newest_by(&self, tool: &str) -> Option<String> {
        self.held().filter(|entry| entry.call.tool == tool).last().map(|entry| entry.call.call_id.clone())
    }

    fn held(&self) -> impl Iterator<Item = &Entry> {
        self.journal.iter().filter(|entry| entry.undone_by.is_none() && entry.undoes.is_none())
    }
}

/// No state is an empty one.
fn value(state: Option<&str>) -> Value {
    state.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(id: &str, tool: &str) -> CallNote {
        CallNote { call_id: id.to_owned(), tool: tool.to_owned(), ..CallNote::default() }
    }

    #[test]
    fn changes_are_taken_back_exactly() {
        let mut record = Record::new(Some(r#"{"a":1,"b":1}"#.to_owned()));
        record.change(note("1", "set_a"), r#"{"a":2,"b":1}"#.to_owned());
        record.change(note("2", "set_b"), r#"{"a":2,"b":[1,2]}"#.to_owned());
        assert_eq!(record.newest_by("set_a").as_deref(), Some("1"));
        assert_eq!(record.undo(&Target::Single("1".to_owned()), note("3", "undo")).unwrap(), ["set_a"]);
        assert_eq!(value(record.state()), serde_json::json!({"a": 1, "b": [1, 2]}));
        assert_eq!(record.undo(&Target::Last(1), note("4", "undo")).unwrap(), ["set_b"]);
        assert_eq!(value(record.state()), serde_json::json!({"a": 1, "b": 1}));
        assert!(record.undo(&Target::Last(1), note("5", "undo")).is_err());
        assert_eq!(record.journal().len(), 4);
    }
}
