//! The jobs of one character and the workers that wait for them. Workers take jobs by themselves.
//!
//! Nothing here waits or starts anything: that a worker is missing is for the member to see.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use tokio::sync::oneshot;

use super::job::Job;

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
    idle: RefCell<Vec<oneshot::Sender<Hand>>>,
    starting: Cell<usize>,
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

    /// Takes back a job that a worker did not begin: it is next.
    pub(crate) fn return_job(&self, job: Job) {
        if let Some(job) = self.hand_over(job) {
            self.jobs.borrow_mut().push_front(job);
        }
    }

    /// The next job that somebody still waits for.
    pub(crate) fn take(&self) -> Option<Job> {
        let mut jobs = self.jobs.borrow_mut();
        while let Some(job) = jobs.pop_front() {
            if !job.is_abandoned() {
                return Some(job);
            }
        }
        None
    }

    /// Makes a worker idle: what it is handed comes over this.
    pub(crate) fn wait(&self) -> oneshot::Receiver<Hand> {
        let (hand, receiver) = oneshot::channel();
        self.idle.borrow_mut().push(hand);
        receiver
    }

    /// Sends away the worker that has been idle for longest. Whether there was one.
    pub(crate) fn dismiss_one(&self) -> bool {
        let mut idle = self.idle.borrow_mut();
        while !idle.is_empty() {
            if idle.remove(0).send(Hand::Leave).is_ok() {
                return true;
            }
        }
        false
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

    /// Whether a worker is idle.
    pub(crate) fn has_idle(&self) -> bool {
        self.idle.borrow().iter().any(|hand| !hand.is_closed())
    }

    fn hand_over(&self, mut job: Job) -> Option<Job> {
        let mut idle = self.idle.borrow_mut();
        while let Some(hand) = idle.pop() {
            match hand.send(Hand::Job(job)) {
                Ok(()) => return None,
                Err(Hand::Job(back)) => job = back,
                Err(Hand::Leave) => return None,
            }
        }
        Some(job)
    }
}
