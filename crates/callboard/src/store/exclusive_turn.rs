//! A turn of a conversation: exclusive while it runs, and written at its end in one transaction that also ends its lease.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::backoff::Backoff;
use super::conversation_head::{self, ConversationHead};
use super::error::StoreError;
use super::handle::Store;
use super::lease::{Lease, TurnClaim};
use super::statement::{Answer, Row, Statement, Work, cells};
use super::turn_records::TurnRecords;
use super::turn_write::{NewItem, TurnWrite, WritePlan};

/// Pauses between attempts to take a lease of another process.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(80);

/// The only running turn of a conversation. Dropped without `finish`, it releases the conversation and writes nothing more.
#[derive(Debug)]
pub struct Turn {
    pub(super) head: ConversationHead,
    pub(super) held: HeldLease,
    // Dropped after the lease: the next turn of this process begins when the release is queued.
    _claim: TurnClaim,
}

/// A lease that is renewed while this guard lives, and released when it is dropped.
#[derive(Debug)]
pub(super) struct HeldLease {
    pub(super) store: Store,
    lease: Lease,
    /// Whether the lease is in the database: not if no other process uses it.
    written: bool,
    /// Whether the turn's write ended it, so that it need not be released.
    ended: bool,
}

impl Store {
    /// Whether a turn of this conversation runs or waits in this process. Does not query the database.
    pub fn has_running_turn(&self, conversation: &str) -> bool {
        self.inner.claims.is_taken(conversation)
    }

    /// Begins a turn after all others of this conversation have ended. Waits at most `wait`.
    pub async fn begin_turn(&self, conversation: &str, wait: Duration) -> Result<Turn, StoreError> {
        let head = Statement::new(conversation_head::SELECT, cells![conversation]);
        Ok(self.begin(conversation, wait, head).await?.0)
    }

    /// Begins a turn and reads the conversation's items with it, as a JSON array. Items beyond the size limit are not loaded.
    pub async fn begin_turn_with_items(
        &self,
        conversation: &str,
        wait: Duration,
    ) -> Result<(Turn, String), StoreError> {
        let cells = cells![self.history_bytes(), conversation];
        let head = Statement::new(conversation_head::SELECT_WITH_ITEMS, cells);
        let (turn, mut rest) = self.begin(conversation, wait, head).await?;
        turn.check_room(&[])?;
        Ok((turn, rest.get::<Option<String>>()?.unwrap_or_else(|| "[]".to_owned())))
    }

    /// Also returns the columns after the head.
    async fn begin(&self, conversation: &str, wait: Duration, head: Statement) -> Result<(Turn, Row), StoreError> {
        let until = Instant::now() + wait;
        let busy = || StoreError::Busy { conversation: conversation.to_owned(), waited: wait };
        let claim = self.inner.claims.claim(conversation, until).await.ok_or_else(busy)?;
        self.inner.pending_writes.settled().await;
        let held = HeldLease::new(self, conversation);
        let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        // The first attempt reads the head with the lease, in one round trip; the others only try to take the lease.
        let mut found = held.take(vec![head.clone()]).await?;
        while found.is_none() {
            let next = Instant::now() + backoff.next_pause();
            if next >= until {
                return Err(busy());
            }
            sleep_until(next).await;
            if held.take(Vec::new()).await?.is_some() {
                found = Some(self.reads.read(head.clone()).await?);
            }
        }
        let row = found.into_iter().flatten().next();
        let mut row = row.ok_or_else(|| StoreError::NotFound(conversation.to_owned()))?;
        Ok((Turn { head: ConversationHead::read(&mut row)?, held, _claim: claim }, row))
    }
}

impl HeldLease {
    fn new(store: &Store, conversation: &str) -> Self {
        let lease = Lease { conversation: conversation.to_owned(), token: store.inner.new_name() };
        let written = !store.is_alone();
        if written {
            store.inner.claims.hold(&lease);
        }
        Self { store: store.clone(), lease, written, ended: false }
    }

    /// Takes the lease, if it is needed, and runs queries with it; none if another process has it.
    async fn take(&self, queries: Vec<Statement>) -> Result<Option<Vec<Row>>, StoreError> {
        let Answer { rows, conflict } = if self.written {
            let change = vec![self.lease.take(&self.store.inner.settings)];
            self.store.writes.run(Work { change, queries }).await?
        } else {
            self.store.reads.run(Work::read(queries)).await?
        };
        if conflict.is_none() {
            return Ok(Some(rows.into_iter().next().unwrap_or_default()));
        }
        let conversation = &self.lease.conversation;
        let found = self.store.conversation(conversation).await?;
        found.ok_or_else(|| StoreError::NotFound(conversation.clone())).map(|_| None)
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.store.inner.claims.let_go(&self.lease);
        if self.written && !self.ended {
            // If this fails, the lease expires.
            drop(self.store.writes.submit(Work::write(vec![self.lease.release()])));
        }
    }
}

impl Turn {
    /// The head of the conversation, including undos of this turn.
    pub fn head(&self) -> &ConversationHead {
        &self.head
    }

    /// Checks that the conversation stays within the size limit with these items appended.
    pub fn check_room(&self, items: &[NewItem]) -> Result<(), StoreError> {
        let conversation = &self.head.conversation;
        let added: u64 = items.iter().map(|item| item.body.len() as u64).sum();
        let bytes = u64::try_from(conversation.bytes).unwrap_or_default().saturating_add(added);
        self.held.store.check_history(&conversation.id, bytes)
    }

    /// Writes the rest of the turn and ends it, in one transaction.
    pub async fn finish(mut self, mut write: TurnWrite) -> Result<ConversationHead, StoreError> {
        let records = std::mem::take(&mut write.records);
        let plan = write.plan(&self.head)?;
        // The write ends the lease, also when this future is dropped meanwhile.
        self.held.ended = true;
        let written = self.perform(plan, &records).await;
        self.held.ended = written.is_ok();
        written.map(|()| self.head)
    }

    /// Writes the rest of the turn and ends it without waiting, for a turn whose client has disconnected. The next turn of this
    /// conversation in this process begins after it.
    pub fn finish_in_background(mut self, mut write: TurnWrite) -> Result<(), StoreError> {
        let records = std::mem::take(&mut write.records);
        let plan = write.plan(&self.head)?;
        self.held.store.write_in_background(plan.statements, &records)?;
        self.held.ended = true;
        Ok(())
    }

    pub(super) async fn perform(&mut self, plan: WritePlan, records: &TurnRecords) -> Result<(), StoreError> {
        match self.held.store.write_with_records(plan.statements, records).await? {
            None => {
                self.head = plan.after;
                Ok(())
            }
            Some(_) => Err(self.conflict().await),
        }
    }

    /// Why the conversation no longer has the version of this turn.
    async fn conflict(&self) -> StoreError {
        let id = &self.head.conversation.id;
        match self.held.store.conversation(id).await {
            Ok(None) => StoreError::Deleted(id.clone()),
            _ => StoreError::Conflict(id.clone()),
        }
    }
}
