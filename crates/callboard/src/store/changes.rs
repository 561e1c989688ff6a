//! Tells listeners that something was written, so that they read it. It says not what: listeners see the database, with the writes of all processes.

use tokio::sync::watch;

use super::handle::Store;

/// Announces writes of this process, with the number of times that traces were among them. Costs one atomic read without listeners.
#[derive(Debug)]
pub(super) struct Changes(watch::Sender<u64>);

impl Default for Changes {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Changes {
    /// Something was written.
    pub(super) fn announce(&self) {
        self.announce_with(0);
    }

    /// Traces were written.
    pub(super) fn announce_traces(&self) {
        self.announce_with(1);
    }

    fn announce_with(&self, traces: u64) {
        if self.0.receiver_count() > 0 {
            self.0.send_modify(|count| *count = count.wrapping_add(traces));
        }
    }
}

impl Store {
    /// Announces what this process writes from now on. The value changes when traces are written.
    pub fn listen(&self) -> watch::Receiver<u64> {
        self.inner.changes.0.subscribe()
    }

    /// How many listen.
    pub fn listeners(&self) -> usize {
        self.inner.changes.0.receiver_count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn listeners_learn_of_what_follows() {
        let changes = Changes::default();
        changes.announce();
        let mut listener = changes.0.subscribe();
        assert!(!listener.has_changed().unwrap());
        changes.announce();
        listener.changed().await.unwrap();
        assert_eq!(*listener.borrow_and_update(), 0);
        changes.announce_traces();
        listener.changed().await.unwrap();
        assert_eq!(*listener.borrow_and_update(), 1);
    }
}
