//! What is forgotten, and when: by age and by number, in small batches, so that nobody waits for it.

use super::conversation;
use super::deletion::Due;
use super::error::StoreError;
use super::handle::Store;
use super::statement::{Cell, Conflict, Row, Statement};

const BATCH: i64 = 100;
const DAY: i64 = 24 * 60 * 60 * 1000;

/// How long things are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// So many days since they were last written; none for ever.
    pub days: Option<u32>,
    /// So many of them, the newest; none for all.
    pub most: Option<u32>,
}

/// How long each kind of thing is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Conversations with all that belongs to them.
    pub conversations: Keep,
    /// Responses; those that have expired go in any case. One that another follows goes with the last of them.
    pub responses: Keep,
    /// Histories of Chat Completions.
    pub snapshots: Keep,
    /// Traces.
    pub traces: Keep,
}

/// How much was forgotten.
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

/// Something that may be deleted, if it has not been written since.
struct Old {
    id: String,
    time: i64,
    chain: Option<String>,
}

/// A kind of thing: how the old and the surplus ones are found, how one of them is deleted, and how many in one transaction.
struct Kind {
    older: &'static str,
    surplus: &'static str,
    delete: fn(&Old) -> Vec<Statement>,
    together: usize,
}

/// None in which somebody plays a turn.
const CONVERSATIONS: Kind = Kind {
    older: "SELECT id, updated_at FROM conversations WHERE updated_at < $1 ORDER BY updated_at LIMIT $2",
    surplus: "SELECT id, updated_at FROM conversations ORDER BY updated_at DESC LIMIT $1 OFFSET $2",
    delete: |old| {
        let untouched = "DELETE FROM conversations WHERE id = $1 AND updated_at = $2 AND NOT EXISTS \
             (SELECT 1 FROM turn_leases l WHERE l.conversation_id = $1 AND l.expires_at > callboard_now() \
             AND l.version >= conversations.version)";
        let own = Statement::new(untouched, old.cells()).or(Conflict::Gone);
        std::iter::once(own).chain(conversation::delete_parts(&old.id)).collect()
    },
    together: 1,
};
const TRACES: Kind = Kind {
    older: "SELECT id, created_at FROM traces WHERE created_at < $1 ORDER BY created_at LIMIT $2",
    surplus: "SELECT id, created_at FROM traces ORDER BY created_at DESC LIMIT $1 OFFSET $2",
    delete: |old| vec![Statement::new("DELETE FROM traces WHERE id = $1", [old.id.as_str().into()])],
    // There are many, and nobody writes them again.
    together: 100,
};
/// Histories of Chat Completions only: a snapshot that was kept with a response goes with it.
const SNAPSHOTS: Kind = Kind {
    older: "SELECT history, kept_at, chain FROM snapshots WHERE kept_at < $1 AND response_id IS NULL \
         ORDER BY kept_at LIMIT $2",
    surplus: "SELECT history, kept_at, chain FROM snapshots WHERE response_id IS NULL \
         ORDER BY kept_at DESC LIMIT $1 OFFSET $2",
    delete: |old| {
        let lock = "UPDATE chain_parts SET part = part WHERE chain = $1 AND part = 0";
        let untouched = "DELETE FROM snapshots WHERE history = $1 AND kept_at = $2";
        let name = "DELETE FROM named_snapshots WHERE history = $1";
        let unused =
            "DELETE FROM chain_parts WHERE chain = $1 AND NOT EXISTS (SELECT 1 FROM snapshots WHERE chain = $1)";
        vec![
            Statement::new(lock, [old.chain.clone().into()]),
            Statement::new(untouched, old.cells()).or(Conflict::Gone),
            Statement::new(name, [old.id.as_str().into()]),
            Statement::new(unused, [old.chain.clone().into()]),
        ]
    },
    together: 1,
};

/// Responses that nobody follows, behind one that was seen already: those that are too old, have expired, or were hidden.
const OLD_ENDS: &str = "SELECT id, created_at FROM responses r WHERE created_at < $1 AND (created_at, id) > ($2, $3) \
     AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.previous_id = r.id) ORDER BY created_at, id LIMIT $4";
const EXPIRED_ENDS: &str = "SELECT id, expires_at FROM responses r WHERE expires_at < $1 AND (expires_at, id) > ($2, $3) \
     AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.previous_id = r.id) ORDER BY expires_at, id LIMIT $4";
const HIDDEN_ENDS: &str = "SELECT id, deleted_at FROM responses r WHERE deleted_at < $1 AND (deleted_at, id) > ($2, $3) \
     AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.previous_id = r.id) ORDER BY deleted_at, id LIMIT $4";
