//! The way to a database: work goes in from any thread or runtime, answers come back as futures.
//!
//! A thread may do its own work: then what is asked on it stays on it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, ThreadId};

use tokio::sync::mpsc::error::SendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::error::StoreError;
use super::statement::{Answer, Job, Miss, Row, Statement, Work};

/// Where work is left for the threads that hold the connections.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    shared: Door,
    own: Arc<OwnDoors>,
}

/// Where those threads take it from.
pub(super) type Jobs = mpsc::UnboundedReceiver<Job>;

/// Where it goes in.
type Door = mpsc::UnboundedSender<Job>;

/// Where work goes that a thread cannot do. It does not keep those who do it there from ending.
#[derive(Debug)]
pub(super) struct Elsewhere(mpsc::WeakUnboundedSender<Job>);

impl Elsewhere {
    pub(super) fn take(&self, job: Job) {
        if let Some(door) = self.0.upgrade() {
            // When the threads are gone the reply is dropped with the job, which the receiver sees.
            let _ = door.send(job);
        }
    }
}

/// The doors of threads that do their own work.
type OwnDoors = RwLock<HashMap<ThreadId, Door>>;

/// What keeps the work of a thread on it, until this is dropped.
#[derive(Debug)]
pub struct OwnDoor {
    all: Arc<OwnDoors>,
    thread: ThreadId,
}

impl Drop for OwnDoor {
    fn drop(&mut self) {
        self.all.write().unwrap_or_else(PoisonError::into_inner).remove(&self.thread);
    }
}

impl Queue {
    pub(super) fn new() -> (Self, Jobs) {
        let (shared, taken) = mpsc::unbounded_channel();
        (Self { shared, own: Arc::default() }, taken)
    }

    /// From now on the work of this thread comes out here.
    pub(super) fn divert(&self) -> (OwnDoor, Jobs, Elsewhere) {
        let (door, taken) = mpsc::unbounded_channel();
        let own = OwnDoor { all: Arc::clone(&self.own), thread: thread::current().id() };
        own.all.write().unwrap_or_else(PoisonError::into_inner).insert(own.thread, door);
        (own, taken, Elsewhere(self.shared.downgrade()))
    }

    /// Leaves work and waits for its answer.
    pub(super) async fn ask(&self, work: Work) -> Result<Answer, StoreError> {
        self.leave(work).await.map_err(|_| stopped())?
    }

    /// Leaves work that nobody waits for: the answer may be dropped.
    pub(super) fn leave(&self, work: Work) -> oneshot::Receiver<Result<Answer, StoreError>> {
        let (reply, answer) = oneshot::channel();
        if let Err(SendError(job)) = self.leave_here(Job { work, reply, left: Instant::now() }) {
            // When the threads are gone the reply is dropped with the job, which the receiver sees.
            let _ = self.shared.send(job);
        }
        answer
    }

    fn leave_here(&self, job: Job) -> Result<(), SendError<Job>> {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        match own.get(&thread::current().id()) {
            Some(door) => door.send(job),
            None => Err(SendError(job)),
        }
    }

    pub(super) async fn read(&self, query: Statement) -> Result<Vec<Row>, StoreError> {
        let mut looked = self.ask(Work::Read(vec![query])).await?.looked;
        Ok(looked.pop().unwrap_or_default())
    }

    pub(super) async fn write(&self, statements: Vec<Statement>) -> Result<Option<Miss>, StoreError> {
        Ok(self.ask(Work::Write(statements, Vec::new())).await?.missed)
    }
}

/// The store has ended.
pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable("it was closed".to_owned())
}
