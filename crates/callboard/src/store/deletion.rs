//! Deletion of responses: at once where none follows, and otherwise with the last response that does.
//!
//! A deleted response with followers is hidden until then. A snapshot of a response is deleted with the response's row, the parts of a
//! chain with the last snapshot of that chain. Each deletion locks before it checks whether something is still used: a concurrent
//! writer that builds on it is either seen, or finds it gone.

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Conflict, Statement, cells};

const HIDE: &str = "UPDATE responses SET deleted_at = $1 WHERE id = $2 AND deleted_at IS NULL";
const LOCK: &str = "UPDATE responses SET deleted_at = deleted_at WHERE id = $1";
const DELETE: &str = "DELETE FROM responses WHERE id = $1 \
     AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.previous_id = $1)";
const BEFORE: &str = "SELECT previous_id FROM responses WHERE id = $1";
const BEFORE_IF_DUE: &str = "SELECT previous_id FROM responses WHERE id = $1 \
     AND (deleted_at IS NOT NULL OR created_at < $2 OR expires_at < $3)";

/// Deletes what belongs to a response whose row is gone, in this order.
const CLEAR: [&str; 3] = [
    "UPDATE chain_parts SET part = part WHERE part = 0 AND chain IN (SELECT chain FROM snapshots WHERE response_id = $1) \
     AND NOT EXISTS (SELECT 1 FROM responses WHERE id = $1)",
    "DELETE FROM chain_parts WHERE chain IN (SELECT chain FROM snapshots WHERE response_id = $1) \
     AND NOT EXISTS (SELECT 1 FROM responses WHERE id = $1) \
     AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.chain = chain_parts.chain \
     AND (s.response_id IS NULL OR s.response_id <> $1))",
    "DELETE FROM snapshots WHERE response_id = $1 AND NOT EXISTS (SELECT 1 FROM responses WHERE id = $1)",
];
const DELETE_TRACES: &str = "DELETE FROM traces WHERE content_of = $1";

/// Which responses are due, beside those that were deleted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    /// Those that were made before.
    pub(super) made_before: i64,
    /// Those that expired before.
    pub(super) expired_before: i64,
}

impl Due {
    /// Only those that were deleted.
    const DELETED: Self = Self { made_before: i64::MIN, expired_before: i64::MIN };
}

impl Store {
    /// Deletes a response; false if there was none. Those that follow it can be followed as before: its row stays for them,
    /// hidden, until the last of them is gone.
    pub async fn delete_response(&self, id: &str, now: i64) -> Result<bool, StoreError> {
        let before = self.reads().read(Statement::new(BEFORE, cells![id])).await?;
        let hide = Statement::new(HIDE, cells![now, id]).or(Conflict::Gone);
        let delete = Statement::new(DELETE, cells![id]);
        let statements = [hide, delete].into_iter().chain(clear(id)).collect();
        if self.writes().write(statements).await?.is_some() {
            return Ok(false);
        }
        if let Some(previous) = before.into_iter().next().and_then(|mut row| row.optional_text().transpose()) {
            self.delete_chain(previous?, Due::DELETED).await?;
        }
        Ok(true)
    }

    /// Deletes a response and those before it, as far back as they are due and have no other follower.
    pub(super) async fn delete_chain(&self, last: String, due: Due) -> Result<u64, StoreError> {
        let (mut next, mut deleted) = (Some(last), 0);
        while let Some(id) = next {
            let cells = cells![&id, due.made_before, due.expired_before];
            let found = self.reads().read(Statement::new(BEFORE_IF_DUE, cells)).await?;
            let Some(mut row) = found.into_iter().next() else { break };
            if self.writes().write(delete(&id)).await?.is_some() {
                break;
            }
            deleted += 1;
            next = row.optional_text()?;
        }
        Ok(deleted)
    }
}

/// Deletes a response, unless another follows it.
fn delete(id: &str) -> Vec<Statement> {
    let lock = Statement::new(LOCK, cells![id]).or(Conflict::Gone);
    let delete = Statement::new(DELETE, cells![id]).or(Conflict::Gone);
    [lock, delete].into_iter().chain(clear(id)).collect()
}

fn clear(id: &str) -> impl Iterator<Item = Statement> {
    CLEAR.into_iter().chain([DELETE_TRACES]).map(move |sql| Statement::new(sql, cells![id]))
}
