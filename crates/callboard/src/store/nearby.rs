//! Connections to PostgreSQL on the threads that serve. What is asked on such a thread is done on it, and not handed to another thread and
//! back, which wakes both of them.
//!
//! SQLite waits for a disk, so it stays on threads of its own.

use std::sync::Arc;

use super::ledger::{Store, StoreSettings};
use super::postgres::{self, Access};
use super::queue::OwnDoor;

/// So many connections belong to no thread that serves.
const SHARED: usize = 2;
/// A thread has so many of its own, or none.
const LEAST: usize = 2;

/// What each thread that serves has of the connections.
#[derive(Debug)]
pub(super) struct Share {
    access: Arc<Access>,
    connections: usize,
}

impl Share {
    /// Also tells how many connections are left for all others.
    pub(super) fn new(access: &Arc<Access>, settings: &StoreSettings) -> (Option<Self>, usize) {
        let (connections, others) = shares(settings.connections, settings.serving_threads);
        ((connections > 0).then(|| Self { access: Arc::clone(access), connections }), others)
    }
}

impl Store {
    /// Has this thread do the work that is asked for on it, in a future that is run here until the door is dropped, and then to its end.
    /// None where others do it. Once on each thread.
    pub fn nearby(&self) -> Option<(OwnDoor, impl Future<Output = ()> + Send + 'static + use<>)> {
        let Share { access, connections } = self.inner.share.as_ref()?;
        let (door, jobs, elsewhere) = self.writes().ok()?.divert();
        let settings = StoreSettings { connections: *connections, ..self.inner.settings.clone() };
        let (access, health) = (Arc::clone(access), self.inner.health.clone());
        let work = async move { postgres::serve_all(&access, &settings, &health, jobs, Some(elsewhere)).await };
        Some((door, work))
    }
}

/// How many connections each of these threads has, and how many are left.
fn shares(connections: usize, threads: usize) -> (usize, usize) {
    let each = connections.saturating_sub(SHARED).checked_div(threads).filter(|each| *each >= LEAST).unwrap_or(0);
    (each, connections - each * threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_shared_out_where_there_are_enough() {
        for (connections, threads, expected) in [
            (16, 0, (0, 16)),
            (16, 2, (7, 2)),
            (16, 4, (3, 4)),
            (16, 7, (2, 2)),
            (16, 8, (0, 16)),
            (4, 1, (2, 2)),
            (3, 1, (0, 3)),
            (1, 2, (0, 1)),
        ] {
            assert_eq!(shares(connections, threads), expected, "{connections} for {threads}");
        }
    }
}
