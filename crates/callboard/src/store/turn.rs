//! A turn of a conversation: claimed against all others, and written at its end in one transaction, with which its lease ends.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::conversation_head::{self, ConversationHead};
use super::error::StoreError;
use super::handle::Store;
use super::lease::{Lease, TurnClaim, pauses};
use super::notes::Notes;
use super::statement::{Answer, Row, Statement, Work};
use super::turn_write::{NewItem, TurnWrite, WritePlan};

/// A turn that nobody else plays at the same time. Dropped without `finish`, it gives the conversation back and changes
/// nothing more.
#[derive(Debug)]
pub struct Turn {
    pub(super) head: ConversationHead,
    pub(super) held: HeldLease,
    // Dropped behind the lease: the next turn of this process begins when the lease is on its way back.
    _claim: TurnClaim,
}

/// A lease that is renewed while it lives, and given back when dropped.
#[derive(Debug)]
pub(super) struct HeldLease {
    pub(super) store: Store,
    lease: Lease,
    /// Whether the lease is in the database: not where no other process can be there.
    written: bool,
    /// Whether it ended with what was written, and need not be given back.
    is_over: bool,
}

impl Store {
    /// Whether a turn of this conversation runs in this process, as far as can be told without asking the database.
    pub fn is_playing(&self, conversation: &str) -> bool {
        self.inner.claims.is_taken(conversation)
    }

    /// Begins a turn, when all others of this conversation have ended. Waits so long at most.
    pub async fn begin_turn(&self, conversation: &str, wait: Duration) -> Result<Turn, StoreError> {
        let look = Statement::new(conversation_head::SELECT, [conversation.into()]);
        Ok(self.begin(conversation, wait, look).await?.0)
    }

    /// Begins a turn and reads the conversation's items with it, as a JSON array. A conversation that is too large to be loaded is
    /// refused before anything of it is.
    pub async fn begin_turn_with_items(
        &self,
        conversation: &str,
        wait: Duration,
    ) -> Result<(Turn, String), StoreError> {
        let look =
            Statement::new(conversation_head::SELECT_WITH_ITEMS, [self.history_bytes().into(), conversation.into()]);
        let (turn, mut rest) = self.begin(conversation, wait, look).await?;
        let bytes = u64::try_from(turn.head.conversation.bytes).unwrap_or_default();
        self.check_history(conversation, bytes)?;
        Ok((turn, rest.optional_text()?.unwrap_or_else(|| "[]".to_owned())))
    }

    /// Looks for the conversation with the turn; what is found behind how it stands comes back.
    async fn begin(&self, conversation: &str, wait: Duration, look: Statement) -> Result<(Turn, Row), StoreError> {
        let until = Instant::now() + wait;
        let busy = || StoreError::Busy { conversation: conversation.to_owned(), waited: wait };
        let claim = self.inner.claims.claim(conversation, until).await.ok_or_else(busy)?;
        self.inner.pending_writes.settled().await;
        let held = HeldLease::new(self, conversation);
        for (attempt, pause) in pauses().enumerate() {
            // Whoever has to wait asks for the lease alone, and looks when it is there.
            let with_it = if attempt == 0 { vec![look.clone()] } else { Vec::new() };
            if let Some(found) = held.take(with_it).await? {
                let found = if attempt == 0 { found } else { self.reads().read(look).await? };
                let not_found = || StoreError::NotFound(conversation.to_owned());
                let mut row = found.into_iter().next().ok_or_else(not_found)?;
                return Ok((Turn { head: ConversationHead::read(&mut row)?, held, _claim: claim }, row));
            }
            let next = Instant::now() + pause;
            if next >= until {
                break;
            }
            sleep_until(next).await;
        }
        Err(busy())
    }
}

impl HeldLease {
    fn new(store: &Store, conversation: &str) -> Self {
        let lease = Lease { conversation: conversation.to_owned(), token: store.inner.new_name() };
        let written = !store.is_alone();
        if written {
            store.inner.claims.hold(&lease);
        }
        Self { store: store.clone(), lease, written, is_over: false }
    }

    /// Takes the lease, where others could take it, and looks with it; none if another holds it.
    async fn take(&self, looks: Vec<Statement>) -> Result<Option<Vec<Row>>, StoreError> {
        let Answer { rows, conflict } = if self.written {
            let take = self.lease.take(&self.store.inner.settings);
            self.store.writes().run(Work::Write(vec![take], looks)).await?
        } else {
            self.store.reads().run(Work::Read(looks)).await?
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
        if self.written && !self.is_over {
            // Nobody waits: should it fail, the lease ends by itself.
            drop(self.store.writes().submit(Work::Write(vec![self.lease.release()], Vec::new())));
        }
    }
}

impl Turn {
    /// The head of the conversation, after what was undone in this turn.
    pub fn head(&self) -> &ConversationHead {
        &self.head
    }

    /// Whether the conversation can still be loaded with these items behind the others.
    pub fn check_room(&self, items: &[NewItem]) -> Result<(), StoreError> {
        let conversation = &self.head.conversation;
        let added: u64 = items.iter().map(|item| item.body.len() as u64).sum();
        let bytes = u64::try_from(conversation.bytes).unwrap_or_default().saturating_add(added);
        self.held.store.check_history(&conversation.id, bytes)
    }

    /// Writes the rest of the turn and ends it, in one transaction.
    pub async fn finish(mut self, mut write: TurnWrite) -> Result<ConversationHead, StoreError> {
        let notes = std::mem::take(&mut write.notes);
        let plan = write.plan(&self.head)?;
        // The lease ends with the write, also when whoever waits for that is dropped.
        self.held.is_over = true;
        let written = self.perform(plan, notes).await;
        self.held.is_over = written.is_ok();
        written.map(|()| self.head)
    }

    /// Writes the rest of the turn and ends it without waiting, for a turn whose client has left. The next turn of this
    /// conversation in this process begins behind it.
    pub fn finish_unawaited(mut self, mut write: TurnWrite) -> Result<(), StoreError> {
        let notes = std::mem::take(&mut write.notes);
        let mut plan = write.plan(&self.head)?;
        let store = self.held.store.clone();
        plan.statements.extend(store.statements_alone(notes)?);
        store.inner.pending_writes.add(store.writes().submit(Work::Write(plan.statements, Vec::new())));
        self.held.is_over = true;
        Ok(())
    }

    pub(super) async fn perform(&mut self, plan: WritePlan, notes: Notes) -> Result<(), StoreError> {
        match self.held.store.write_with(notes, plan.statements).await? {
            None => {
                self.head = plan.after;
                Ok(())
            }
            Some(_) => Err(self.conflict().await),
        }
    }

    /// Why the conversation is not where this turn left it.
    async fn conflict(&self) -> StoreError {
        let id = &self.head.conversation.id;
        match self.held.store.conversation(id).await {
            Ok(None) => StoreError::Deleted(id.clone()),
            _ => StoreError::Conflict(id.clone()),
        }
    }
}
