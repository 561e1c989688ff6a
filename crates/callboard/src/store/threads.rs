//! The store's own threads, owned and joined here: those that wait for a disk, and the one behind connections that others have of their own.

use std::thread::JoinHandle;

use super::error::StoreError;

/// Threads that end when their queue is closed.
#[derive(Debug, Default)]
pub(super) struct Threads(Vec<JoinHandle<()>>);

impl Threads {
    /// Starts one more.
    pub(super) fn start(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
        self.0.push(thread.map_err(|error| StoreError::Unavailable(format!("no thread can be started: {error}")))?);
        Ok(())
    }

    /// Waits until all have ended. Whoever calls has closed their queues.
    pub(super) fn join(&mut self) {
        for thread in self.0.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the store panicked");
            }
        }
    }
}
