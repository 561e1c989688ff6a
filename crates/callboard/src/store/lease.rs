//! One turn of a conversation at a time: a queue inside this process, and a lease in the database against other processes.
//!
//! A lease ends when its turn is written, is released, or is not renewed. It only makes others wait. A change is never lost with a lost
//! lease (of a process that was suspended too long): the transaction that writes the turn checks the version of the conversation.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Mutex as TurnMutex, OwnedMutexGuard};
use tokio::time::{Instant, timeout_at};

use super::error::StoreError;
use super::handle::StoreSettings;
use super::handle::Threads;
use super::queue::Queue;
use super::statement::{Conflict, Statement, Work, cells};

/// A lease of the same process is taken over: inside it the queue decides. So is one that ends later than any new lease could: the
/// clock was set back since. Twice its length, since a writer may have waited for this row a while.
const TAKE: &str = "INSERT INTO turn_leases (conversation_id, instance, token, expires_at, version) \
     SELECT id, CAST($1 AS TEXT), CAST($2 AS TEXT), callboard_now() + CAST($3 AS BIGINT), version \
     FROM conversations WHERE id = $4 \
     ON CONFLICT (conversation_id) DO UPDATE SET instance = excluded.instance, token = excluded.token, \
     expires_at = excluded.expires_at, version = excluded.version \
     WHERE turn_leases.expires_at <= callboard_now() OR turn_leases.instance = excluded.instance \
     OR turn_leases.version < excluded.version \
     OR turn_leases.expires_at > excluded.expires_at + CAST($3 AS BIGINT)";
const RENEW: &str = "UPDATE turn_leases SET expires_at = callboard_now() + CAST($1 AS BIGINT) WHERE conversation_id = $2 AND token = $3";
const RELEASE: &str = "DELETE FROM turn_leases WHERE conversation_id = $1 AND token = $2";

/// An expired lease.
const INSERT_EXPIRED: &str =
    "INSERT INTO turn_leases (conversation_id, instance, token, expires_at) VALUES ($1, $2, $3, 0)";

/// The turns that run in this process, and their leases.
#[derive(Debug, Default)]
pub(super) struct TurnClaims {
    queues: Mutex<HashMap<String, Weak<TurnMutex<()>>>>,
    leases: Mutex<HashSet<Lease>>,
}

/// A lease in the database.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Lease {
    pub(super) conversation: String,
    /// Identifies this turn.
    pub(super) token: String,
}

/// The right to run a turn. The next in the queue gets it when this is dropped.
#[derive(Debug)]
pub(super) struct TurnClaim {
    claims: Arc<TurnClaims>,
    conversation: String,
    guard: Option<OwnedMutexGuard<()>>,
}

impl TurnClaims {
    /// Waits until no other turn of the conversation runs; none where that takes too long.
    pub(super) async fn claim(self: &Arc<Self>, conversation: &str, until: Instant) -> Option<TurnClaim> {
        // Made before the wait, so that an abandoned wait is cleaned up too.
        let mut claim = TurnClaim { claims: Arc::clone(self), conversation: conversation.to_owned(), guard: None };
        claim.guard = timeout_at(until, self.queue(conversation).lock_owned()).await.ok();
        claim.guard.is_some().then_some(claim)
    }

    /// Whether a turn of the conversation runs or waits.
    pub(super) fn is_taken(&self, conversation: &str) -> bool {
        unpoisoned(&self.queues).get(conversation).is_some_and(|queue| queue.strong_count() > 0)
    }

    pub(super) fn hold(&self, lease: &Lease) {
        unpoisoned(&self.leases).insert(lease.clone());
    }

    pub(super) fn let_go(&self, lease: &Lease) {
        unpoisoned(&self.leases).remove(lease);
    }

    fn queue(&self, conversation: &str) -> Arc<TurnMutex<()>> {
        let mut queues = unpoisoned(&self.queues);
        if let Some(queue) = queues.get(conversation).and_then(Weak::upgrade) {
            return queue;
        }
        let queue = Arc::new(TurnMutex::new(()));
        queues.insert(conversation.to_owned(), Arc::downgrade(&queue));
        queue
    }
}

/// An empty queue is removed.
impl Drop for TurnClaim {
    fn drop(&mut self) {
        let mut queues = unpoisoned(&self.claims.queues);
        self.guard = None;
        if queues.get(&self.conversation).is_some_and(|queue| queue.strong_count() == 0) {
            queues.remove(&self.conversation);
        }
    }
}

impl Lease {
    /// Takes the lease in the database.
    pub(super) fn take(&self, settings: &StoreSettings) -> Statement {
        let cells = cells![&settings.instance, &self.token, milliseconds(settings.lease), &self.conversation];
        Statement::new(TAKE, cells).or(Conflict::Leased).idempotent()
    }

    /// Releases it.
    pub(super) fn release(&self) -> Statement {
        Statement::new(RELEASE, cells![&self.conversation, &self.token]).idempotent()
    }

    /// Takes a lease of a conversation that does not exist, to check whether the database accepts so many bytes.
    pub(super) fn write_check(&self, bytes: usize) -> Vec<Statement> {
        let filler = "x".repeat(bytes);
        // An earlier check may have stopped before its release.
        vec![self.release(), Statement::new(INSERT_EXPIRED, cells![&self.conversation, &filler, &self.token])]
    }

    fn renew(&self, length: Duration) -> Statement {
        Statement::new(RENEW, cells![milliseconds(length), &self.conversation, &self.token]).idempotent()
    }
}

/// Renews the leases of this process while its turns run.
#[derive(Debug)]
pub(super) struct LeaseRenewal {
    stop: Option<Sender<()>>,
}

impl LeaseRenewal {
    pub(super) fn start(
        settings: &StoreSettings,
        claims: Arc<TurnClaims>,
        writes: Queue,
        threads: &mut Threads,
    ) -> Result<Self, StoreError> {
        let (stop, stopped) = channel();
        let length = settings.lease;
        threads.start("store-leases", move || {
            while stopped.recv_timeout(length / 3) == Err(RecvTimeoutError::Timeout) {
                renew(&claims, &writes, length);
            }
        })?;
        Ok(Self { stop: Some(stop) })
    }

    pub(super) fn stop(&mut self) {
        self.stop = None;
    }
}

/// The outcome does not matter: a lease that could not be renewed ends, and the version decides.
fn renew(claims: &TurnClaims, writes: &Queue, length: Duration) {
    for lease in unpoisoned(&claims.leases).iter() {
        drop(writes.submit(Work::write(vec![lease.renew(length)])));
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
