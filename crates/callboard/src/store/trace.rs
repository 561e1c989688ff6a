//! Traces: what happened in a turn, for people to look at.

use super::error::StoreError;
use super::ledger::Store;
use super::page::Page;
use super::statement::{Row, Statement};

const INSERT: &str = "INSERT INTO traces (id, conversation_id, created_at, body) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (id) DO NOTHING";
const ONE: &str = "SELECT id, conversation_id, created_at, body FROM traces WHERE id = $1";
const NEWEST: &str = "SELECT id, conversation_id, created_at, body FROM traces WHERE (created_at, id) < ($1, $2) \
     ORDER BY created_at DESC, id DESC LIMIT $3";

/// A stored trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Its id.
    pub id: String,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
    /// When the turn began.
    pub created_at: i64,
    /// The trace as JSON.
    pub body: String,
}

impl Store {
    /// One trace.
    pub async fn trace(&self, id: &str) -> Result<Option<Trace>, StoreError> {
        let rows = self.reads()?.read(Statement::new(ONE, [id.into()])).await?;
        rows.into_iter().next().as_mut().map(Trace::read).transpose()
    }

    /// Traces, newest first.
    pub async fn traces(&self, page: &Page) -> Result<Vec<Trace>, StoreError> {
        let rows = self.reads()?.read(Statement::new(NEWEST, page.cells())).await?;
        rows.into_iter().map(|mut row| Trace::read(&mut row)).collect()
    }
}

pub(super) fn insert(trace: Trace) -> Statement {
    Statement::new(INSERT, [trace.id.into(), trace.conversation.into(), trace.created_at.into(), trace.body.into()])
}

impl Trace {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self { id: row.text()?, conversation: row.optional_text()?, created_at: row.integer()?, body: row.text()? })
    }
}
