//! What all worker pools share: the settings, the root process, and the limits on imports and workers.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore};

use super::channel_process::{Child, Pipes};
use super::exit_reports::ExitReports;
use super::fork_server::ForkServer;
use super::process_handle::Process;
use super::progress_page::ProgressPage;
use super::protocol::{ForkRequest, HostEvent};
use super::root_process::start_root;
use super::transport::{FrameSender, json_frame};
use super::worker_slots::WorkerSlots;
use crate::error::{HostError, StartError};
use crate::settings::HostSettings;

/// Room in a frame for a manifest, a source or a traceback, beside a result and a state.
const FRAME_OVERHEAD: usize = 16 << 20;

/// How many bytes of JSON a byte of text can become.
const ESCAPED: usize = 6;

/// How long a fork and its hello may take.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct ProcessTree {
    pub(crate) settings: HostSettings,
    pub(crate) exit_reports: Rc<ExitReports>,
    pub(crate) imports: Semaphore,
    pub(crate) worker_slots: WorkerSlots,
    root: Mutex<Option<ForkServer>>,
}

impl ProcessTree {
    pub(crate) fn new(settings: HostSettings) -> Self {
        Self {
            exit_reports: Rc::default(),
            imports: Semaphore::new(settings.limits.imports.max(1)),
            worker_slots: WorkerSlots::new(settings.limits.workers.max(1)),
            root: Mutex::new(None),
            settings,
        }
    }

    /// The root process, which is started if it does not run.
    pub(crate) async fn root(&self) -> Result<FrameSender, StartError> {
        let mut root = self.root.lock().await;
        if let Some(sender) = root.as_ref().and_then(ForkServer::sender) {
            return Ok(sender);
        }
        let child = start_root(&self.settings).await?;
        let sender = child.pipes.sender.clone();
        *root = Some(ForkServer::start(child, Rc::clone(&self.exit_reports)));
        Ok(sender)
    }

    /// Has a fork server fork a process, and waits for its hello. It prints under `name`.
    pub(crate) async fn fork(
        &self,
        server: &FrameSender,
        name: &str,
        progress: Option<&ProgressPage>,
    ) -> Result<Child, HostError> {
        let not_started = |why: &str| HostError::NotStarted(why.to_owned());
        let requested = self.request_fork(server, name, progress).await;
        let mut pipes = requested.map_err(|error| not_started(&error.to_string()))?;
        let body = match pipes.exchange(&[], HELLO_TIMEOUT).await {
            Ok(Ok(Some(body))) => body,
            Ok(_) => return Err(not_started("it ended before it said hello")),
            Err(_) => return Err(not_started("it did not say hello")),
        };
        match serde_json::from_slice(&body) {
            Ok(HostEvent::Hello { pid, .. }) => {
                let process = Process::open(pid).map_err(|error| not_started(&error.to_string()))?;
                Ok(Child { process, pipes })
            }
            _ => Err(HostError::Protocol("the first message of a process was not a hello".to_owned())),
        }
    }

    async fn request_fork(
        &self,
        server: &FrameSender,
        name: &str,
        progress: Option<&ProgressPage>,
    ) -> io::Result<Pipes> {
        let limits = &self.settings.limits;
        let largest_frame = FRAME_OVERHEAD + (limits.result + limits.state) * ESCAPED;
        let (pipes, child_ends) = Pipes::new(name, &self.settings, largest_frame)?;
        let mut descriptors: Vec<BorrowedFd<'_>> = child_ends.iter().map(AsFd::as_fd).collect();
        descriptors.extend(progress.map(ProgressPage::descriptor));
        server.send_with_descriptors(&json_frame(&ForkRequest {})?, &descriptors).await?;
        Ok(pipes)
    }
}
