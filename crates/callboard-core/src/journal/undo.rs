//! Undo: the entry that takes something back, and the state after it.
//!
//! An undo is one more entry of the journal and can be undone like any other. Of earlier entries only `undone_by` changes.

use serde_json::Value;

use super::apply::{PatchError, Step};
use super::diff::diff;
use super::entry::{CallNote, Entry, Mode, Undoes};
use super::operation::Operation;
use super::timeline::Timeline;

/// What shall be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The newest calls that are still in force, by their number.
    Last(usize),
    /// The entry of this call id and all after it. The id of an undo brings back what it took.
    Cascade(String),
    /// The entry of this call id alone.
    Single(String),
}

/// A computed undo.
#[derive(Debug, Clone, PartialEq)]
pub struct Undone {
    /// The entry to append.
    pub entry: Entry,
    /// The state after it.
    pub state: Value,
    /// Entries whose `undone_by` changes, with what it becomes.
    pub marks: Vec<(u64, Option<u64>)>,
}

/// An undo that is not possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// Fewer calls are in force than were to be undone.
    #[error("there is less to undo: {wanted} changes were to be taken back, {there} still hold")]
    TooMany {
        /// How many were asked for.
        wanted: usize,
        /// How many are in force.
        there: usize,
    },
    /// No entry has that call id.
    #[error("no call {0:?} is in the journal: it changed nothing, or belongs to another conversation")]
    UnknownCall(String),
    /// No entry in force has that sequence.
    #[error("no entry {0} in the journal")]
    UnknownSequence(u64),
    /// It was undone before.
    #[error("entry {sequence} was undone before, by entry {by}; undo that one to bring it back")]
    AlreadyUndone {
        /// The entry.
        sequence: u64,
        /// The undo.
        by: u64,
    },
    /// A later call touches the same place.
    #[error(
        "entry {sequence} cannot be undone alone: entry {later} ({tool}, {call_id}) changed {path:?} after it; \
         undo it with all after it, or undo entry {later} first"
    )]
    Conflict {
        /// The entry to undo.
        sequence: u64,
        /// The later one.
        later: u64,
        /// Its tool.
        tool: String,
        /// Its call id.
        call_id: String,
        /// The place both touch.
        path: String,
    },
    /// An undo cannot be undone alone when others followed it.
    #[error(
        "entry {sequence} cannot be undone alone: entry {since} is or was an undo since then; undo it with all after it"
    )]
    UndoneSince {
        /// The undo.
        sequence: u64,
        /// A later undo, or an entry undone later.
        since: u64,
    },
    /// The journal is inconsistent.
    #[error("the journal is damaged: {0}")]
    Damaged(#[from] PatchError),
}

impl UndoError {
    pub(super) fn conflict(entries: &[Entry], sequence: u64, later: u64, step: Step) -> Self {
        let call = entries.iter().find(|entry| entry.sequence == later).map(|entry| entry.call.clone());
        let CallNote { tool, call_id, .. } = call.unwrap_or_default();
        Self::Conflict { sequence, later, tool, call_id, path: Operation::path(&step.into_operation()).to_string() }
    }
}

/// Computes an undo. `current` is the state after all entries; `note` says who asked, and becomes part of the entry.
pub fn undo(
    (initial, current): (&Value, &Value),
    entries: &[Entry],
    target: &Target,
    note: CallNote,
) -> Result<Option<Undone>, UndoError> {
    let mut timeline = Timeline::read(initial, entries)?;
    let Some(undoes) = resolve(&timeline, entries, target)? else { return Ok(None) };
    let sequence = entries.last().map_or(1, |entry| entry.sequence.saturating_add(1));
    timeline.undo(sequence, undoes)?;
    let state = timeline.state()?;
    let entry = Entry { sequence, call: note, patch: diff(current, &state), undoes: Some(undoes), undone_by: None };
    Ok(Some(Undone { entry, state, marks: marks(entries, &timeline) }))
}

/// None where nothing is to be undone.
fn resolve(timeline: &Timeline<'_>, entries: &[Entry], target: &Target) -> Result<Option<Undoes>, UndoError> {
    let (call_id, mode) = match target {
        Target::Last(0) => return Ok(None),
        Target::Last(wanted) => {
            let found = timeline.newest_calls().nth(wanted - 1);
            let there = timeline.newest_calls().count();
            let sequence = found.ok_or(UndoError::TooMany { wanted: *wanted, there })?;
            return Ok(Some(Undoes { sequence, mode: Mode::Cascade }));
        }
        Target::Cascade(call_id) => (call_id, Mode::Cascade),
        Target::Single(call_id) => (call_id, Mode::Single),
    };
    let entry = entries.iter().rev().find(|entry| entry.call.call_id == *call_id);
    let sequence = entry.ok_or_else(|| UndoError::UnknownCall(call_id.clone()))?.sequence;
    Ok(Some(Undoes { sequence, mode }))
}

fn marks(entries: &[Entry], timeline: &Timeline<'_>) -> Vec<(u64, Option<u64>)> {
    let undone_by = timeline.undone_by();
    let mark = |entry: &Entry| (entry.sequence, undone_by.get(&entry.sequence).copied());
    entries.iter().filter(|entry| undone_by.get(&entry.sequence).copied() != entry.undone_by).map(mark).collect()
}
