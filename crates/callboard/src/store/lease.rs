//! One turn of a conversation at a time: a queue inside this process, and a lease in the database against other processes.
//!
//! A lease ends with the turn that it was taken for: when that is written, or else when it is given back or not renewed. It only
//! makes others wait. What keeps a change from being lost when a lease was lost (a process that stood still for
//! too long) is the version of the conversation, checked in the transaction that writes the turn.

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
use super::statement::{Cell, Conflict, Statement, Work};

/// Another process is asked for its lease after these pauses.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(80);

/// A lease of the same process is taken over: inside it the queue decides. So is one that ends later than any lease that was taken now
/// could: the clock was set back since. Twice its length, since others may have waited for this row a while.
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

/// One that ended before it began.
const ATTEMPT: &str = "INSERT INTO turn_leases (conversation_id, instance, token, expires_at) VALUES ($1, $2, $3, 0)";

/// The turns that run in this process.
#[derive(Debug, Default)]
pub(super) struct Claims {
    queues: Mutex<HashMap<String, Weak<TurnMutex<()>>>>,
    leases: Mutex<HashSet<Lease>>,
}

/// A lease in the database.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Lease {
    pub(super) conversation: String,
    /// Tells this turn from all others.
    pub(super) token: String,
}

/// The first place in the queue for a conversation. Whoever is next gets it when this is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    claims: Arc<Claims>,
    conversation: String,
    place: Option<OwnedMutexGuard<()>>,
}

impl Claims {
    /// Waits for the first place.
    pub(super) async fn claim(self: &Arc<Self>, conversation: &str, until: Instant) -> Option<Claim> {
        // Made before the wait, so that a wait that is given up is cleared away too.
        let mut claim = Claim { claims: Arc::clone(self), conversation: conversation.to_owned(), place: None };
        claim.place = timeout_at(until, self.queue(conversation).lock_owned()).await.ok();
        claim.place.is_some().then_some(claim)
    }

    /// Whether somebody stands in the queue of a conversation.
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

/// A queue that nobody stands in is forgotten.
impl Drop for Claim {
    fn drop(&mut self) {
        let mut queues = unpoisoned(&self.claims.queues);
        self.place = None;
        if queues.get(&self.conversation).is_some_and(|queue| queue.strong_count() == 0) {
            queues.remove(&self.conversation);
        }
    }
}

impl Lease {
    /// Takes the lease in the database.
    pub(super) fn take(&self, settings: &StoreSettings) -> Statement {
        let cells: [Cell; 4] = [
            settings.instance.as_str().into(),
            self.token.as_str().into(),
            milliseconds(settings.lease).into(),
            self.conversation.as_str().into(),
        ];
        Statement::new(TAKE, cells).or(Conflict::Leased).idempotent()
    }

    /// Gives it back.
    pub(super) fn release(&self) -> Statement {
        Statement::new(RELEASE, [self.conversation.as_str().into(), self.token.as_str().into()]).idempotent()
    }

    /// Takes a lease of a conversation that does not exist and gives it back, to see whether anything can be written.
    pub(super) fn attempt(&self) -> Vec<Statement> {
        let cells: [Cell; 3] = [self.conversation.as_str().into(), "".into(), self.token.as_str().into()];
        vec![Statement::new(ATTEMPT, cells), self.release()]
    }

    fn renew(&self, length: Duration) -> Statement {
        let cells: [Cell; 3] =
            [milliseconds(length).into(), self.conversation.as_str().into(), self.token.as_str().into()];
        Statement::new(RENEW, cells).idempotent()
    }
}

/// The pauses between attempts, each longer than the last.
pub(super) fn pauses() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(FIRST_PAUSE), |pause| Some((*pause * 2).min(LONGEST_PAUSE)))
}

/// Renews the leases of this process while its turns run.
#[derive(Debug)]
pub(super) struct LeaseRenewal {
    stop: Option<Sender<()>>,
}

impl LeaseRenewal {
    pub(super) fn start(
        settings: &StoreSettings,
        claims: Arc<Claims>,
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

/// Nobody waits for the outcome: a lease that could not be renewed ends, and the version decides.
fn renew(claims: &Claims, writes: &Queue, length: Duration) {
    for lease in unpoisoned(&claims.leases).iter() {
        drop(writes.submit(Work::Write(vec![lease.renew(length)], Vec::new())));
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
