//! The journal of a character's state: what each call changed, as a JSON Patch, and how to undo it exactly.
//!
//! All of it is arithmetic on values: the caller loads a [`StateRecord`], changes it or undoes something, and stores what it
//! gets back in one transaction. Nothing here knows of characters, stores or clocks.

mod apply;
mod commute;
mod diff;
mod entry;
mod operation;
mod pointer;
mod state_record;
mod timeline;
mod undo;

#[cfg(test)]
mod properties;

pub use apply::PatchError;
pub use diff::diff;
pub use entry::{CallNote, Entry, InvertedEntry, Mode, Undoes, replay, with_inverses};
pub use operation::{Operation, Patch};
pub use pointer::Pointer;
pub use state_record::{Mark, StateChange, StateRecord, UndoOutcome};
pub use undo::{Target, UndoError, Undone, undo};
