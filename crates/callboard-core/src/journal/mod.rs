//! The journal of a character's state: what each call changed, as a JSON Patch with its exact inverse, and how to undo it.
//!
//! All of it is arithmetic on values: the caller loads entries, asks for an undo, and stores the entry and the state it gets
//! back in one transaction. Nothing here knows of characters, stores or clocks.

mod apply;
mod diff;
mod entry;
mod operation;
mod pass;
mod pointer;
mod state_record;
mod timeline;
mod undo;

#[cfg(test)]
mod properties;

pub use apply::Misfit;
pub use diff::{diff, invert};
pub use entry::{CallNote, Entry, Mode, Undoes, replay};
pub use operation::{Operation, Patch};
pub use pointer::Pointer;
pub use state_record::{StateChange, StateRecord};
pub use undo::{Target, UndoError, Undone, undo};
