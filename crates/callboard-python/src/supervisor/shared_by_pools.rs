//! What all worker pools share: the settings, the root process, and the limits on imports and workers.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use tokio::sync::{Mutex, Semaphore};

use super::channel_process::{Child, Pipes};
use super::exit_reports::ExitReports;
use super::fork_server::{ForkServer, ForkServerHandle};
use super::process_handle::Process;
use super::progress_page::ProgressPage;
use super::protocol::{ForkServerRequest, HostEvent};
use super::rest::RootUse;
use super::root_process::start_root;
use super::transport::json_frame;
use super::worker_slots::WorkerSlots;
use crate::error::{HostError, StartError};
use crate::sandbox::KernelSupport;
use crate::settings::HostSettings;

/// Room in a frame for a manifest, a source or a traceback, beside a result and a state.
const FRAME_OVERHEAD: usize = 16 << 20;

/// How many bytes of JSON a byte of text can become.
const ESCAPED: usize = 6;

pub(crate) struct ProcessTree {
    pub(crate) settings: HostSettings,
    pub(crate) exit_reports: Rc<ExitReports>,
    pub(crate) imports: Semaphore,
    pub(crate) worker_slots: WorkerSlots,
    pub(crate) root_use: Rc<RootUse>,
    root: Mutex<Option<ForkServer>>,
}

impl ProcessTree {
    pub(crate) fn new(settings: HostSettings) -> Self {
        Self {
            exit_reports: Rc::default(),
            imports: Semaphore::new(settings.limits.imports.max(1)),
            worker_slots: WorkerSlots::new(settings.limits.workers.max(1)),
            root_use: Rc::default(),
            root: Mutex::new(None),
            settings,
        }
    }

    /// Starts the root process, and says what the kernel offers.
    pub(crate) async fn start(&self) -> Result<KernelSupport, StartError> {
        let (child, kernel) = start_root(&self.settings).await?;
        *self.root.lock().await = Some(ForkServer::start(child, Rc::clone(&self.exit_reports)));
        Ok(kernel)
    }

    /// The root process, which is started if it does not run.
    pub(crate) async fn root(&self) -> Result<ForkServerHandle, StartError> {
        let mut root = self.root.lock().await;
        if let Some(handle) = root.as_ref().and_then(ForkServer::handle) {
            return Ok(handle);
        }
        let (child, _) = start_root(&self.settings).await?;
        let server = ForkServer::start(child, Rc::clone(&self.exit_reports));
        let handle = server.handle().ok_or_else(|| io::Error::other("the root process ended"))?;
        *root = Some(server);
        Ok(handle)
    }

    /// Ends the root process, unless it is needed again meanwhile.
    pub(crate) async fn end_root(&self) {
        let mut root = self.root.lock().await;
        if !self.root_use.is_needed() && root.take().is_some() {
            tracing::debug!("all characters are at rest; the root process ends");
        }
    }

    /// Has a fork server fork a process, and waits for its hello. It prints under `name`. A server that does not answer
    /// is killed.
    pub(crate) async fn fork(
        &self,
        server: &ForkServerHandle,
        name: &str,
        progress: Option<&ProgressPage>,
    ) -> Result<Child, HostError> {
        tokio::select! {
            biased;
            forked = self.fork_and_greet(server, name, progress) => forked,
            () = server.hangs() => {
                tracing::warn!(name, "a fork server does not answer; killing it");
                server.kill();
                Err(not_started("its parent did not answer"))
            }
        }
    }

    async fn fork_and_greet(
        &self,
        server: &ForkServerHandle,
        name: &str,
        progress: Option<&ProgressPage>,
    ) -> Result<Child, HostError> {
        let requested = self.request_fork(server, name, progress).await;
        let mut pipes = requested.map_err(|error| not_started(&error.to_string()))?;
        let Ok(Some(body)) = pipes.receive().await else {
            return Err(not_started("it ended before it said hello"));
        };
        match serde_json::from_slice(&body) {
            Ok(HostEvent::Hello { pid, .. }) => {
                let process = Process::open(pid, server.pid()).map_err(|error| not_started(&error.to_string()))?;
                Ok(Child { process, pipes })
            }
            _ => Err(HostError::Protocol("the first message of a process was not a hello".to_owned())),
        }
    }

    async fn request_fork(
        &self,
        server: &ForkServerHandle,
        name: &str,
        progress: Option<&ProgressPage>,
    ) -> io::Result<Pipes> {
        let limits = &self.settings.limits;
        let largest_frame = FRAME_OVERHEAD + (limits.result + limits.state) * ESCAPED;
        let (mut pipes, child_ends) = Pipes::new(name, &self.settings, largest_frame)?;
        let mut descriptors: Vec<BorrowedFd<'_>> = child_ends.iter().map(AsFd::as_fd).collect();
        if let Some(progress) = progress {
            descriptors.push(progress.descriptor());
            pipes.unread = Some(child_ends[0].try_clone()?);
        }
        server.sender.send_with_descriptors(&json_frame(&ForkServerRequest::Fork)?, &descriptors).await?;
        Ok(pipes)
    }
}

fn not_started(why: &str) -> HostError {
    HostError::NotStarted(why.to_owned())
}
