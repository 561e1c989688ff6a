//! Whether the last write succeeded, for the readiness check.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::StoreError;
use super::handle::Store;
use super::lease::Lease;
use super::statement::{Answer, Job, Statement};

/// The outcome of the last change. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct WriteHealth {
    failed: Arc<AtomicBool>,
}

impl WriteHealth {
    /// Answers a job, and records its outcome.
    pub(super) fn answer(&self, job: Job, answer: Result<Answer, StoreError>) {
        if !job.work.change.is_empty() {
            self.failed.store(answer.is_err(), Ordering::Relaxed);
        }
        // The receiver may be gone.
        let _ = job.reply.send(answer);
    }
}

impl Store {
    /// Whether the database answers, and accepts writes: after a failed write, another is tried.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.reads.read(Statement::new("SELECT version FROM callboard_schema", [])).await?;
        if self.inner.health.failed.load(Ordering::Relaxed) {
            let lease = Lease { conversation: self.inner.new_name(), token: self.inner.new_name() };
            self.writes.write(lease.write_check()).await?;
        }
        Ok(())
    }
}
