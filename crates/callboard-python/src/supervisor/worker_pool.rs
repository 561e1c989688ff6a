//! The worker pool of one version of one character file: its zygote, its workers and its queue of jobs.
//!
//! It lives as long as a handle to the character exists. It decides when a worker is started; what a worker does with
//! a job is decided in `worker`.

use std::rc::Rc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::fork_server::{ForkServer, ForkServerHandle};
use super::job_queue::{Job, JobQueue};
use super::shared_by_pools::ProcessTree;
use super::thread::start_task;
use super::worker::{self, WorkerExit, WorkerSetup};
use super::zygote::{self, CharacterFile, Zygote};
use crate::error::HostError;
use crate::manifest::Manifest;
use crate::problem::LoadError;

/// How often starting a process is retried, and how long the pause grows with each retry.
pub(super) const MAX_START_RETRIES: u32 = 4;
pub(super) const START_BACKOFF: Duration = Duration::from_millis(10);

/// Asks for a file to be loaded.
pub(crate) struct LoadRequest {
    pub(crate) file: CharacterFile,
    pub(crate) reply: oneshot::Sender<Result<LoadedFile, LoadError>>,
}

/// A manifest, and where to send jobs.
pub(crate) type LoadedFile = (Box<Manifest>, mpsc::UnboundedSender<Job>);

struct WorkerPool {
    tree: Rc<ProcessTree>,
    file: CharacterFile,
    zygote: ForkServer,
    queue: Rc<JobQueue>,
    jobs: mpsc::UnboundedReceiver<Job>,
    workers: usize,
    /// Workers in a row that could not be started.
    failed_starts: u32,
    exits: (mpsc::UnboundedSender<WorkerExit>, mpsc::UnboundedReceiver<WorkerExit>),
}

/// Loads a file and runs its worker pool until the last handle is gone.
pub(crate) async fn run(tree: Rc<ProcessTree>, request: LoadRequest) {
    let LoadRequest { mut file, reply } = request;
    let Zygote { server: zygote, manifest, source } = match zygote::load(&tree, &file).await {
        Ok(zygote) => zygote,
        // The caller may have gone away meanwhile.
        Err(error) => return drop(reply.send(Err(error))),
    };
    file.source = Some(source);
    let (sender, jobs) = mpsc::unbounded_channel();
    if reply.send(Ok((manifest, sender))).is_ok() {
        let queue = tree.worker_slots.new_queue();
        let exits = mpsc::unbounded_channel();
        WorkerPool { tree, file, zygote, queue, jobs, workers: 0, failed_starts: 0, exits }.serve().await;
    }
}

impl WorkerPool {
    async fn serve(mut self) {
        loop {
            tokio::select! {
                biased;
                job = self.jobs.recv() => match job {
                    Some(job) => self.queue.push(job),
                    None => return,
                },
                Some(exit) = self.exits.1.recv() => self.handle_exit(exit).await,
            }
            while self.queue.needs_workers() && self.workers < self.tree.settings.limits.workers_per_character {
                self.start_worker().await;
            }
        }
    }

    /// A lost worker is replaced at once, whether or not a job waits for it.
    async fn handle_exit(&mut self, exit: WorkerExit) {
        self.workers = self.workers.saturating_sub(1);
        match exit {
            WorkerExit::Stopped => self.failed_starts = 0,
            WorkerExit::Lost => {
                self.failed_starts = 0;
                self.start_worker().await;
            }
            // The zygote may just have been lost, and be replaced by the next attempt.
            WorkerExit::NotStarted(_) if self.failed_starts < MAX_START_RETRIES => {
                self.failed_starts += 1;
                tokio::time::sleep(START_BACKOFF * self.failed_starts).await;
            }
            WorkerExit::NotStarted(error) => {
                tracing::warn!(character = self.file.id, %error, "a worker could not be started");
                // Each failed start fails one job, so that retries end even if no worker ever starts.
                if let Some(job) = self.queue.pop() {
                    job.fail(error);
                }
            }
        }
    }

    async fn start_worker(&mut self) {
        let zygote = match self.running_zygote().await {
            Ok(zygote) => zygote,
            Err(error) => return self.fail_all(&error),
        };
        self.workers += 1;
        self.queue.worker_starting();
        start_task(worker::run(WorkerSetup {
            tree: Rc::clone(&self.tree),
            character: self.file.id.clone(),
            zygote,
            queue: Rc::clone(&self.queue),
            exits: self.exits.0.clone(),
        }));
    }

    /// The zygote, replaced if it was lost.
    async fn running_zygote(&mut self) -> Result<ForkServerHandle, LoadError> {
        if self.zygote.handle().is_none() {
            tracing::warn!(character = self.file.id, "the zygote process was lost; starting another");
            self.zygote = zygote::load(&self.tree, &self.file).await?.server;
        }
        self.zygote.handle().ok_or_else(|| HostError::NotStarted("the zygote ended".to_owned()).into())
    }

    fn fail_all(&self, error: &LoadError) {
        while let Some(job) = self.queue.pop() {
            job.fail(HostError::NotStarted(error.to_string()));
        }
    }
}
