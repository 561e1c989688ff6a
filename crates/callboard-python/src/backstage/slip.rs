//! The slip of a worker: a page it shares with us, on which it writes which order it began, and when.
//!
//! It is read only when a call seems late. So a deadline counts from the moment at which the character's code began,
//! and a call that is in time costs no message for it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::time::{ClockId, clock_gettime};

const SIZE: usize = 16;

pub(crate) struct Slip(File);

impl Slip {
    pub(crate) fn new() -> io::Result<Self> {
        let memory = memfd_create("callboard-slip", MemfdFlags::CLOEXEC)?;
        ftruncate(&memory, SIZE as u64)?;
        Ok(Self(memory.into()))
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// How long ago an order was begun, or nothing if it was not yet.
    pub(crate) fn age_of(&self, order: u64) -> Option<Duration> {
        let mut bytes = [0; SIZE];
        self.0.read_exact_at(&mut bytes, 0).ok()?;
        let (number, rest) = bytes.split_first_chunk()?;
        let began = Duration::from_nanos(u64::from_le_bytes(*rest.first_chunk()?));
        (u64::from_le_bytes(*number) == order).then(|| monotonic_now().saturating_sub(began))
    }
}

/// The clock that Python's `time.monotonic_ns` reads.
fn monotonic_now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