/// Those of turns that are over, or of processes that died in one, if nobody has taken them over.
const DELETE_STALE_LEASES: &str = "DELETE FROM turn_leases WHERE expires_at < callboard_now() - 3600000";
/// When the newest response was made that is one too many.
const SURPLUS_RESPONSE: &str = "SELECT created_at FROM responses ORDER BY created_at DESC LIMIT 1 OFFSET $1";

impl Store {
    /// Forgets what is too old or too much.
    pub async fn prune(&self, retention: &Retention, now: i64) -> Result<Pruned, StoreError> {
        self.writes().write(vec![Statement::new(DELETE_STALE_LEASES, [])]).await?;
        Ok(Pruned {
            conversations: self.prune_kind(&CONVERSATIONS, retention.conversations, now).await?,
            responses: self.prune_responses(retention.responses, now).await?,
            snapshots: self.prune_kind(&SNAPSHOTS, retention.snapshots, now).await?,
            traces: self.prune_kind(&TRACES, retention.traces, now).await?,
        })
    }

    async fn prune_kind(&self, kind: &Kind, keep: Keep, now: i64) -> Result<u64, StoreError> {
        let mut pruned = 0;
        if let Some(oldest) = keep.oldest(now) {
            pruned += self.prune_by(kind, kind.older, [oldest.into(), BATCH.into()]).await?;
        }
        if let Some(most) = keep.most {
            pruned += self.prune_by(kind, kind.surplus, [BATCH.into(), i64::from(most).into()]).await?;
        }
        Ok(pruned)
    }

    /// Deletes what the question finds, until it finds nothing, or nothing that can be deleted.
    async fn prune_by(&self, kind: &Kind, question: &'static str, cells: [Cell; 2]) -> Result<u64, StoreError> {
        let mut pruned = 0;
        loop {
            let rows = self.reads().read(Statement::new(question, cells.clone())).await?;
            let mut found = rows.into_iter().map(|mut row| Old::read(&mut row)).collect::<Result<Vec<_>, _>>()?;
            found.retain(|old| !self.is_playing(&old.id));
            let mut deleted = 0;
            for some in found.chunks(kind.together) {
                let conflict = self.writes().write(some.iter().flat_map(kind.delete).collect()).await?;
                deleted += conflict.map_or(some.len() as u64, |_| 0);
            }
            pruned += deleted;
            if deleted == 0 {
                return Ok(pruned);
            }
        }
    }

    async fn prune_responses(&self, keep: Keep, now: i64) -> Result<u64, StoreError> {
        let surplus = match keep.most {
            Some(most) => self.surplus_response(most).await?,
            None => None,
        };
        let made_before = keep.oldest(now).max(surplus.map(|time| time.saturating_add(1))).unwrap_or(i64::MIN);
        let due = Due { made_before, expired_before: now };
        Ok(self.prune_ends(OLD_ENDS, made_before, due).await?
            + self.prune_ends(EXPIRED_ENDS, now, due).await?
            + self.prune_ends(HIDDEN_ENDS, i64::MAX, due).await?)
    }

    async fn surplus_response(&self, most: u32) -> Result<Option<i64>, StoreError> {
        let rows = self.reads().read(Statement::new(SURPLUS_RESPONSE, [i64::from(most).into()])).await?;
        rows.into_iter().next().map(|mut row| row.integer()).transpose()
    }

    /// From the end of each chain back, once through all that the question finds.
    async fn prune_ends(&self, question: &'static str, bound: i64, due: Due) -> Result<u64, StoreError> {
        let (mut pruned, mut seen) = (0, (i64::MIN, String::new()));
        loop {
            let cells: [Cell; 4] = [bound.into(), seen.0.into(), seen.1.as_str().into(), BATCH.into()];
            let rows = self.reads().read(Statement::new(question, cells)).await?;
            let ends = rows.into_iter().map(|mut row| Old::read(&mut row)).collect::<Result<Vec<_>, _>>()?;
            let Some(last) = ends.last() else { return Ok(pruned) };
            seen = (last.time, last.id.clone());
            for end in ends {
                pruned += self.forget_chain(end.id, due).await?;
            }
        }
    }
}

impl Keep {
    /// What was written before is too old.
    fn oldest(self, now: i64) -> Option<i64> {
        self.days.map(|days| now.saturating_sub(i64::from(days).saturating_mul(DAY)))
    }
}

impl Old {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self { id: row.text()?, time: row.integer()?, chain: row.optional_text()? })
    }

    fn cells(&self) -> [Cell; 2] {
        [self.id.as_str().into(), self.time.into()]
    }
}
