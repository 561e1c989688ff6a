//! Whether a process can run, read from `/proc`.

use std::fs;

/// Whether a process is not there, or stopped or traced and so does not run until another process continues it.
pub(crate) fn cannot_run(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['T', 't', 'Z', 'X']))
}
