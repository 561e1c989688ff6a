//! The limit on requests in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callboard_core::wire::ApiError;

use crate::telemetry::metrics;

/// A counter shared by all threads.
#[derive(Clone)]
pub(super) struct InFlight {
    count: Arc<AtomicUsize>,
    most: usize,
}

/// One request being answered; dropped when its reply is whole or its client is gone.
pub(super) struct Ticket(Arc<AtomicUsize>);

impl InFlight {
    pub(super) fn new(count: Arc<AtomicUsize>, most: usize) -> Self {
        Self { count, most }
    }

    pub(super) fn enter(&self) -> Result<Ticket, ApiError> {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        metrics::in_flight(1.0);
        let ticket = Ticket(Arc::clone(&self.count));
        if before >= self.most { Err(ApiError::too_many_in_flight(self.most)) } else { Ok(ticket) }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
        metrics::in_flight(-1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_too_many_is_refused_and_leaves_no_trace() {
        let count = Arc::new(AtomicUsize::new(0));
        let limit = InFlight::new(Arc::clone(&count), 1);
        let ticket = limit.enter().ok().unwrap();
        assert_eq!(limit.enter().err().unwrap().status, 503);
        drop(ticket);
        assert_eq!(count.load(Ordering::Relaxed), 0);
        assert!(limit.enter().is_ok());
    }
}
