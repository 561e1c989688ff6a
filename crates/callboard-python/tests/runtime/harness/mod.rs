//! What the suites share: a host with a real interpreter, the characters of the folder beside, and their processes.

mod process_exit;
mod process_tree;
mod test_host;

pub(crate) use process_exit::wait_for_exit;
pub(crate) use process_tree::has_exited;
pub(crate) use test_host::{TestHost, call, characters, scratch};
