//! Deletion of responses: immediately where none follows, otherwise together with the last follower.
//!
//! A deleted response with followers is hidden until then. A snapshot of a response is deleted with the response's row, the parts of a
//! chain with the last snapshot of that chain. Each deletion takes its locks before it checks for users, so a concurrent writer is
//! either seen or finds the row deleted.

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Conflict, Row, Statement, cells};

const HIDE: &str = "UPDATE responses SET deleted_at = $1 WHERE id = $2 AND deleted_at IS NULL";
const LOCK: &str = "UPDATE responses SET deleted_at = deleted_at WHERE id = $1";
const DELETE: &str = "DELETE FROM responses WHERE id = $1 \
     AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.previous_id = $1)";
const PREVIOUS: &str = "SELECT previous_id FROM responses WHERE id = $1";
const PREVIOUS_IF_DUE: &str = "SELECT previous_id FROM responses WHERE id = $1 \
     AND (deleted_at IS NOT NULL OR created_at < $2 OR expires_at < $3)";

/// Deletes what belongs to a response whose row was deleted, in this order.
const DELETE_PARTS: [&str; 4] = [
    "UPDATE chain_parts SET part = part WHERE part = 0 AND chain IN (SELECT chain FROM snapshots WHERE response_id = $1) \
     AND NOT EXISTS (SELECT 1 FROM responses WHERE id = $1)",
    "DELETE FROM chain_parts WHERE chain IN (SELECT chain FROM snapshots WHERE response_id = $1) \
     AND NOT EXISTS (SELECT 1 FROM responses WHERE id = $1) \
     AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.chain = chain_parts.chain \
     AND (s.response_id IS NULL OR s.response_id <> $1))",
    "DELETE FROM snapshots WHERE response_id = $1 AND NOT EXISTS (SELECT 1 FROM responses WHERE id = $1)",
    "DELETE FROM traces WHERE content_of = $1",
];

/// Which responses are due, beside those that were deleted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    /// Those created before this time.
    pub(super) created_before: i64,
    /// Those that expired before this time.
    pub(super) expired_before: i64,
}

impl Due {
    /// Only those that were deleted.
    const DELETED: Self = Self { created_before: i64::MIN, expired_before: i64::MIN };
}

impl Store {
    /// Deletes a response; false if there was none. Its followers stay usable: its row stays hidden until the last of them is
    /// deleted.
    pub async fn delete_response(&self, id: &str, now: i64) -> Result<bool, StoreError> {
        let previous = self.reads.first(Statement::new(PREVIOUS, cells![id]), Row::get::<Option<String>>).await?;
        let hide = Statement::new(HIDE, cells![now, id]).or(Conflict::Missing);
        let delete = Statement::new(DELETE, cells![id]);
        let statements = [hide, delete].into_iter().chain(delete_parts(id)).collect();
        if self.writes.write(statements).await?.is_some() {
            return Ok(false);
        }
        if let Some(previous) = previous.flatten() {
            self.delete_chain(previous, Due::DELETED).await?;
        }
        Ok(true)
    }

    /// Deletes a response and those before it, as far back as they are due and have no other follower.
    pub(super) async fn delete_chain(&self, last: String, due: Due) -> Result<u64, StoreError> {
        let (mut next, mut deleted) = (Some(last), 0);
        while let Some(id) = next {
            let cells = cells![&id, due.created_before, due.expired_before];
            let previous = self.reads.first(Statement::new(PREVIOUS_IF_DUE, cells), Row::get).await?;
            let Some(previous) = previous else { break };
            if self.writes.write(delete(&id)).await?.is_some() {
                break;
            }
            deleted += 1;
            next = previous;
        }
        Ok(deleted)
    }
}

/// Deletes a response, unless another follows it.
fn delete(id: &str) -> Vec<Statement> {
    let lock = Statement::new(LOCK, cells![id]).or(Conflict::Missing);
    let delete = Statement::new(DELETE, cells![id]).or(Conflict::Missing);
    [lock, delete].into_iter().chain(delete_parts(id)).collect()
}

fn delete_parts(id: &str) -> impl Iterator<Item = Statement> {
    DELETE_PARTS.into_iter().map(move |sql| Statement::new(sql, cells![id]))
}
