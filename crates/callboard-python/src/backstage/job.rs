//! One thing to perform: what a character handle asks for, and the way its answer goes back.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::protocol::Reply;
use crate::fault::Failure;

/// One thing to perform. It is given up when nobody waits for the answer any more.
pub(crate) struct Job {
    pub(crate) number: u64,
    /// The order, ready to be sent to a worker.
    pub(crate) frame: Vec<u8>,
    /// How long the character's code may run.
    pub(crate) limit: Duration,
    pub(crate) asked: Instant,
    /// How many workers ended with it before they began it.
    pub(crate) returned: u32,
    pub(crate) answer: oneshot::Sender<Answer>,
}

/// What came of a job.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) result: Result<Reply, Failure>,
    /// How long the character's code ran.
    pub(crate) took: Duration,
    /// Everything else: waiting for a worker, and the way there and back.
    pub(crate) queued: Duration,
}

impl Job {
    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    /// Answers it.
    pub(crate) fn finish(self, result: Result<Reply, Failure>, took: Duration) {
        let queued = self.asked.elapsed().saturating_sub(took);
        // Whoever asked may have gone away in the meantime.
        let _ = self.answer.send(Answer { result, took, queued });
    }

    /// Answers it without a worker having begun it.
    pub(crate) fn fail(self, failure: impl Into<Failure>) {
        self.finish(Err(failure.into()), Duration::ZERO);
    }
}
