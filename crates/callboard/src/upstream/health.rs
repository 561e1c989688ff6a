//! How a model server is doing: how much it has to do, and whether it is set aside for a while.
//!
//! A server that fails three times in a row is set aside; after that time, or once it lists its models, it is tried again,
//! and one more failure sets it aside for longer. A success clears everything.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const FAILURES: u32 = 3;
const SHORTEST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(60);

/// What is known about one server.
#[derive(Debug, Default)]
pub(super) struct Health {
    in_flight: Arc<AtomicUsize>,
    trouble: Mutex<Trouble>,
}

#[derive(Debug, Default)]
struct Trouble {
    failures: u32,
    aside_until: Option<Instant>,
}

/// One request that a server is busy with.
#[derive(Debug)]
pub struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Health {
    pub(super) fn begin(&self) -> Busy {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(&self.in_flight))
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(super) fn succeeded(&self) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if trouble.failures > 0 {
            *trouble = Trouble::default();
        }
    }

    /// It lists its models: it may be asked again, but one more failure sets it aside as before.
    pub(super) fn answers(&self) {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).aside_until = None;
    }

    /// Counts a failure; true when the server is set aside by it.
    pub(super) fn failed(&self, now: Instant) -> bool {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.failures = trouble.failures.saturating_add(1);
        let beyond = trouble.failures.saturating_sub(FAILURES);
        if trouble.failures < FAILURES {
            return false;
        }
        let aside = SHORTEST.saturating_mul(1 << beyond.min(5)).min(LONGEST);
        trouble.aside_until = Some(now + aside);
        true
    }

    pub(super) fn is_aside(&self, now: Instant) -> bool {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.aside_until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_set_aside_and_a_success_brings_back() {
        let (health, now) = (Health::default(), Instant::now());
        assert!(!health.failed(now) && !health.failed(now) && !health.is_aside(now));
        assert!(health.failed(now) && health.is_aside(now));
        assert!(!health.is_aside(now + SHORTEST));
        assert!(health.failed(now + SHORTEST), "one more failure sets it aside again, for longer");
        assert!(health.is_aside(now + SHORTEST + SHORTEST));
        health.succeeded();
        assert!(!health.is_aside(now));
        for _ in 0..100 {
            health.failed(now);
        }
        assert!(!health.is_aside(now + LONGEST));
    }

    #[test]
    fn a_server_that_only_lists_its_models_is_on_trial() {
        let (health, now) = (Health::default(), Instant::now());
        assert!(!health.failed(now) && !health.failed(now) && health.failed(now));
        health.answers();
        assert!(!health.is_aside(now));
        assert!(health.failed(now) && health.is_aside(now + SHORTEST), "aside again, for longer");
    }

    #[test]
    fn a_request_counts_while_it_lasts() {
        let health = Health::default();
        let (first, second) = (health.begin(), health.begin());
        assert_eq!(health.in_flight(), 2);
        drop((first, second));
        assert_eq!(health.in_flight(), 0);
    }
}
