//! SQLite: one connection that writes, one that reads, each on a thread of its own.
//!
//! In WAL mode readers never wait for the writer. Everything in the writer's queue goes into one transaction.

mod connection;
mod file_identity;
mod worker;

pub(super) use connection::{OpenOptions, open};
pub(super) use worker::serve;
