//! Whether the database accepts writes, for the readiness check.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::error::StoreError;
use super::handle::Store;
use super::lease::Lease;
use super::statement::{Answer, Job, Statement};

/// As large as a turn: on a full disk a smaller change may still fit.
const CHECK_BYTES: usize = 64 << 10;

/// A check that succeeded is not repeated for this long.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Whether a change failed since the last check, and when one last succeeded. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct WriteHealth {
    failed: Arc<AtomicBool>,
    checked: Arc<Mutex<Option<Instant>>>,
}

impl WriteHealth {
    /// Answers a job, and records its outcome.
    pub(super) fn answer(&self, job: Job, answer: Result<Answer, StoreError>) {
        // A small change that succeeds proves nothing: see `CHECK_BYTES`.
        if !job.work.change.is_empty() && answer.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        // The receiver may be gone.
        let _ = job.reply.send(answer);
    }
}

impl Store {
    /// Whether the database answers, and accepts writes.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.reads.read(Statement::new("SELECT version FROM callboard_schema", [])).await?;
        let health = &self.inner.health;
        let mut checked = health.checked.lock().await;
        let has_failed = health.failed.swap(false, Ordering::Relaxed);
        if !has_failed && checked.is_some_and(|at| at.elapsed() < CHECK_EVERY) {
            return Ok(());
        }
        *checked = None;
        self.check_write().await?;
        *checked = Some(Instant::now());
        Ok(())
    }

    /// The release is a change of its own: pages that are used and freed in the same one are not written.
    async fn check_write(&self) -> Result<(), StoreError> {
        let name = self.inner.check_name();
        let lease = Lease { conversation: name.clone(), token: name };
        self.writes.write(lease.write_check(CHECK_BYTES)).await?;
        self.writes.write(vec![lease.release()]).await.map(drop)
    }
}
