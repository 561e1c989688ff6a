//! How long a call has been running, by Callboard's clock.
//!
//! A worker reports when it starts a call, in memory that the call itself can write. So the earliest start that was seen
//! counts, and a worker that has read a request has started it, whatever it reports.

use std::time::{Duration, Instant};

/// How long a worker may take to start a call, on top of the call's own limit.
pub(super) const PICKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// When a call that is not done is looked at first: soon, so that its start is known before it can be falsified much.
const FIRST_CHECK: Duration = Duration::from_millis(10);

/// How often a call that has not started is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) struct CallClock {
    limit: Duration,
    /// When the worker could have started the call.
    since: Instant,
    started: Option<Instant>,
}

/// What a worker shows of a call.
#[derive(Clone, Copy)]
pub(crate) struct Observation {
    /// How long ago it started the call, as it reports itself.
    pub(crate) reported: Option<Duration>,
    /// Whether it has read the request.
    pub(crate) is_read: bool,
}

impl CallClock {
    pub(crate) fn new(limit: Duration, since: Instant) -> Self {
        Self { limit, since, started: None }
    }

    pub(crate) fn first_check(&self) -> Instant {
        self.since + self.limit.min(FIRST_CHECK)
    }

    pub(crate) fn observe(&mut self, now: Instant, seen: Observation) {
        let reported =
            seen.reported.map(|elapsed| now.checked_sub(elapsed).map_or(self.since, |at| at.max(self.since)));
        let start = reported.or_else(|| seen.is_read.then_some(now));
        self.started = self.started.into_iter().chain(start).min();
    }

    /// When to look again; `None` once the call has run for too long.
    pub(crate) fn next_check(&self, now: Instant) -> Option<Instant> {
        let (end, next) = match self.started {
            Some(started) => (started + self.limit, started + self.limit),
            None => (self.since + self.limit + PICKUP_TIMEOUT, now + POLL_INTERVAL),
        };
        (now < end).then_some(next)
    }

    pub(crate) fn has_started(&self) -> bool {
        self.started.is_some()
    }

    pub(crate) fn elapsed(&self, now: Instant) -> Duration {
        self.started.map_or(Duration::ZERO, |started| now.saturating_duration_since(started))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(100);

    fn reports(milliseconds: u64) -> Observation {
        Observation { reported: Some(Duration::from_millis(milliseconds)), is_read: true }
    }

    /// Looks at a call at these milliseconds, and returns when it must end.
    fn end_after(observations: &[(u64, Observation)]) -> Duration {
        let since = Instant::now();
        let mut clock = CallClock::new(LIMIT, since);
        for (at, seen) in observations {
            clock.observe(since + Duration::from_millis(*at), *seen);
        }
        clock.next_check(since).unwrap() - since
    }

    #[test]
    fn the_earliest_start_counts() {
        let (silent, unread) =
            (Observation { reported: None, is_read: true }, Observation { reported: None, is_read: false });
        let rows: [(&[(u64, Observation)], u64); 6] = [
            (&[(10, reports(8))], 102),
            (&[(10, reports(8)), (90, reports(0))], 102),
            (&[(10, reports(8)), (90, silent)], 102),
            (&[(10, silent), (50, reports(0))], 110),
            (&[(10, reports(50))], 100),
            (&[(10, unread), (30, reports(5))], 125),
        ];
        for (observations, end) in rows {
            assert_eq!(end_after(observations), Duration::from_millis(end));
        }
    }

    #[test]
    fn a_call_that_is_not_read_may_still_start() {
        let since = Instant::now();
        let mut clock = CallClock::new(LIMIT, since);
        let late = since + LIMIT + PICKUP_TIMEOUT / 2;
        clock.observe(late, Observation { reported: None, is_read: false });
        assert_eq!(clock.next_check(late), Some(late + POLL_INTERVAL));
        assert_eq!(clock.next_check(since + LIMIT + PICKUP_TIMEOUT), None);
    }
}
