//! Notifies subscribers that something was written, so that they read it. Not of what was: they read the database, with the writes of all processes.

use tokio::sync::watch;

use super::handle::Store;

/// Notifies of writes of this process; its value counts those with traces. Costs one atomic read without subscribers.
#[derive(Debug)]
pub(super) struct Changes(watch::Sender<u64>);

impl Default for Changes {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Changes {
    /// Something was written.
    pub(super) fn notify(&self) {
        self.notify_with(0);
    }

    /// Traces were written.
    pub(super) fn notify_traces(&self) {
        self.notify_with(1);
    }

    fn notify_with(&self, traces: u64) {
        if self.0.receiver_count() > 0 {
            self.0.send_modify(|count| *count = count.wrapping_add(traces));
        }
    }
}

impl Store {
    /// Notifies of what this process writes from now on. The value changes when traces are written.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.inner.changes.0.subscribe()
    }

    /// How many have subscribed.
    pub fn subscribers(&self) -> usize {
        self.inner.changes.0.receiver_count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn subscribers_are_notified_of_what_follows() {
        let changes = Changes::default();
        changes.notify();
        let mut subscriber = changes.0.subscribe();
        assert!(!subscriber.has_changed().unwrap());
        changes.notify();
        subscriber.changed().await.unwrap();
        assert_eq!(*subscriber.borrow_and_update(), 0);
        changes.notify_traces();
        subscriber.changed().await.unwrap();
        assert_eq!(*subscriber.borrow_and_update(), 1);
    }
}
