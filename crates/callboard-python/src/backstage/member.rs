//! A member of the company: one version of one file, with its dresser, its workers and the jobs that wait for them.
//!
//! It lives as long as a handle to the character exists. It decides when a worker is started; what a worker does with
//! a job is the worker's own business.

use std::rc::Rc;

use tokio::sync::{mpsc, oneshot};

use super::dresser::{Dressed, Dresser, dress};
use super::job::Job;
use super::queue::Queue;
use super::stage::Stage;
use super::thread::start_task;
use super::transport::Sender;
use super::worker::{self, Departure, WorkerSetup};
use crate::fault::StageFailure;
use crate::manifest::Manifest;
use crate::problem::LoadFailure;

/// The file that a member is for.
#[derive(Debug, Clone)]
pub(crate) struct Role {
    pub(crate) id: String,
    pub(crate) path: String,
    /// The text of the file once it has been read, so that a dresser that is lost can be replaced by its equal.
    pub(crate) source: Option<String>,
}

/// The wish for a member: whoever asked is told what came of it.
pub(crate) struct Casting {
    pub(crate) role: Role,
    pub(crate) answer: oneshot::Sender<Result<Cast, LoadFailure>>,
}

/// What a handle needs: the manifest, and the way to the member.
pub(crate) type Cast = (Box<Manifest>, mpsc::UnboundedSender<Job>);

/// The way to a running dresser. It leaves when this is dropped.
/// How often a worker is tried for before a job is given up, and how long to wait in between.
pub(super) const MOST_MISSES: u32 = 4;
pub(super) const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

struct DresserLink {
    sender: Sender,
    leave: oneshot::Sender<()>,
}

struct Member {
    stage: Rc<Stage>,
    role: Role,
    dresser: Option<DresserLink>,
    queue: Rc<Queue>,
    jobs: mpsc::UnboundedReceiver<Job>,
    workers: usize,
    /// Workers in a row that never started.
    misses: u32,
    departures: (mpsc::UnboundedSender<Departure>, mpsc::UnboundedReceiver<Departure>),
}

/// The life of a member: loads the file, and where that works, performs until the last handle is gone.
pub(crate) async fn live(stage: Rc<Stage>, casting: Casting) {
    let Casting { mut role, answer } = casting;
    match dress(&stage, &role).await {
        Ok(Dressed { dresser, manifest, source }) => {
            role.source = Some(source);
            let (orders, jobs) = mpsc::unbounded_channel();
            if answer.send(Ok((manifest, orders))).is_ok() {
                Member::new(stage, role, dresser, jobs).serve().await;
            }
        }
        Err(failure) => {
            // Whoever asked may have gone away in the meantime.
            let _ = answer.send(Err(failure));
        }
    }
}

impl Member {
    fn new(stage: Rc<Stage>, role: Role, dresser: Dresser, jobs: mpsc::UnboundedReceiver<Job>) -> Self {
        let dresser = Some(start(dresser));
        let departures = mpsc::unbounded_channel();
        Self { queue: stage.queue(), stage, role, dresser, jobs, workers: 0, misses: 0, departures }
    }

    async fn serve(mut self) {
        loop {
            tokio::select! {
                biased;
                job = self.jobs.recv() => match job {
                    Some(job) => self.queue.offer(job),
                    None => return,
                },
                Some(departure) = self.departures.1.recv() => self.note_departure(departure).await,
            }
            while self.queue.lacks_workers() && self.workers < self.stage.settings.limits.workers_per_character {
                self.start_worker().await;
            }
        }
    }

    /// A worker that was lost is replaced at once, whether or not there is a job for the new one.
    async fn note_departure(&mut self, departure: Departure) {
        self.workers = self.workers.saturating_sub(1);
        match departure {
            Departure::Dismissed => self.misses = 0,
            Departure::Lost => {
                self.misses = 0;
                self.start_worker().await;
            }
            // What forks it may just have been lost, and be replaced by the time it is asked again.
            Departure::NeverStarted(_) if self.misses < MOST_MISSES => {
                self.misses += 1;
                tokio::time::sleep(PAUSE * self.misses).await;
            }
            Departure::NeverStarted(failure) => {
                tracing::warn!(character = self.role.id, %failure, "a worker could not be started");
                // One job is given up for each, so that a character that can never start does not try forever.
                if let Some(job) = self.queue.take() {
                    job.fail(failure);
                }
            }
        }
    }

    async fn start_worker(&mut self) {
        let forker = match self.forker().await {
            Ok(forker) => forker,
            Err(failure) => return self.give_up(&failure),
        };
        self.workers += 1;
        start_task(worker::live(WorkerSetup {
            stage: Rc::clone(&self.stage),
            id: self.role.id.clone(),
            forker,
            queue: Rc::clone(&self.queue),
            starting: self.queue.count_starting(),
            departures: self.departures.0.clone(),
        }));
    }

    /// The way to the dresser, which is replaced by its equal if it was lost.
    async fn forker(&mut self) -> Result<Sender, LoadFailure> {
        if let Some(link) = self.dresser.as_ref().filter(|link| !link.leave.is_closed()) {
            return Ok(link.sender.clone());
        }
        tracing::warn!(character = self.role.id, "its dresser was lost; another takes its place");
        let link = start(dress(&self.stage, &self.role).await?.dresser);
        let sender = link.sender.clone();
        self.dresser = Some(link);
        Ok(sender)
    }

    fn give_up(&self, failure: &LoadFailure) {
        while let Some(job) = self.queue.take() {
            job.fail(StageFailure::NotStarted(failure.to_string()));
        }
    }
}

fn start(dresser: Dresser) -> DresserLink {
    let (leave, told_to_leave) = oneshot::channel();
    let sender = dresser.sender();
    start_task(dresser.serve(told_to_leave));
    DresserLink { sender, leave }
}
