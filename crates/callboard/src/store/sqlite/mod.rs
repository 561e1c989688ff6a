//! SQLite: one connection that writes, one that reads, each on a thread of its own.
//!
//! In write-ahead mode readers never wait for the writer. All that waits in the writer's queue goes into one transaction.

mod connection;
mod identity;
mod worker;

pub(super) use connection::{Opening, open};
pub(super) use worker::serve;
