//! The journal of a conversation in the store, and undo as one transaction.

use std::sync::Arc;

use callboard_core::journal::{CallNote, Entry, Target, UndoError, UndoOutcome};

use super::error::StoreError;
use super::exclusive_turn::Turn;
use super::handle::Store;
use super::statement::{Row, Statement, cells};
use super::turn_records::TurnRecords;
use super::turn_write::TurnWrite;

const INSERT: &str = "INSERT INTO journal (conversation_id, sequence, undone_by, body) VALUES ($1, $2, NULL, $3)";
const SELECT: &str =
    "SELECT undone_by, body FROM journal WHERE conversation_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";
const MARK: &str = "UPDATE journal SET undone_by = $1 WHERE conversation_id = $2 AND sequence = $3";

/// Why nothing was undone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoFailure {
    /// The journal does not allow it.
    #[error(transparent)]
    Refused(#[from] UndoError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Entries after a sequence, in order.
    pub async fn journal(&self, conversation: &str, after: u64, limit: i64) -> Result<Vec<Entry>, StoreError> {
        let query = Statement::new(SELECT, cells![conversation, number(after), limit]);
        self.settled_reads().await.all(query, read).await
    }
}

impl Turn {
    /// Undoes a target and writes the result; none where the target is empty.
    pub async fn undo(&mut self, target: &Target, note: CallNote) -> Result<Option<UndoOutcome>, UndoFailure> {
        let mut memory = self.head.memory.clone().unwrap_or_default();
        let entries = self.held.store.journal(&self.head.conversation.id, 0, i64::MAX).await?;
        memory.record = memory.record.with_journal(entries);
        let at = note.at;
        let Some(undone) = memory.record.undo(target, note)? else { return Ok(None) };
        let write = TurnWrite { at, memory: Some(Arc::new(memory)), ..TurnWrite::default() };
        self.perform(write.plan(&self.head)?, &TurnRecords::default()).await?;
        Ok(Some(undone))
    }
}

pub(super) fn insert(conversation: &str, entry: &Entry) -> Result<Statement, StoreError> {
    let body = serde_json::to_string(entry).map_err(StoreError::damaged("a journal entry"))?;
    Ok(Statement::new(INSERT, cells![conversation, number(entry.sequence), body]).independent())
}

pub(super) fn mark(conversation: &str, sequence: u64, by: Option<u64>) -> Statement {
    Statement::new(MARK, cells![by.map(number), conversation, number(sequence)])
}

fn read(row: &mut Row) -> Result<Entry, StoreError> {
    let undone_by = row.get::<Option<i64>>()?.and_then(|by| u64::try_from(by).ok());
    let entry: Entry = serde_json::from_str(&row.get::<String>()?).map_err(StoreError::damaged("a journal entry"))?;
    Ok(Entry { undone_by, ..entry })
}

fn number(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap_or(i64::MAX)
}
