//! A process that forks others on request: the root process forks zygotes, a zygote forks workers.

use std::rc::Rc;

use tokio::sync::oneshot;

use super::channel_process::Child;
use super::exit_reports::ExitReports;
use super::protocol::HostEvent;
use super::thread::start_task;
use super::transport::FrameSender;

/// The handle of a running fork server. Dropping it kills the process.
pub(crate) struct ForkServer {
    sender: FrameSender,
    stop: oneshot::Sender<()>,
}

impl ForkServer {
    /// Watches the process in a task of its own.
    pub(crate) fn start(child: Child, exit_reports: Rc<ExitReports>) -> Self {
        let (stop, stopped) = oneshot::channel();
        let sender = child.pipes.sender.clone();
        start_task(watch(child, exit_reports, stopped));
        Self { sender, stop }
    }

    /// Where to send fork requests, unless the process has ended.
    pub(crate) fn sender(&self) -> Option<FrameSender> {
        (!self.stop.is_closed()).then(|| self.sender.clone())
    }
}

async fn watch(mut child: Child, exit_reports: Rc<ExitReports>, mut stopped: oneshot::Receiver<()>) {
    loop {
        tokio::select! {
            frame = child.pipes.receiver.next() => match frame {
                Ok(Some(body)) => handle_event(&body, &exit_reports),
                _ => return,
            },
            _ = &mut stopped => return,
            () = child.process.ended() => return,
            never = child.pipes.output.forward() => match never {},
        }
    }
}

fn handle_event(body: &[u8], exit_reports: &ExitReports) {
    match serde_json::from_slice(body) {
        Ok(HostEvent::Exited { pid, status }) => exit_reports.deliver(pid, status),
        Ok(HostEvent::ForkFailed { error }) => tracing::error!(error, "a process could not be forked"),
        _ => tracing::error!("a fork server sent an unexpected message"),
    }
}
