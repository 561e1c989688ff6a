//! The load of a model server, and its circuit breaker.
//!
//! A server that fails three times in a row is set aside. After a while, or once it lists its models, it is tried again, and
//! one more failure sets it aside for longer. A success resets the breaker.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const MOST_FAILURES: u32 = 3;
const SHORTEST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(60);

/// Load and circuit breaker of one server.
#[derive(Debug, Default)]
pub(super) struct Health {
    in_flight: Arc<AtomicUsize>,
    breaker: Mutex<Breaker>,
}

#[derive(Debug, Default)]
struct Breaker {
    failures: u32,
    set_aside_until: Option<Instant>,
}

/// Guard that counts one request as in flight.
#[derive(Debug)]
pub struct InFlight(Arc<AtomicUsize>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Health {
    pub(super) fn begin(&self) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(Arc::clone(&self.in_flight))
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(super) fn succeeded(&self) {
        let mut breaker = self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        if breaker.failures > 0 {
            *breaker = Breaker::default();
        }
    }

    /// It lists its models: it is tried again, but one more failure sets it aside.
    pub(super) fn half_open(&self) {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner).set_aside_until = None;
    }

    /// Counts a failure; true when the server is set aside by it.
    pub(super) fn failed(&self, now: Instant) -> bool {
        let mut breaker = self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        breaker.failures = breaker.failures.saturating_add(1);
        let beyond = breaker.failures.saturating_sub(MOST_FAILURES);
        if breaker.failures < MOST_FAILURES {
            return false;
        }
        let aside = SHORTEST.saturating_mul(1 << beyond.min(5)).min(LONGEST);
        breaker.set_aside_until = Some(now + aside);
        true
    }

    pub(super) fn is_set_aside(&self, now: Instant) -> bool {
        let breaker = self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        breaker.set_aside_until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_open_the_breaker_and_a_success_closes_it() {
        let (health, now) = (Health::default(), Instant::now());
        assert!(!health.failed(now) && !health.failed(now) && !health.is_set_aside(now));
        assert!(health.failed(now) && health.is_set_aside(now));
        assert!(!health.is_set_aside(now + SHORTEST));
        assert!(health.failed(now + SHORTEST), "one more failure sets it aside again, for longer");
        assert!(health.is_set_aside(now + SHORTEST + SHORTEST));
        health.succeeded();
        assert!(!health.is_set_aside(now));
        for _ in 0..100 {
            health.failed(now);
        }
        assert!(!health.is_set_aside(now + LONGEST));
    }

    #[test]
    fn a_server_that_only_lists_its_models_is_half_open() {
        let (health, now) = (Health::default(), Instant::now());
        assert!(!health.failed(now) && !health.failed(now) && health.failed(now));
        health.half_open();
        assert!(!health.is_set_aside(now));
        assert!(health.failed(now) && health.is_set_aside(now + SHORTEST), "aside again, for longer");
    }

    #[test]
    fn a_request_counts_while_in_flight() {
        let health = Health::default();
        let (first, second) = (health.begin(), health.begin());
        assert_eq!(health.in_flight(), 2);
        drop((first, second));
        assert_eq!(health.in_flight(), 0);
    }
}
