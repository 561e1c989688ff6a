//! How processes ended. Only their parents learn it, and these tell us a moment after the end itself is seen.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

/// How long a parent's word is waited for. It comes within a millisecond, unless the parent has ended too.
const PATIENCE: Duration = Duration::from_millis(250);

/// What is known of the ends of processes that somebody asks about.
#[derive(Default)]
pub(crate) struct Obituaries {
    statuses: RefCell<HashMap<u32, Option<i32>>>,
    news: Notify,
}

/// The wish to know how a process ends. What is known is forgotten with it.
pub(crate) struct Obituary {
    pid: u32,
    all: Rc<Obituaries>,
}

impl Obituaries {
    /// From now on, note how this process ends.
    pub(crate) fn expect(self: &Rc<Self>, pid: u32) -> Obituary {
        self.statuses.borrow_mut().insert(pid, None);
        Obituary { pid, all: Rc::clone(self) }
    }

    /// A process ended: with a status, or by a signal, given as a negative number.
    pub(crate) fn note(&self, pid: u32, status: i32) {
        if let Some(slot) = self.statuses.borrow_mut().get_mut(&pid) {
            *slot = Some(status);
        }
        self.news.notify_waiters();
    }
}

impl Obituary {
    /// What became of the process, in words that go after `its process`.
    pub(crate) async fn words(&self) -> String {
        let known = || self.all.statuses.borrow().get(&self.pid).copied().flatten();
        let told = async {
            loop {
                let news = self.all.news.notified();
                if let Some(status) = known() {
                    return status;
                }
                news.await;
            }
        };
        timeout(PATIENCE, told).await.map_or_else(|_| "ended".to_owned(), describe)
    }
}

impl Drop for Obituary {
    fn drop(&mut self) {
        self.all.statuses.borrow_mut().remove(&self.pid);
    }
}

fn describe(status: i32) -> String {
    match status {
        0.. => format!("exited with status {status}"),
        -6 => "aborted (SIGABRT)".to_owned(),
        -7 => "ended by a bus error (SIGBUS)".to_owned(),
        -8 => "ended by an arithmetic error (SIGFPE)".to_owned(),
        -9 => "was killed (SIGKILL), perhaps because the machine ran out of memory".to_owned(),
        -11 => "ended by a segmentation fault (SIGSEGV)".to_owned(),
        signal => format!("ended by signal {}", signal.unsigned_abs()),
    }
}
