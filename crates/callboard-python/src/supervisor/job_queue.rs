//! The jobs of one character, and the idle workers that wait for them.
//!
//! Nothing here awaits or starts anything: the worker pool decides when a worker is started.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::protocol::WorkerReply;
use crate::error::{CallError, HostError};

/// How often a job is retried after its worker ended before starting it.
const RETRIES: u32 = 3;

/// One request to a worker. It is cancelled when its receiver is dropped.
pub(crate) struct Job {
    pub(crate) number: u64,
    /// The request, ready to be sent.
    pub(crate) frame: Vec<u8>,
    /// How long the character's code may run.
    pub(crate) limit: Duration,
    pub(crate) created: Instant,
    pub(crate) retries: u32,
    pub(crate) reply: oneshot::Sender<JobResult>,
}

#[derive(Debug)]
pub(crate) struct JobResult {
    pub(crate) result: Result<WorkerReply, CallError>,
    /// How long the character's code ran.
    pub(crate) took: Duration,
    /// The rest of the time: waiting for a worker, and transport.
    pub(crate) queued: Duration,
}

impl JobResult {
    /// The result of a job that never reached a worker.
    pub(crate) fn not_run(error: impl Into<CallError>) -> Self {
        Self { result: Err(error.into()), took: Duration::ZERO, queued: Duration::ZERO }
    }
}

impl Job {
    pub(crate) fn finish(self, result: Result<WorkerReply, CallError>, took: Duration) {
        let queued = self.created.elapsed().saturating_sub(took);
        // The caller may have cancelled meanwhile.
        let _ = self.reply.send(JobResult { result, took, queued });
    }

    pub(crate) fn fail(self, error: impl Into<CallError>) {
        self.finish(Err(error.into()), Duration::ZERO);
    }
}

/// Jobs in the order of their arrival, and idle workers, most recently idle last.
#[derive(Default)]
pub(crate) struct JobQueue {
    jobs: RefCell<VecDeque<Job>>,
    idle: RefCell<Vec<IdleWorker>>,
    starting: Cell<usize>,
}

struct IdleWorker {
    since: Instant,
    /// Dropping it stops the worker.
    next_job: oneshot::Sender<Job>,
}

impl JobQueue {
    /// Gives a job to an idle worker, or queues it.
    pub(crate) fn push(&self, job: Job) {
        if let Some(job) = self.assign(job) {
            self.jobs.borrow_mut().push_back(job);
        }
    }

    /// Puts a job that no worker started at the front. A job that keeps ending workers fails.
    pub(crate) fn retry(&self, mut job: Job) {
        job.retries += 1;
        if job.retries > RETRIES {
            return job.fail(HostError::Protocol("workers end when they receive this request".to_owned()));
        }
        if let Some(job) = self.assign(job) {
            self.jobs.borrow_mut().push_front(job);
        }
    }

    /// The next job that is not cancelled.
    pub(crate) fn pop(&self) -> Option<Job> {
        self.pop_up_to(usize::MAX)
    }

    /// The next job that is not cancelled, unless its frame is larger than `bytes`.
    pub(crate) fn pop_up_to(&self, bytes: usize) -> Option<Job> {
        let mut jobs = self.jobs.borrow_mut();
        while jobs.pop_front_if(|job| job.reply.is_closed()).is_some() {}
        jobs.pop_front_if(|job| job.frame.len() <= bytes)
    }

    /// Registers an idle worker. It receives its next job, or an error when it must stop.
    pub(crate) fn wait_for_job(&self) -> oneshot::Receiver<Job> {
        let (next_job, receiver) = oneshot::channel();
        self.idle.borrow_mut().push(IdleWorker { since: Instant::now(), next_job });
        receiver
    }

    /// When the longest idle worker became idle.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let mut idle = self.idle.borrow_mut();
        idle.retain(|worker| !worker.next_job.is_closed());
        idle.first().map(|worker| worker.since)
    }

    /// When the last of this many workers became idle; `None` if any of them is not.
    pub(crate) fn all_idle_since(&self, workers: usize) -> Option<Instant> {
        let mut idle = self.idle.borrow_mut();
        idle.retain(|worker| !worker.next_job.is_closed());
        (idle.len() == workers && self.jobs.borrow().is_empty()).then(|| idle.last().map(|worker| worker.since))?
    }

    /// Stops all idle workers.
    pub(crate) fn stop_idle(&self) {
        self.idle.borrow_mut().clear();
    }

    /// Stops the longest idle worker.
    pub(crate) fn stop_longest_idle(&self) {
        let mut idle = self.idle.borrow_mut();
        if !idle.is_empty() {
            idle.remove(0);
        }
    }

    /// Whether there are more jobs than workers being started.
    pub(crate) fn needs_workers(&self) -> bool {
        self.jobs.borrow().len() > self.starting.get()
    }

    pub(crate) fn worker_starting(&self) {
        self.starting.update(|count| count + 1);
    }

    /// The worker runs, or could not be started.
    pub(crate) fn worker_started(&self) {
        self.starting.update(|count| count.saturating_sub(1));
    }

    fn assign(&self, mut job: Job) -> Option<Job> {
        let mut idle = self.idle.borrow_mut();
        while let Some(worker) = idle.pop() {
            match worker.next_job.send(job) {
                Ok(()) => return None,
                Err(unsent) => job = unsent,
            }
        }
        Some(job)
    }
}
