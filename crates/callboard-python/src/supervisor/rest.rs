//! Rest: processes that nothing has used for a while end, and are started again by the next use.
//!
//! The files of characters rest one by one; the root process rests while all of them do. What a conversation needs is in
//! its state, which is kept by the caller, so nothing is lost.

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::{Sleep, sleep, timeout};

use super::shared_by_pools::ProcessTree;

/// Whether the processes of one character have ended for lack of use. Its handles read this from any thread.
#[derive(Debug, Default)]
pub(crate) struct CharacterRest {
    at_rest: AtomicBool,
    wake: Notify,
}

impl CharacterRest {
    pub(crate) fn is_at_rest(&self) -> bool {
        self.at_rest.load(Ordering::Relaxed)
    }

    /// Has the processes start now, if they are at rest, rather than at the next call.
    pub(crate) fn wake(&self) {
        if self.is_at_rest() {
            self.wake.notify_one();
        }
    }

    pub(super) fn begin(&self) {
        // Takes back what an earlier `wake` has left.
        pin!(self.wake.notified()).enable();
        self.at_rest.store(true, Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.at_rest.store(false, Ordering::Relaxed);
    }

    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }
}

/// Counts the zygotes, and so knows when the root process is not needed.
#[derive(Default)]
pub(crate) struct RootUse {
    zygotes: Cell<usize>,
    changed: Notify,
}

/// Keeps the root process from resting.
pub(crate) struct RootUser(Rc<RootUse>);

impl RootUse {
    pub(crate) fn register(self: &Rc<Self>) -> RootUser {
        self.count(self.zygotes.get() + 1);
        RootUser(Rc::clone(self))
    }

    pub(crate) fn is_needed(&self) -> bool {
        self.zygotes.get() > 0
    }

    fn count(&self, zygotes: usize) {
        self.zygotes.set(zygotes);
        self.changed.notify_one();
    }
}

impl Drop for RootUser {
    fn drop(&mut self) {
        self.0.count(self.0.zygotes.get().saturating_sub(1));
    }
}

/// Ends the root process whenever no zygote has needed it for a while.
pub(crate) async fn rest_root(tree: Rc<ProcessTree>, after: Duration) {
    let changed = || tree.root_use.changed.notified();
    loop {
        // It was started to be used, so it does not rest before.
        changed().await;
        while timeout(after, changed()).await.is_ok() {}
        if !tree.root_use.is_needed() {
            tree.end_root().await;
        }
    }
}

/// Resolves when a pool should look whether it is unused; never where nothing rests.
pub(super) struct RestTimer {
    after: Option<Duration>,
    next: Pin<Box<Sleep>>,
}

impl RestTimer {
    pub(super) fn new(after: Option<Duration>) -> Self {
        Self { after, next: Box::pin(sleep(after.unwrap_or_default())) }
    }

    pub(super) async fn elapsed(&mut self) {
        match self.after {
            Some(_) => self.next.as_mut().await,
            None => std::future::pending().await,
        }
    }

    /// Whether what became idle at this time, or is not idle at all, has been so for long enough. Sets the timer anew.
    pub(super) fn is_over(&mut self, idle_since: Option<Instant>) -> bool {
        let (Some(after), now) = (self.after, Instant::now()) else { return false };
        let end = idle_since.unwrap_or(now) + after;
        let is_over = end <= now;
        self.next.as_mut().reset(if is_over { now + after } else { end }.into());
        is_over
    }
}
