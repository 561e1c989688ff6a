//! Waiting for the end of a process that is not our child.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Waits for the end of a process.
pub(crate) fn wait_for_exit(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) {
        let limit = Timespec::try_from(Duration::from_secs(60)).unwrap();
        let ready = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit)).unwrap();
        assert_eq!(ready, 1, "process {pid:?} does not end");
    }
}
