//! The processes below a process, as the kernel tells.

use std::fs;

/// A process and all below it that have not ended.
pub(crate) fn family(head: u32) -> Vec<u32> {
    let mut found = vec![head];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        found.extend(children(pid));
        next += 1;
    }
    found.retain(|pid| !is_dead(*pid));
    found
}

/// Whether a process has ended; one that was not buried yet has.
pub(crate) fn is_dead(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// The children of a process, whichever of its threads started them.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()).collect()
}
