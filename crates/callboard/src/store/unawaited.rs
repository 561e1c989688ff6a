//! Writes that nobody waits for, such as those of a turn whose client has left: whoever looks for a history next waits for them.

use std::sync::{Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt as _, Shared, join_all};
use tokio::sync::oneshot;

use super::error::StoreError;
use super::statement::Answer;

/// Writes that are under way.
#[derive(Debug, Default)]
pub(super) struct Unawaited(Mutex<Vec<Shared<BoxFuture<'static, ()>>>>);

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
