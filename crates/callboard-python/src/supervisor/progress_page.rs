//! A page of memory shared with a worker, in which the worker records which job it started, and when.
//!
//! It is read only when a call seems late: deadlines count from the moment at which the character's code started, and
//! a call that is in time costs no extra message.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::time::{ClockId, clock_gettime};

/// The job's number, then the time in nanoseconds, both as `u64`.
const SIZE: usize = 16;

pub(crate) struct ProgressPage(File);

impl ProgressPage {
    pub(crate) fn new() -> io::Result<Self> {
        let memory = memfd_create("callboard-progress", MemfdFlags::CLOEXEC)?;
        ftruncate(&memory, SIZE as u64)?;
        Ok(Self(memory.into()))
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// How long ago the worker started a job; `None` if it has not.
    pub(crate) fn elapsed(&self, job: u64) -> Option<Duration> {
        let mut bytes = [0; SIZE];
        self.0.read_exact_at(&mut bytes, 0).ok()?;
        let (number, rest) = bytes.split_first_chunk()?;
        let started = Duration::from_nanos(u64::from_le_bytes(*rest.first_chunk()?));
        (u64::from_le_bytes(*number) == job).then(|| monotonic_now().saturating_sub(started))
    }
}

/// The clock of Python's `time.monotonic_ns`.
fn monotonic_now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
