//! Whether the database accepts writes, as far as the last one shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::StoreError;
use super::handle::Store;
use super::lease::Lease;
use super::statement::{Answer, Job, Statement, Work};

/// The outcome of the last change. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct WriteHealth {
    failed: Arc<AtomicBool>,
}

impl WriteHealth {
    /// Answers a job, and notes its outcome.
    pub(super) fn answer(&self, job: Job, answer: Result<Answer, StoreError>) {
        if matches!(job.work, Work::Write(..)) {
            self.note(answer.is_ok());
        }
        // The receiver may be gone.
        let _ = job.reply.send(answer);
    }

    /// Notes the outcome of a change.
    pub(super) fn note(&self, was_made: bool) {
        self.failed.store(!was_made, Ordering::Relaxed);
    }

    fn is_failing(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

impl Store {
    /// Whether the database answers, and accepts writes: after one has failed, another is tried.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.reads().read(Statement::new("SELECT version FROM callboard_schema", [])).await?;
        if self.inner.health.is_failing() {
            let lease = Lease { conversation: self.inner.new_name(), token: self.inner.new_name() };
            self.writes().write(lease.write_check()).await?;
        }
        Ok(())
    }
}
