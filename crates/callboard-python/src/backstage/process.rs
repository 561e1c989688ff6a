//! A process of the host, by its pid file descriptor: that it ended is an event, and no other can be killed by mistake.
//!
//! These are not our children but children of the root or of a dresser, so waiting for them is not possible. Dropping
//! the handle kills the process with its group.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

pub(crate) struct Process {
    pid: Pid,
    handle: AsyncFd<OwnedFd>,
}

impl Process {
    /// The process of a pid that was just heard of over its own channel.
    pub(crate) fn adopt(pid: u32) -> io::Result<Self> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { pid, handle: watch(pidfd_open(pid, PidfdFlags::NONBLOCK)?)? })
    }

    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Resolves when it has ended.
    pub(crate) async fn ended(&self) {
        // An error would mean that the runtime is shutting down; then nobody waits any more.
        let _ = self.handle.readable().await;
    }

    /// Kills it with all that is in its process group.
    pub(crate) fn kill(&self) {
        if !self.has_ended() {
            // The group first: while its leader lives, the number is nobody else's. It may have none yet.
            let _ = kill_process_group(self.pid, Signal::KILL);
            let _ = pidfd_send_signal(self.handle.get_ref(), Signal::KILL);
        }
    }

    /// Makes it write to standard error where it is, and end.
    pub(crate) fn abort(&self) {
        let _ = pidfd_send_signal(self.handle.get_ref(), Signal::ABORT);
    }

    fn has_ended(&self) -> bool {
        let mut watched = [PollFd::new(self.handle.get_ref(), PollFlags::IN)];
        poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

#[expect(deprecated, reason = "its successor has an unsafe promise to make that an owned descriptor keeps anyway")]
fn watch(handle: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(handle, Interest::READABLE)
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
