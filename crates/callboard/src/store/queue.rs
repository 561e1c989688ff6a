//! The way to the connections: work is submitted from any thread or runtime, and its answer comes back as a future.

use tokio::sync::mpsc::error::SendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::error::StoreError;
use super::statement::{Answer, Conflict, Job, PendingAnswer, Row, Statement, Work};

/// Where work is submitted.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    /// To the connections of one serving thread, where it has some.
    own: Option<mpsc::UnboundedSender<Job>>,
    /// To the connections that all threads share.
    shared: mpsc::UnboundedSender<Job>,
}

/// Where it comes out.
pub(super) type Jobs = mpsc::UnboundedReceiver<Job>;

/// The shared end of a queue. It does not keep the queue open.
pub(super) type SharedQueue = mpsc::WeakUnboundedSender<Job>;

impl Queue {
    pub(super) fn new() -> (Self, Jobs) {
        let (shared, jobs) = mpsc::unbounded_channel();
        (Self { own: None, shared }, jobs)
    }

    /// A queue of one thread: its work comes out here, and goes to the shared connections once these jobs are closed.
    pub(super) fn for_thread(&self) -> (Self, Jobs) {
        let (own, jobs) = mpsc::unbounded_channel();
        (Self { own: Some(own), shared: self.shared.clone() }, jobs)
    }

    pub(super) fn shared(&self) -> SharedQueue {
        self.shared.downgrade()
    }

    /// Submits work and waits for its answer.
    pub(super) async fn run(&self, work: Work) -> Result<Answer, StoreError> {
        self.submit(work).await.map_err(|_| closed())?
    }

    /// Submits work. It is done even if the answer is dropped.
    pub(super) fn submit(&self, work: Work) -> PendingAnswer {
        let (reply, answer) = oneshot::channel();
        let job = Job { work, reply, queued_at: Instant::now() };
        let refused = match &self.own {
            Some(own) => own.send(job),
            None => Err(SendError(job)),
        };
        if let Err(SendError(job)) = refused {
            // When the threads are gone the reply is dropped with the job, which the receiver sees.
            let _ = self.shared.send(job);
        }
        answer
    }

    pub(super) async fn read(&self, query: Statement) -> Result<Vec<Row>, StoreError> {
        let mut rows = self.run(Work::read(vec![query])).await?.rows;
        Ok(rows.pop().unwrap_or_default())
    }

    /// What is read from each row.
    pub(super) async fn all<T>(
        &self,
        query: Statement,
        read: impl Fn(&mut Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.read(query).await?.iter_mut().map(read).collect()
    }

    /// What is read from the first row, if there is one.
    pub(super) async fn first<T>(
        &self,
        query: Statement,
        read: impl Fn(&mut Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.read(query).await?.first_mut().map(read).transpose()
    }

    pub(super) async fn write(&self, statements: Vec<Statement>) -> Result<Option<Conflict>, StoreError> {
        Ok(self.run(Work::write(statements)).await?.conflict)
    }
}

/// The store has ended.
pub(super) fn closed() -> StoreError {
    StoreError::Unavailable("it was closed".to_owned())
}
