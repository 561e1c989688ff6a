//! The way to a database: work goes in from any thread or runtime, answers come back as futures.

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::error::StoreError;
use super::statement::{Answer, Job, Miss, Row, Statement, Work};

/// Where work is left for the threads that hold the connections.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    jobs: mpsc::UnboundedSender<Job>,
}

/// Where those threads take it from.
pub(super) type Jobs = mpsc::UnboundedReceiver<Job>;

impl Queue {
    pub(super) fn new() -> (Self, Jobs) {
        let (jobs, taken) = mpsc::unbounded_channel();
        (Self { jobs }, taken)
    }

    /// Leaves work and waits for its answer.
    pub(super) async fn ask(&self, work: Work) -> Result<Answer, StoreError> {
        self.leave(work).await.map_err(|_| stopped())?
    }

    /// Leaves work that nobody waits for: the answer may be dropped.
    pub(super) fn leave(&self, work: Work) -> oneshot::Receiver<Result<Answer, StoreError>> {
        let (reply, answer) = oneshot::channel();
        // When the threads are gone the reply is dropped with the job, which the receiver sees.
        let _ = self.jobs.send(Job { work, reply, left: Instant::now() });
        answer
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
