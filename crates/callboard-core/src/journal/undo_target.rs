//! What can be undone, and why an undo is refused.

use super::apply::{PatchError, Step};
use super::entry::{CallNote, Entry};

/// What to undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// This many of the newest calls in force.
    Last(usize),
    /// The entry of this call id and all after it. For the id of an undo: restores what it undid.
    Cascade(String),
    /// The entry of this call id alone.
    Single(String),
}

/// An undo that is not possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// Fewer calls are in force than were to be undone.
    #[error("not enough to undo: {wanted} requested, {there} in force")]
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
        Self::Conflict { sequence, later, tool, call_id, path: step.into_operation().path.to_string() }
    }
}
