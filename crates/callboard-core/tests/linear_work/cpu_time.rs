//! The CPU time that a piece of work takes on this thread, at two sizes.

use std::time::Duration;

use callboard_core::dialect::TextReader;
use rustix::time::{ClockId, clock_gettime};

/// Linear work takes 4 times as long at 4 times the size, quadratic work 16 times.
const MOST_GROWTH: u32 = 8;
const TRIES: usize = 6;

/// Shorter times are not compared: they are mostly noise.
const SHORTEST: Duration = Duration::from_micros(100);

/// A task that takes longer than so many times the plain reading of as many bytes is measured at two sizes.
const SUSPICIOUS: u32 = 30;
const CALIBRATIONS: usize = 20;

/// How long it takes to read a value byte by byte, which every reader does about as fast.
pub(crate) struct Plain {
    size: usize,
    time: Duration,
}

impl Plain {
    pub(crate) fn measure(size: usize) -> Self {
        let read = || {
            let (mut reader, mut pieces) = (TextReader::new(&["f"]), Vec::new());
            reader.feed("<function=f><parameter=a>", &mut pieces);
            (0..size).for_each(|_| reader.feed("a", &mut pieces));
        };
        Self { size, time: (0..CALIBRATIONS).map(|_| cpu_time(read)).min().unwrap_or_default() }
    }

    /// Whether a task does linear work, or so little that it does not matter.
    pub(crate) fn permits(&self, work: &dyn Fn(usize)) -> bool {
        cpu_time(|| work(self.size)) <= self.time * SUSPICIOUS || is_linear(self.size, work)
    }
}

/// Whether four times the size takes much less than sixteen times as long. Noise only adds time, so one try is enough.
pub(crate) fn is_linear(size: usize, work: &dyn Fn(usize)) -> bool {
    (0..TRIES).any(|_| {
        let small = cpu_time(|| work(size)).max(SHORTEST);
        cpu_time(|| work(4 * size)) < small * MOST_GROWTH
    })
}

/// How long `work` keeps the CPU busy.
fn cpu_time(work: impl FnOnce()) -> Duration {
    let begin = now();
    work();
    now().saturating_sub(begin)
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanoseconds.unwrap_or_default())
}
