//! The worker pool of one version of one character file: its zygote, its workers and its queue of jobs.
//!
//! It lives as long as a handle to the character exists. It decides when a worker is started; what a worker does with
//! a job is decided in `worker`.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::fork_server::{ForkServer, ForkServerHandle};
use super::job_queue::{Job, JobQueue};
use super::rest::{CharacterRest, RestTimer, RootUser};
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

/// A manifest, where to send jobs, and whether the processes are at rest.
pub(crate) struct LoadedFile {
    pub(crate) manifest: Box<Manifest>,
    pub(crate) jobs: mpsc::UnboundedSender<Job>,
    pub(crate) rest: Arc<CharacterRest>,
}

struct WorkerPool {
    tree: Rc<ProcessTree>,
    file: CharacterFile,
    /// `None` at rest.
    zygote: Option<RunningZygote>,
    rest: Arc<CharacterRest>,
    rest_timer: RestTimer,
    queue: Rc<JobQueue>,
    jobs: mpsc::UnboundedReceiver<Job>,
    workers: usize,
    /// Workers in a row that could not be started.
    failed_starts: u32,
    exits: (mpsc::UnboundedSender<WorkerExit>, mpsc::UnboundedReceiver<WorkerExit>),
}

struct RunningZygote {
    server: ForkServer,
    since: Instant,
    _root_user: RootUser,
}

/// Loads a file and runs its worker pool until the last handle is gone.
pub(crate) async fn run(tree: Rc<ProcessTree>, request: LoadRequest) {
    let LoadRequest { mut file, reply } = request;
    let Zygote { server, manifest, source, root_user } = match zygote::load(&tree, &file).await {
        Ok(zygote) => zygote,
        // The caller may have gone away meanwhile.
        Err(error) => return drop(reply.send(Err(error))),
    };
    file.source = Some(source);
    let (sender, jobs) = mpsc::unbounded_channel();
    let rest = Arc::<CharacterRest>::default();
    if reply.send(Ok(LoadedFile { manifest, jobs: sender, rest: Arc::clone(&rest) })).is_ok() {
        let queue = tree.worker_slots.new_queue();
        let rest_timer = RestTimer::new(tree.settings.rest_after);
        let zygote = Some(RunningZygote::new(server, root_user));
        let exits = mpsc::unbounded_channel();
        let pool =
            WorkerPool { tree, file, zygote, rest, rest_timer, queue, jobs, workers: 0, failed_starts: 0, exits };
        pool.serve().await;
    }
}

impl RunningZygote {
    fn new(server: ForkServer, root_user: RootUser) -> Self {
        Self { server, since: Instant::now(), _root_user: root_user }
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
                () = self.rest.woken(), if self.zygote.is_none() => self.start_worker().await,
                () = self.rest_timer.elapsed(), if self.zygote.is_some() => self.rest_if_unused(),
            }
            while self.queue.needs_workers() && self.workers < self.tree.settings.limits.workers_per_character {
                self.start_worker().await;
            }
        }
    }

    /// Ends the processes if no call has used them for a while.
    fn rest_if_unused(&mut self) {
        let Some(started) = self.zygote.as_ref().map(|zygote| zygote.since) else { return };
        let idle_since = if self.workers == 0 { Some(started) } else { self.queue.all_idle_since(self.workers) };
        if self.rest_timer.is_over(idle_since.map(|since| since.max(started))) {
            self.queue.stop_idle();
            self.zygote = None;
            self.rest.begin();
            tracing::debug!(character = self.file.id, "its processes end until the next call");
        }
    }

    /// A lost worker is replaced at once, whether or not a job waits for it.
    async fn handle_exit(&mut self, exit: WorkerExit) {
        self.workers = self.workers.saturating_sub(1);
        match exit {
            WorkerExit::Stopped => self.failed_starts = 0,
            WorkerExit::Lost => {
                self.failed_starts = 0;
                if self.zygote.is_some() {
                    self.start_worker().await;
                }
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

    /// The zygote: the running one, or another if it was lost or is at rest.
    async fn running_zygote(&mut self) -> Result<ForkServerHandle, LoadError> {
        if let Some(handle) = self.zygote_handle() {
            return Ok(handle);
        }
        if self.zygote.is_some() {
            tracing::warn!(character = self.file.id, "the zygote process was lost; starting another");
        }
        let Zygote { server, root_user, .. } = zygote::load(&self.tree, &self.file).await?;
        self.zygote = Some(RunningZygote::new(server, root_user));
        self.rest.end();
        self.zygote_handle().ok_or_else(|| HostError::NotStarted("the zygote ended".to_owned()).into())
    }

    fn zygote_handle(&self) -> Option<ForkServerHandle> {
        self.zygote.as_ref()?.server.handle()
    }

    fn fail_all(&self, error: &LoadError) {
        while let Some(job) = self.queue.pop() {
            job.fail(HostError::NotStarted(error.to_string()));
        }
    }
}
