//! The jobs of one character and the workers that wait for them. Workers take jobs by themselves.
//!
//! Nothing here waits or starts anything: that a worker is missing is for the member to see.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Instant;

use tokio::sync::oneshot;

use super::job::Job;
use crate::fault::StageFailure;

/// How often a job is tried again.
const RETURNS: u32 = 3;

/// What an idle worker is handed.
pub(crate) enum Hand {
    Job(Job),
    /// Its place is needed elsewhere.
    Leave,
}

/// Jobs in the order in which they came, and idle workers, of which the last to become idle is used first.
#[derive(Default)]
pub(crate) struct Queue {
    jobs: RefCell<VecDeque<Job>>,
    idle: RefCell<Vec<Idle>>,
    starting: Cell<usize>,
}

struct Idle {
    since: Instant,
    hand: oneshot::Sender<Hand>,
}

/// A worker that is being started.
pub(crate) struct Starting(Rc<Queue>);

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.starting.set(self.0.starting.get().saturating_sub(1));
    }
}

impl Queue {
    /// Hands a job to an idle worker, or keeps it until there is one.
    pub(crate) fn offer(&self, job: Job) {
        if let Some(job) = self.hand_over(job) {
            self.jobs.borrow_mut().push_back(job);
        }
    }

    /// Takes back a job that a worker did not begin: it is next, unless it seems to be what ends workers.
    pub(crate) fn return_job(&self, mut job: Job) {
        job.returned += 1;
        if job.returned > RETURNS {
            return job.fail(StageFailure::Protocol("workers end when they are given this".to_owned()));
        }
        if let Some(job) = self.hand_over(job) {
            self.jobs.borrow_mut().push_front(job);
        }
    }

    /// The next job that somebody still waits for.
    pub(crate) fn take(&self) -> Option<Job> {
        self.take_small(usize::MAX)
    }

    /// The next job that somebody still waits for, unless its order is larger than this.
    pub(crate) fn take_small(&self, bytes: usize) -> Option<Job> {
        let mut jobs = self.jobs.borrow_mut();
        while jobs.front().is_some_and(Job::is_abandoned) {
            jobs.pop_front();
        }
        jobs.pop_front_if(|job| job.frame.len() <= bytes)
    }

    /// Makes a worker idle: what it is handed comes over this.
    pub(crate) fn wait(&self) -> oneshot::Receiver<Hand> {
        let (hand, receiver) = oneshot::channel();
        self.idle.borrow_mut().push(Idle { since: Instant::now(), hand });
        receiver
    }

    /// Since when the worker waits that has waited for longest.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let mut idle = self.idle.borrow_mut();
        idle.retain(|idle| !idle.hand.is_closed());
        idle.first().map(|idle| idle.since)
    }

    /// Sends away the worker that has waited for longest.
    pub(crate) fn dismiss_one(&self) {
        let mut idle = self.idle.borrow_mut();
        if !idle.is_empty() {
            // One that has ended in the meantime needs no telling.
            let _ = idle.remove(0).hand.send(Hand::Leave);
        }
    }

    /// Jobs for which a worker must still be started.
    pub(crate) fn lacks_workers(&self) -> bool {
        self.jobs.borrow().len() > self.starting.get()
    }

    /// Counts a worker that is being started, until it is dropped.
    pub(crate) fn count_starting(self: &Rc<Self>) -> Starting {
        self.starting.set(self.starting.get() + 1);
        Starting(Rc::clone(self))
    }

    fn hand_over(&self, mut job: Job) -> Option<Job> {
        let mut idle = self.idle.borrow_mut();
        while let Some(worker) = idle.pop() {
            match worker.hand.send(Hand::Job(job)) {
                Ok(()) => return None,
                Err(Hand::Job(back)) => job = back,
                Err(Hand::Leave) => return None,
            }
        }
        Some(job)
    }
}
