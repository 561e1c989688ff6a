//! Limits the workers of all characters together. When all slots are taken, idle workers are stopped to free some.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::job_queue::JobQueue;

pub(crate) struct WorkerSlots {
    free: Semaphore,
    waiting: Cell<usize>,
    queues: RefCell<Vec<Weak<JobQueue>>>,
}

impl WorkerSlots {
    pub(crate) fn new(count: usize) -> Self {
        Self { free: Semaphore::new(count), waiting: Cell::new(0), queues: RefCell::default() }
    }

    /// A queue for a new worker pool, whose idle workers may be stopped.
    pub(crate) fn new_queue(&self) -> Rc<JobQueue> {
        let queue = Rc::default();
        let mut queues = self.queues.borrow_mut();
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(Rc::downgrade(&queue));
        queue
    }

    /// Waits for a free slot.
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(slot) = self.free.try_acquire() {
            return Some(slot);
        }
        self.waiting.update(|count| count + 1);
        self.stop_longest_idle();
        let slot = self.free.acquire().await.ok();
        self.waiting.update(|count| count - 1);
        slot
    }

    /// Whether a worker without a job should free its slot.
    pub(crate) fn are_contended(&self) -> bool {
        self.waiting.get() > 0
    }

    fn stop_longest_idle(&self) {
        let queues: Vec<Rc<JobQueue>> = self.queues.borrow().iter().filter_map(Weak::upgrade).collect();
        let idle = queues.iter().filter_map(|queue| Some((queue.idle_since()?, queue)));
        if let Some((_, queue)) = idle.min_by_key(|(since, _)| *since) {
            queue.stop_longest_idle();
        }
    }
}
