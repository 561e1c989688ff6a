//! Deletion of what is past its retention, in small batches, so that no request waits for it.

use super::conversation;
use super::error::StoreError;
use super::handle::Store;
use super::response_deletion::Due;
use super::statement::{Conflict, Row, Statement, cells};

const BATCH: i64 = 100;
const DAY: i64 = 24 * 60 * 60 * 1000;

/// How many days each kind of record is kept since it was last written; none means forever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Conversations with all that belongs to them.
    pub conversations: Option<u32>,
    /// Responses; expired ones are always deleted. One that another follows is deleted with the last of them.
    pub responses: Option<u32>,
    /// Histories of Chat Completions.
    pub snapshots: Option<u32>,
    /// Traces.
    pub traces: Option<u32>,
    /// What was found out about model servers.
    pub findings: Option<u32>,
}

/// How much was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Conversations.
    pub conversations: u64,
    /// Responses.
    pub responses: u64,
    /// Histories.
    pub snapshots: u64,
    /// Traces.
    pub traces: u64,
}

/// A row that may be deleted, unless it was written since.
struct OldRow {
    id: String,
    time: i64,
    chain: Option<String>,
}

/// How old rows of one kind are found, how one is deleted, and how many in one transaction.
struct PrunedKind {
    older: &'static str,
    delete: fn(&OldRow) -> Vec<Statement>,
    batch: usize,
}

/// None with a turn in progress.
const CONVERSATIONS: PrunedKind = PrunedKind {
    older: "SELECT id, updated_at FROM conversations WHERE updated_at < $1 ORDER BY updated_at LIMIT $2",
    delete: |old| {
        let untouched = "DELETE FROM conversations WHERE id = $1 AND updated_at = $2 AND NOT EXISTS \
             (SELECT 1 FROM turn_leases l WHERE l.conversation_id = $1 AND l.expires_at > callboard_now() \
             AND l.version >= conversations.version)";
        let own = Statement::new(untouched, cells![&old.id, old.time]).or(Conflict::Missing);
        std::iter::once(own).chain(conversation::delete_parts(&old.id)).collect()
    },
    batch: 1,
};
const TRACES: PrunedKind = PrunedKind {
    older: "SELECT id, created_at FROM traces WHERE created_at < $1 ORDER BY created_at LIMIT $2",
    delete: |old| vec![Statement::new("DELETE FROM traces WHERE id = $1", cells![&old.id])],
    // They are many, and never updated.
    batch: 100,
};
/// Histories of Chat Completions only: a snapshot of a response is deleted with it.
const SNAPSHOTS: PrunedKind = PrunedKind {
    older: "SELECT history, kept_at, chain FROM snapshots WHERE kept_at < $1 AND response_id IS NULL \
         ORDER BY kept_at LIMIT $2",
    delete: |old| {
        let lock = "UPDATE chain_parts SET part = part WHERE chain = $1 AND part = 0";
        let untouched = "DELETE FROM snapshots WHERE history = $1 AND kept_at = $2";
        let name = "DELETE FROM named_snapshots WHERE history = $1";
        let unused =
            "DELETE FROM chain_parts WHERE chain = $1 AND NOT EXISTS (SELECT 1 FROM snapshots WHERE chain = $1)";
        let chain = old.chain.as_deref();
        vec![
            Statement::new(lock, cells![chain]),
            Statement::new(untouched, cells![&old.id, old.time]).or(Conflict::Missing),
            Statement::new(name, cells![&old.id]),
            Statement::new(unused, cells![chain]),
        ]
    },
    batch: 1,
};

/// Responses without followers, after a cursor: those that are too old, have expired, or were deleted by a client.
const OLD_ENDS: &str = "SELECT id, created_at FROM responses r WHERE created_at < $1 AND (created_at, id) > ($2, $3) \
     AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.previous_id = r.id) ORDER BY created_at, id LIMIT $4";
const EXPIRED_ENDS: &str = "SELECT id, expires_at FROM responses r WHERE expires_at < $1 AND (expires_at, id) > ($2, $3) \
     AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.previous_id = r.id) ORDER BY expires_at, id LIMIT $4";
const DELETED_ENDS: &str = "SELECT id, deleted_at FROM responses r WHERE deleted_at < $1 AND (deleted_at, id) > ($2, $3) \
     AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.previous_id = r.id) ORDER BY deleted_at, id LIMIT $4";
const DELETE_OLD_FINDINGS: &str = "DELETE FROM server_findings WHERE found_at < $1";
const DELETE_STALE_LEASES: &str = "DELETE FROM turn_leases WHERE expires_at < callboard_now() - 3600000";

impl Store {
    /// Deletes what is too old.
    pub async fn prune(&self, retention: &Retention, now: i64) -> Result<Pruned, StoreError> {
        self.writes.write(vec![Statement::new(DELETE_STALE_LEASES, [])]).await?;
        if let Some(oldest) = oldest(retention.findings, now) {
            self.writes.write(vec![Statement::new(DELETE_OLD_FINDINGS, cells![oldest])]).await?;
        }
        Ok(Pruned {
            conversations: self.prune_kind(&CONVERSATIONS, retention.conversations, now).await?,
            responses: self.prune_responses(retention.responses, now).await?,
            snapshots: self.prune_kind(&SNAPSHOTS, retention.snapshots, now).await?,
            traces: self.prune_kind(&TRACES, retention.traces, now).await?,
        })
    }

    /// Deletes old rows until none is found, or none can be deleted.
    async fn prune_kind(&self, kind: &PrunedKind, days: Option<u32>, now: i64) -> Result<u64, StoreError> {
        let Some(oldest) = oldest(days, now) else { return Ok(0) };
        let mut pruned = 0;
        loop {
            let mut found = self.reads.all(Statement::new(kind.older, cells![oldest, BATCH]), OldRow::read).await?;
            found.retain(|old| !self.has_running_turn(&old.id));
            let mut deleted = 0;
            for batch in found.chunks(kind.batch) {
                let conflict = self.writes.write(batch.iter().flat_map(kind.delete).collect()).await?;
                deleted += conflict.map_or(batch.len() as u64, |_| 0);
            }
            pruned += deleted;
            if deleted == 0 {
                return Ok(pruned);
            }
        }
    }

    async fn prune_responses(&self, days: Option<u32>, now: i64) -> Result<u64, StoreError> {
        let created_before = oldest(days, now).unwrap_or(i64::MIN);
        let due = Due { created_before, expired_before: now };
        Ok(self.prune_ends(OLD_ENDS, created_before, due).await?
            + self.prune_ends(EXPIRED_ENDS, now, due).await?
            + self.prune_ends(DELETED_ENDS, i64::MAX, due).await?)
    }

    /// Deletes chains of responses from their ends, which the query finds page by page.
    async fn prune_ends(&self, query: &'static str, bound: i64, due: Due) -> Result<u64, StoreError> {
        let (mut pruned, mut seen) = (0, (i64::MIN, String::new()));
        loop {
            let cells = cells![bound, seen.0, &seen.1, BATCH];
            let ends = self.reads.all(Statement::new(query, cells), OldRow::read).await?;
            let Some(last) = ends.last() else { return Ok(pruned) };
            seen = (last.time, last.id.clone());
            for end in ends {
                pruned += self.delete_chain(end.id, due).await?;
            }
        }
    }
}

/// Rows written before this time are past their retention.
fn oldest(days: Option<u32>, now: i64) -> Option<i64> {
    days.map(|days| now.saturating_sub(i64::from(days).saturating_mul(DAY)))
}

impl OldRow {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self { id: row.get()?, time: row.get()?, chain: row.get()? })
    }
}
