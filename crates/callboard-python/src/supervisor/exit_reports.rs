//! How processes ended. Only their parents learn it, and report it a moment after the end itself is seen.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// A report comes within a millisecond, unless the parent has ended too.
const REPORT_TIMEOUT: Duration = Duration::from_millis(250);

/// The processes whose exit status is wanted, by pid.
#[derive(Default)]
pub(crate) struct ExitReports(RefCell<HashMap<u32, oneshot::Sender<i32>>>);

/// The exit status of one process, once it is known.
pub(crate) struct ExitReport {
    /// Until the report is here.
    receiver: Option<oneshot::Receiver<i32>>,
    status: Option<i32>,
}

impl ExitReports {
    pub(crate) fn subscribe(&self, pid: u32) -> ExitReport {
        let (sender, receiver) = oneshot::channel();
        let mut wanted = self.0.borrow_mut();
        wanted.retain(|_, sender| !sender.is_closed());
        wanted.insert(pid, sender);
        ExitReport { receiver: Some(receiver), status: None }
    }

    /// A process ended: with a status, or by a signal, given as a negative number.
    pub(crate) fn deliver(&self, pid: u32, status: i32) {
        if let Some(sender) = self.0.borrow_mut().remove(&pid) {
            // Dropped subscriptions are removed by the next one.
            let _ = sender.send(status);
        }
    }
}

impl ExitReport {
    /// Waits for the report, which comes once the process and all that it started have ended. False without one.
    pub(crate) async fn wait(&mut self, limit: Duration) -> bool {
        if let Some(receiver) = &mut self.receiver
            && let Ok(result) = timeout(limit, receiver).await
        {
            self.status = result.ok();
            self.receiver = None;
        }
        self.status.is_some()
    }

    /// What happened to the process, as the predicate of a sentence.
    pub(crate) async fn describe(&mut self) -> String {
        self.wait(REPORT_TIMEOUT).await;
        self.status.map_or_else(|| "ended".to_owned(), describe)
    }
}

/// How a process ended, as the predicate of a sentence: its status, or its signal as a negative number.
pub fn describe(status: i32) -> String {
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
