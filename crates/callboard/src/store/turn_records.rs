//! The records of a turn beside its conversation, or without one: a response, a snapshot, a trace and counts, written together.

use super::daily_count::{self, Count};
use super::error::StoreError;
use super::handle::Store;
use super::response::{self, Response};
use super::snapshot::{self, ChainMode, NewSnapshot};
use super::statement::{Conflict, Statement, Work};
use super::trace::{self, Trace};

/// Records that are written in one transaction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnRecords {
    /// A response, new or with a new body.
    pub response: Option<Response>,
    /// The character's part after the turn.
    pub snapshot: Option<NewSnapshot>,
    /// A trace.
    pub trace: Option<Trace>,
    /// Amounts to add to counts.
    pub counts: Vec<Count>,
}

impl Store {
    /// Writes records, unless the previous response was deleted.
    pub async fn write_records(&self, records: &TurnRecords) -> Result<(), StoreError> {
        match self.write_with_records(Vec::new(), records).await? {
            Some(Conflict::Base) => Err(StoreError::BaseGone(records.base().to_owned())),
            _ => Ok(()),
        }
    }

    /// Writes records without waiting, for a turn whose client has disconnected.
    pub fn write_records_in_background(&self, records: &TurnRecords) -> Result<(), StoreError> {
        self.write_in_background(Vec::new(), records)
    }

    /// Writes statements and records without waiting. They cannot be retried, so a snapshot gets a new chain. Later reads of this
    /// process wait for them.
    pub(super) fn write_in_background(
        &self,
        mut change: Vec<Statement>,
        records: &TurnRecords,
    ) -> Result<(), StoreError> {
        change.extend(self.record_statements(records, ChainMode::Fork)?);
        self.inner.pending_writes.add(self.writes.submit(Work::write(change)));
        // Who reads it waits for the write.
        self.inner.changes.notify();
        Ok(())
    }

    /// Writes statements and then records. When another turn has appended to the snapshot's chain, it gets a new one.
    pub(super) async fn write_with_records(
        &self,
        change: Vec<Statement>,
        records: &TurnRecords,
    ) -> Result<Option<Conflict>, StoreError> {
        let retry = change.clone();
        match self.write_once(change, records, ChainMode::Append).await? {
            Some(Conflict::Chain) => self.write_once(retry, records, ChainMode::Fork).await,
            conflict => Ok(conflict),
        }
    }

    async fn write_once(
        &self,
        mut change: Vec<Statement>,
        records: &TurnRecords,
        mode: ChainMode,
    ) -> Result<Option<Conflict>, StoreError> {
        change.extend(self.record_statements(records, mode)?);
        if change.is_empty() {
            return Ok(None);
        }
        let answer = self.writes.submit(Work::write(change));
        let conflict = self.inner.pending_writes.wait_for(answer).await?.conflict;
        self.inner.changes.notify();
        Ok(conflict)
    }

    /// In the same order as deletions, so that they never deadlock.
    fn record_statements(&self, records: &TurnRecords, mode: ChainMode) -> Result<Vec<Statement>, StoreError> {
        let mut statements: Vec<Statement> = records.response.as_ref().map(response::put).into_iter().collect();
        if let Some(snapshot) = &records.snapshot {
            statements.extend(snapshot::insert(snapshot, &self.inner.new_name(), mode)?);
        }
        statements.extend(records.trace.clone().map(trace::insert));
        statements.extend(daily_count::add(records.counts.clone(), self.inner.next_number()));
        Ok(statements)
    }
}

impl TurnRecords {
    /// The id of the previous response.
    fn base(&self) -> &str {
        self.response.as_ref().and_then(|response| response.exchange.previous.as_deref()).unwrap_or_default()
    }
}
