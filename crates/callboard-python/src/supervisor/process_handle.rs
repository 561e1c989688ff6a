//! A process, held by its pid file descriptor: its end is an event, and a recycled pid is never killed by mistake.
//!
//! Most processes are children of the root process or of a zygote, so only the root process can be reaped here.
//! Dropping the handle kills the process and its group.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::process_state::parent_of;
use super::transport::FrameSender;

pub(crate) struct Process {
    pid: Pid,
    handle: AsyncFd<OwnedFd>,
    /// Set where the process is our own child.
    own: Option<OwnChild>,
}

/// A child of this program, which ends and is reaped on drop.
struct OwnChild {
    child: std::process::Child,
    channel: FrameSender,
}

/// How long our own child may take to end what is below it, once its channel is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

impl Process {
    /// The process with a pid that it has just sent over its own channel: a character may have sent it, and no other process may be
    /// killed on its word.
    pub(crate) fn open(pid: u32, parent: u32) -> io::Result<Self> {
        let (pid, handle) = open_child(pid, parent)?;
        Ok(Self { pid, handle: watch(handle)?, own: None })
    }

    /// A process that we started ourselves.
    pub(crate) fn from_child(child: std::process::Child, channel: FrameSender) -> io::Result<Self> {
        let mut process = Self::open(child.id(), std::process::id())?;
        process.own = Some(OwnChild { child, channel });
        Ok(process)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Resolves when the process has ended.
    pub(crate) async fn ended(&self) {
        // An error means that the runtime is shutting down.
        let _ = self.handle.readable().await;
    }

    /// Kills the process and its process group.
    pub(crate) fn kill(&self) {
        if !self.ends_within(Duration::ZERO) {
            // The group goes first: its number cannot be reused while its leader lives. It may not exist yet.
            let _ = kill_process_group(self.pid, Signal::KILL);
            let _ = pidfd_send_signal(self.handle.get_ref(), Signal::KILL);
        }
    }

    /// Makes the interpreter write a traceback to standard error and end.
    pub(crate) fn abort(&self) {
        let _ = pidfd_send_signal(self.handle.get_ref(), Signal::ABORT);
    }

    /// Blocks until the process has ended, but not for longer than this.
    fn ends_within(&self, limit: Duration) -> bool {
        let mut watched = [PollFd::new(self.handle.get_ref(), PollFlags::IN)];
        let limit = Timespec::try_from(limit).unwrap_or_default();
        poll(&mut watched, Some(&limit)).is_ok_and(|ready| ready > 0)
    }
}

/// The descriptor of a process, which must be a child of this parent: its pid may have been reused.
pub fn open_child(pid: u32, parent: u32) -> io::Result<(Pid, OwnedFd)> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
    let handle = pidfd_open(number, PidfdFlags::NONBLOCK)?;
    match parent_of(pid) == Some(parent) {
        true => Ok((number, handle)),
        false => Err(io::Error::other("its pid is that of another process")),
    }
}

#[expect(deprecated, reason = "its successor is unsafe to call, and an owned descriptor meets its condition anyway")]
fn watch(handle: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(handle, Interest::READABLE)
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(own) = &self.own {
            // With its channel closed it ends all processes below it, which no one could find after its end.
            own.channel.close();
            self.ends_within(EXIT_TIMEOUT);
        }
        self.kill();
        // Killed, so this does not block for long.
        if let Some(Err(error)) = self.own.as_mut().map(|own| own.child.wait()) {
            tracing::debug!(%error, "could not wait for the root process");
        }
    }
}
