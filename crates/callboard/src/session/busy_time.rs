//! How long a turn has kept its thread busy. Waiting does not count, so only work that grows without bound reaches the limit: it fails its
//! own request, and the thread goes on with others in between.

use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

/// The time that was spent in polls.
#[derive(Debug, Clone, Copy)]
pub(super) struct BusyTime {
    spent: Duration,
    most: Duration,
}

/// The limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooBusy(pub(super) Duration);

impl BusyTime {
    pub(super) fn new(most: Duration) -> Self {
        Self { spent: Duration::ZERO, most }
    }

    /// Runs a future as long as there is time left for it. It is borrowed, because it is large and would be copied.
    pub(super) async fn run<F: Future>(&mut self, mut future: Pin<&mut F>) -> Result<F::Output, TooBusy> {
        std::future::poll_fn(|cx| {
            let begun = Instant::now();
            let polled = future.as_mut().poll(cx);
            self.spent = self.spent.saturating_add(begun.elapsed());
            match polled {
                _ if self.spent > self.most => Poll::Ready(Err(TooBusy(self.most))),
                polled => polled.map(Ok),
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::pin::pin;

    use super::*;

    #[tokio::test]
    async fn work_counts_and_waiting_does_not() {
        let most = Duration::from_millis(20);
        let mut busy = BusyTime::new(most);
        let mut never = pin!(pending::<()>());
        let waiting = tokio::time::timeout(2 * most, busy.run(never.as_mut()));
        assert!(waiting.await.is_err(), "a future that waits is not stopped");
        assert_eq!(busy.run(pin!(ready(1))).await, Ok(1));
        let mut polls = 0;
        let work = std::future::poll_fn(|cx| {
            let begun = Instant::now();
            while begun.elapsed() < most / 4 {}
            polls += 1;
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert_eq!(busy.run(pin!(work)).await, Err(TooBusy(most)));
        assert!(polls > 0 && polls <= 5, "{polls}");
    }
}
