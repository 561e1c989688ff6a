//! Writes whose outcome no request waits for any more, such as those of a turn whose client has left. Readers of what turns write
//! wait for them first.

use std::sync::{Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt as _, Shared, join_all};

use super::error::StoreError;
use super::queue::closed;
use super::statement::{Answer, PendingAnswer};

/// Abandoned writes in flight.
#[derive(Debug, Default)]
pub(super) struct PendingWrites(Mutex<Vec<Shared<BoxFuture<'static, ()>>>>);

/// A write that a request waits for. Dropped before its answer came, it becomes a pending write.
struct AwaitedWrite<'a> {
    answer: Option<PendingAnswer>,
    pending: &'a PendingWrites,
}

impl Drop for AwaitedWrite<'_> {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            self.pending.add(answer);
        }
    }
}

impl PendingWrites {
    /// Waits for a write. It is added to the pending ones if the wait is abandoned.
    pub(super) async fn wait_for(&self, answer: PendingAnswer) -> Result<Answer, StoreError> {
        let mut awaited = AwaitedWrite { answer: Some(answer), pending: self };
        let answer = match &mut awaited.answer {
            Some(answer) => answer.await.ok(),
            None => None,
        };
        awaited.answer = None;
        answer.ok_or_else(closed)?
    }

    pub(super) fn add(&self, answer: PendingAnswer) {
        let logged = answer.map(|answer| match answer {
            Ok(Err(error)) => tracing::error!(%error, "a turn whose client left could not be stored"),
            Ok(Ok(Answer { conflict: Some(conflict), .. })) => {
                tracing::warn!(?conflict, "a turn whose client left could not be stored");
            }
            _ => {}
        });
        let mut in_flight = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        in_flight.retain(|write| write.clone().now_or_never().is_none());
        in_flight.push(logged.boxed().shared());
    }

    /// Waits until all that were added before are done.
    pub(super) async fn settled(&self) {
        let in_flight = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        join_all(in_flight).await;
    }
}
