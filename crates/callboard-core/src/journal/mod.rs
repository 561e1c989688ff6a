//! The journal of a character's state: what each call changed, as a JSON Patch, and how to undo it exactly.
//!
//! Pure functions on values: the caller loads a [`StateRecord`], changes it or undoes something, and stores the result in one
//! transaction. Nothing here knows characters, stores or clocks.

mod apply;
mod commute;
mod diff;
mod entry;
mod operation;
mod pointer;
mod state_record;
mod timeline;
mod undo_target;

#[cfg(test)]
mod property_tests;

pub use apply::PatchError;
pub(crate) use diff::diff_regardless_of_order;
pub use entry::{CallNote, Entry, InvertedEntry, Mode, Undoes, replay, with_inverses};
pub use operation::{Change, Operation, Patch};
pub use pointer::Pointer;
pub use state_record::{Mark, StateChange, StateRecord, UndoOutcome};
pub use undo_target::{Target, UndoError};
