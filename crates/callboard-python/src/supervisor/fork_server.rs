//! A process that forks others on request: the root process forks zygotes, a zygote forks workers.
//!
//! One that does not answer is killed, and replaced by the next request that needs it. After calls a zygote is asked to
//! sweep: to end what its workers have let escape.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::{sleep, timeout};

use super::channel_process::Child;
use super::exit_reports::ExitReports;
use super::process_state::cannot_run;
use super::protocol::{ForkServerRequest, HostEvent};
use super::thread::start_task;
use super::transport::{FrameSender, json_frame};

/// How long after a call its zygote sweeps.
const SWEEP_AFTER: Duration = Duration::from_millis(100);

/// How long an answer may take. A process that was stopped by a signal does not get this long.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a process that does not answer is checked for having been stopped, or having ended.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// The owner of a running fork server. Dropping it kills the process.
pub(crate) struct ForkServer {
    handle: ForkServerHandle,
    stop: oneshot::Sender<()>,
}

/// Sends requests to a fork server, without keeping it alive.
#[derive(Clone)]
pub(crate) struct ForkServerHandle {
    pub(super) sender: FrameSender,
    shared: Rc<Shared>,
}

struct Shared {
    pid: u32,
    kill: Notify,
    killed: Cell<bool>,
    /// A worker has run a call since the last sweep.
    called: Cell<bool>,
    first_call: Notify,
}

impl ForkServer {
    /// Watches the process in a task of its own.
    pub(crate) fn start(child: Child, exit_reports: Rc<ExitReports>) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (killed, called) = (Cell::default(), Cell::default());
        let pid = child.process.pid();
        let shared = Rc::new(Shared { pid, kill: Notify::new(), killed, called, first_call: Notify::new() });
        let handle = ForkServerHandle { sender: child.pipes.sender.clone(), shared };
        start_task(watch(child, handle.clone(), exit_reports, stopped));
        Self { handle, stop }
    }

    /// Where to send fork requests, unless the process has ended.
    pub(crate) fn handle(&self) -> Option<ForkServerHandle> {
        (!self.stop.is_closed() && !self.handle.shared.killed.get()).then(|| self.handle.clone())
    }
}

impl ForkServerHandle {
    pub(crate) fn pid(&self) -> u32 {
        self.shared.pid
    }

    /// Kills the process, and with it all below.
    pub(crate) fn kill(&self) {
        self.shared.killed.set(true);
        self.shared.kill.notify_one();
    }

    /// A worker has run a call: has the process sweep soon.
    pub(crate) fn sweep_soon(&self) {
        if !self.shared.called.replace(true) {
            self.shared.first_call.notify_one();
        }
    }

    /// Resolves when the process will not answer: it cannot run, or has had time enough.
    pub(crate) async fn hangs(&self) {
        let stopped = async {
            loop {
                sleep(STOP_CHECK).await;
                if cannot_run(self.shared.pid) {
                    return;
                }
            }
        };
        // Its timeout means the same.
        let _ = timeout(ANSWER_TIMEOUT, stopped).await;
    }
}

async fn watch(
    mut child: Child,
    handle: ForkServerHandle,
    exit_reports: Rc<ExitReports>,
    mut stopped: oneshot::Receiver<()>,
) {
    let swept = Notify::new();
    let mut sweeps = std::pin::pin!(sweep_after_calls(&handle, &swept));
    loop {
        tokio::select! {
            frame = child.pipes.receiver.next() => match frame {
                Ok(Some(body)) => handle_event(&body, &exit_reports, &swept),
                _ => return,
            },
            _ = &mut stopped => return,
            () = handle.shared.kill.notified() => return,
            () = child.process.ended() => return,
            () = &mut sweeps => {
                tracing::warn!(pid = handle.shared.pid, "a fork server does not answer; killing it");
                return handle.shared.killed.set(true);
            }
            never = child.pipes.output.forward() => match never {},
        }
    }
}

/// Has the process sweep after calls, until it does not answer.
async fn sweep_after_calls(handle: &ForkServerHandle, swept: &Notify) {
    loop {
        handle.shared.first_call.notified().await;
        sleep(SWEEP_AFTER).await;
        handle.shared.called.set(false);
        let sweep = async {
            if let Ok(frame) = json_frame(&ForkServerRequest::Sweep)
                && handle.sender.send(&frame).await.is_ok()
            {
                swept.notified().await;
            }
        };
        tokio::select! {
            () = sweep => {}
            () = handle.hangs() => return,
        }
    }
}

fn handle_event(body: &[u8], exit_reports: &ExitReports, swept: &Notify) {
    match serde_json::from_slice(body) {
        Ok(HostEvent::Exited { pid, status }) => exit_reports.deliver(pid, status),
        Ok(HostEvent::ForkFailed { error }) => tracing::error!(error, "a process could not be forked"),
        Ok(HostEvent::Swept {}) => swept.notify_one(),
        _ => tracing::error!("a fork server sent an unexpected message"),
    }
}
