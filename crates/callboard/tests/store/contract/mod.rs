//! The contract of every store, one file for each part of it.

mod conversations;
mod deletion;
mod exactness;
mod histories;
mod journal;
mod lists;
mod memory_after_calls;
mod opening;
mod records;
mod retention;
mod run;
mod server_findings;
mod sizes;
mod turns;

pub(crate) use conversations::new;
pub(crate) use deletion::records;
pub(crate) use histories::{find, follow, keep, memory_of, new_snapshot};
pub(crate) use journal::{made, replayed};
pub(crate) use memory_after_calls::memory_after;
pub(crate) use records::{response, trace};
pub(crate) use run::run;
pub(crate) use turns::WAIT;
