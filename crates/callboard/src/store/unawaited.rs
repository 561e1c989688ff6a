//! Writes that nobody waits for, such as those of a turn whose client has left: whoever looks at what turns write waits for them.

use std::sync::{Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt as _, Shared, join_all};
use tokio::sync::oneshot;

use super::error::StoreError;
use super::statement::Answer;

/// Writes that are under way.
#[derive(Debug, Default)]
pub(super) struct Unawaited(Mutex<Vec<Shared<BoxFuture<'static, ()>>>>);

/// A write that is waited for. If whoever waits is dropped, it becomes one that nobody waits for.
pub(super) struct Awaited<'a> {
    answer: Option<oneshot::Receiver<Result<Answer, StoreError>>>,
    unawaited: &'a Unawaited,
}

impl<'a> Awaited<'a> {
    pub(super) fn new(answer: oneshot::Receiver<Result<Answer, StoreError>>, unawaited: &'a Unawaited) -> Self {
        Self { answer: Some(answer), unawaited }
    }

    /// What came of it; none where the store has ended.
    pub(super) async fn answer(mut self) -> Option<Result<Answer, StoreError>> {
        let answer = self.answer.as_mut()?.await.ok();
        self.answer = None;
        answer
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            self.unawaited.add(answer);
        }
    }
}

impl Unawaited {
    pub(super) fn add(&self, answer: oneshot::Receiver<Result<Answer, StoreError>>) {
        let told = answer.map(|answer| match answer {
            Ok(Err(error)) => tracing::error!(%error, "a turn that its client left could not be stored"),
            Ok(Ok(Answer { missed: Some(miss), .. })) => {
                tracing::warn!(?miss, "a turn that its client left could not be stored");
            }
            _ => {}
        });
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.retain(|write| write.clone().now_or_never().is_none());
        under_way.push(told.boxed().shared());
    }

    /// Waits until all that were added before are done.
    pub(super) async fn settled(&self) {
        let under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        join_all(under_way).await;
    }
}
