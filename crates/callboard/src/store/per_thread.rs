//! A store handle for each serving thread, with PostgreSQL connections of its own: a query that is handed to another thread and back
//! wakes both of them.
//!
//! SQLite waits for a disk, so it stays on threads of its own.

use std::sync::Arc;

use super::handle::{Store, StoreSettings};
use super::postgres::{self, Server, ThreadPool};

/// The fewest shared connections.
const SHARED_AT_LEAST: usize = 2;
/// The fewest connections that a thread gets; with fewer it gets none.
const OWN_AT_LEAST: usize = 2;

/// The connections of each serving thread.
#[derive(Debug)]
pub(super) struct ThreadShare {
    server: Arc<Server>,
    connections: usize,
}

impl ThreadShare {
    /// Also returns how many connections are left for the shared pool.
    pub(super) fn new(server: &Arc<Server>, settings: &StoreSettings) -> (Option<Self>, usize) {
        let (connections, shared) = shares(settings.connections, settings.serving_threads);
        ((connections > 0).then(|| Self { server: Arc::clone(server), connections }), shared)
    }
}

impl Store {
    /// A handle for one serving thread, and the future that runs its connections there. When `closed` completes, the future finishes
    /// what was submitted and ends; the handle then uses the shared connections, as it does where there are too few to share out.
    pub fn for_thread<F>(&self, closed: F) -> (Self, impl Future<Output = ()> + Send + 'static + use<F>)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (store, pool) = match &self.inner.share {
            Some(share) => self.with_own_pool(share),
            None => (self.clone(), None),
        };
        let run = async move {
            if let Some(pool) = pool {
                postgres::serve_thread(pool, closed).await;
            }
        };
        (store, run)
    }

    fn with_own_pool(&self, share: &ThreadShare) -> (Self, Option<ThreadPool>) {
        let (queue, jobs) = self.writes.for_thread();
        let pool = ThreadPool {
            server: Arc::clone(&share.server),
            settings: StoreSettings { connections: share.connections, ..self.inner.settings.clone() },
            health: self.inner.health.clone(),
            jobs,
            shared: queue.shared(),
        };
        (Self { reads: queue.clone(), writes: queue, inner: Arc::clone(&self.inner) }, Some(pool))
    }
}

/// How many connections each of these threads has, and how many are left.
fn shares(connections: usize, threads: usize) -> (usize, usize) {
    let available = connections.saturating_sub(SHARED_AT_LEAST);
    let each = available.checked_div(threads).filter(|each| *each >= OWN_AT_LEAST).unwrap_or(0);
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
