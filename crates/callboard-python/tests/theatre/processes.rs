//! What the kernel says of processes.

use std::fs;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Whether a process has ended; one that was not buried yet has.
pub fn is_dead(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// Waits for the end of a process.
pub fn wait_until_dead(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) {
        let patience = Timespec::try_from(Duration::from_secs(10)).unwrap();
        let ready = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&patience)).unwrap();
        assert_eq!(ready, 1, "process {pid:?} does not end");
    }
}

/// All processes below this one that have not ended.
pub fn descendants() -> Vec<u32> {
    let mut found = children(std::process::id());
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        found.extend(children(pid));
        next += 1;
    }
    found.retain(|pid| !is_dead(*pid));
    found
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()).collect()
}

/// How many files this process has open.
pub fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}
