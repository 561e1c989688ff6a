//! What `/proc` says of a process.

use std::fs;

/// The pid of a process's parent.
pub(crate) fn parent_of(pid: u32) -> Option<u32> {
    after_name(pid)?.split(' ').nth(1)?.parse().ok()
}

/// Whether a process is not there, or stopped or traced and so does not run until another process continues it.
pub(crate) fn cannot_run(pid: u32) -> bool {
    after_name(pid).is_none_or(|rest| rest.starts_with(['T', 't', 'Z', 'X']))
}

/// The line of `stat` from the state on. The name before it may contain anything.
fn after_name(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned())
}
