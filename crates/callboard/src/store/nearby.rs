//! Connections to PostgreSQL on the threads that serve. What is asked on such a thread is done on it: to hand it to another thread and
//! back costs as much as to ask for it.
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

/// What keeps the work of a thread on it, until this is dropped.
#[derive(Debug)]
pub struct Nearby {
    _door: OwnDoor,
}

/// What the threads that serve need for connections of their own.
#[derive(Debug)]
pub(super) struct Neighbourhood {
    access: Arc<Access>,
    /// Connections of each.
    each: usize,
}

impl Neighbourhood {
    /// Also tells how many connections are left for all others.
    pub(super) fn new(access: &Arc<Access>, settings: &StoreSettings) -> (Option<Self>, usize) {
        let (each, others) = shares(settings.connections, settings.serving_threads);
        ((each > 0).then(|| Self { access: Arc::clone(access), each }), others)
    }
}

impl Store {
    /// Has this thread do the work that is asked for on it, in a future that is run here until `Nearby` is dropped, and then to its end.
    /// None where others do it. Once on each thread.
    pub fn nearby(&self) -> Option<(Nearby, impl Future<Output = ()> + Send + 'static + use<>)> {
        let neighbourhood = self.inner.neighbourhood.as_ref()?;
        let (door, jobs, elsewhere) = self.writes().ok()?.divert();
        let settings = StoreSettings { connections: neighbourhood.each, ..self.inner.settings.clone() };
        let (access, health) = (Arc::clone(&neighbourhood.access), self.inner.health.clone());
        let work = async move { postgres::serve_all(&access, &settings, &health, jobs, Some(elsewhere)).await };
        Some((Nearby { _door: door }, work))
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
