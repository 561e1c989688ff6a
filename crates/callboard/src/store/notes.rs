//! What is written beside a conversation, or without one: a response, a history, a trace, counts.

use super::daily_count::{self, Count};
use super::error::StoreError;
use super::handle::Store;
use super::response::{self, Response};
use super::snapshot::{self, ChainMode, NewSnapshot};
use super::statement::{Conflict, Statement, Work};
use super::trace::{self, Trace};

/// Things that are written together or not at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes {
    /// A response, new or with a new body.
    pub response: Option<Response>,
    /// A place in a history of Chat Completions.
    pub snapshot: Option<NewSnapshot>,
    /// A trace.
    pub trace: Option<Trace>,
    /// What is added to counts.
    pub counts: Vec<Count>,
}

impl Store {
    /// Writes notes, unless the response that theirs follows is gone.
    pub async fn note(&self, notes: Notes) -> Result<(), StoreError> {
        let base = notes.base().to_owned();
        match self.write_with(notes, Vec::new()).await? {
            Some(Conflict::Base) => Err(StoreError::BaseGone(base)),
            _ => Ok(()),
        }
    }

    /// Writes notes without waiting, for a turn whose client has left. Whoever looks for a history in this process finds them.
    pub fn note_unawaited(&self, notes: Notes) -> Result<(), StoreError> {
        let statements = self.statements_alone(notes)?;
        self.inner.pending_writes.add(self.writes().submit(Work::Write(statements, Vec::new())));
        Ok(())
    }

    /// The statements of notes that nobody can try again: their history gets a chain of its own at once.
    pub(super) fn statements_alone(&self, notes: Notes) -> Result<Vec<Statement>, StoreError> {
        notes.statements(&self.inner.settings.instance, self.inner.next_number(), ChainMode::Fork)
    }

    /// Writes notes behind other statements. A history that went on elsewhere gets a chain of its own.
    pub(super) async fn write_with(&self, notes: Notes, first: Vec<Statement>) -> Result<Option<Conflict>, StoreError> {
        let again = notes.continues_a_chain().then(|| (notes.clone(), first.clone()));
        let conflict = self.write_once(notes, first, ChainMode::Append).await?;
        match again {
            Some((notes, first)) if conflict == Some(Conflict::Chain) => {
                self.write_once(notes, first, ChainMode::Fork).await
            }
            _ => Ok(conflict),
        }
    }

    async fn write_once(
        &self,
        notes: Notes,
        first: Vec<Statement>,
        mode: ChainMode,
    ) -> Result<Option<Conflict>, StoreError> {
        let mut statements = first;
        statements.extend(notes.statements(&self.inner.settings.instance, self.inner.next_number(), mode)?);
        if statements.is_empty() {
            return Ok(None);
        }
        let under_way = self.writes().submit(Work::Write(statements, Vec::new()));
        Ok(self.inner.pending_writes.wait_for(under_way).await?.conflict)
    }
}

impl Notes {
    /// The response that theirs follows.
    fn base(&self) -> &str {
        self.response.as_ref().and_then(|response| response.said.previous.as_deref()).unwrap_or_default()
    }

    fn continues_a_chain(&self) -> bool {
        self.snapshot.as_ref().is_some_and(|new| new.memory.stored.is_some())
    }

    fn statements(self, instance: &str, number: u64, mode: ChainMode) -> Result<Vec<Statement>, StoreError> {
        // Always in this order, which is that of deletions too: so they never wait for each other in a circle.
        let mut statements: Vec<Statement> = self.response.map(response::put).into_iter().collect();
        if let Some(snapshot) = &self.snapshot {
            statements.extend(snapshot::insert(snapshot, &format!("{instance}-{number}"), mode)?);
        }
        statements.extend(self.trace.map(trace::insert));
        statements.extend(daily_count::add(self.counts, number));
        Ok(statements)
    }
}
