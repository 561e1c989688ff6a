//! A worker: a process that runs one job at a time. It is killed when a job passes its deadline or is cancelled.
//!
//! This file decides the outcome of a job: a reply that was sent counts, even if the worker was killed a moment later;
//! a job that the worker never started goes back to the queue.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::{sleep_until, timeout};

use super::call_clock::{CallClock, Observation, PICKUP_TIMEOUT};
use super::channel_process::{Child, Pipes};
use super::exit_reports::ExitReport;
use super::fork_server::ForkServerHandle;
use super::job_queue::{Job, JobQueue};
use super::process_handle::Process;
use super::process_state::cannot_run;
use super::progress_page::ProgressPage;
use super::protocol::WorkerReply;
use super::shared_by_pools::ProcessTree;
use crate::error::{HostError, ToolError};

/// How long a process may take to end after it was killed or closed its channel.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a zygote may take to end what a worker has left running.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(5);

/// How many jobs a worker may be sent ahead of their replies, where its calls are short.
const PIPELINE_DEPTH: usize = 4;

/// Frames up to this size are pipelined: together they fit into the socket's buffer, so sending cannot block.
const PIPELINED_FRAME: usize = 16 << 10;

/// Calls below this are short: another may wait behind one unnoticed.
const SHORT_CALL: Duration = Duration::from_millis(1);

pub(crate) struct WorkerSetup {
    pub(crate) tree: Rc<ProcessTree>,
    pub(crate) character: String,
    pub(crate) zygote: ForkServerHandle,
    pub(crate) queue: Rc<JobQueue>,
    pub(crate) exits: mpsc::UnboundedSender<WorkerExit>,
}

pub(crate) enum WorkerExit {
    /// Its slot was needed, or its pool is gone.
    Stopped,
    /// It was killed, crashed, or cannot be used any more.
    Lost,
    NotStarted(HostError),
}

struct Worker<'a> {
    process: Process,
    pipes: Pipes,
    exit_report: ExitReport,
    progress: ProgressPage,
    character: &'a str,
    zygote: &'a ForkServerHandle,
    queue: &'a JobQueue,
    /// Jobs that were sent and have no reply yet, in the order in which they run.
    sent: VecDeque<Job>,
    /// Moving average of how long calls take.
    average: Duration,
}

/// What ended the wait for a job's reply.
enum JobEvent {
    Replied(Vec<u8>),
    Exited,
    DeadlinePassed,
    Cancelled,
}

/// Whether a worker can run another job.
#[derive(PartialEq, Eq)]
enum Reuse {
    Keep,
    Replace,
}

/// Runs a worker, from waiting for a slot to its end.
pub(crate) async fn run(setup: WorkerSetup) {
    let WorkerSetup { tree, character, zygote, queue, exits } = setup;
    let slot = tree.worker_slots.acquire().await;
    let started = Worker::start(&tree, &character, &zygote, &queue).await;
    queue.worker_started();
    let exit = match started {
        Ok(worker) => worker.serve(&tree).await,
        Err(error) => WorkerExit::NotStarted(error),
    };
    drop(slot);
    // The pool may be gone; then nobody needs another worker.
    let _ = exits.send(exit);
}

impl<'a> Worker<'a> {
    async fn start(
        tree: &ProcessTree,
        character: &'a str,
        zygote: &'a ForkServerHandle,
        queue: &'a JobQueue,
    ) -> Result<Self, HostError> {
        let progress = ProgressPage::new().map_err(|error| HostError::NotStarted(error.to_string()))?;
        let Child { process, pipes } = tree.fork(zygote, character, Some(&progress)).await?;
        let exit_report = tree.exit_reports.subscribe(process.pid());
        let (sent, average) = (VecDeque::new(), SHORT_CALL);
        Ok(Self { process, pipes, exit_report, progress, character, zygote, queue, sent, average })
    }

    async fn serve(mut self, tree: &ProcessTree) -> WorkerExit {
        let exit = loop {
            let mut next = VecDeque::new();
            if self.sent.is_empty() {
                match self.next_job(tree).await {
                    Ok(job) => next.push_back(job),
                    Err(exit) => break exit,
                }
            }
            self.pipeline_jobs(&mut next);
            self.send(next).await;
            let Some(job) = self.sent.pop_front() else { continue };
            self.pipes.output.reset();
            let reuse = self.run(job).await;
            self.zygote.sweep_soon();
            if reuse == Reuse::Replace {
                break WorkerExit::Lost;
            }
        };
        self.return_jobs();
        exit
    }

    async fn next_job(&mut self, tree: &ProcessTree) -> Result<Job, WorkerExit> {
        match self.queue.pop() {
            Some(job) => Ok(job),
            None if tree.worker_slots.are_contended() => Err(WorkerExit::Stopped),
            None => self.wait_for_job().await,
        }
    }

    /// Waits for a job. An idle worker sends nothing, so any message is an error.
    async fn wait_for_job(&mut self) -> Result<Job, WorkerExit> {
        let mut next_job = self.queue.wait_for_job();
        tokio::select! {
            biased;
            job = &mut next_job => return job.map_err(|_| WorkerExit::Stopped),
            _ = self.pipes.receiver.next() => {}
            () = self.process.ended() => {}
            never = self.pipes.output.forward() => match never {},
        }
        next_job.close();
        if let Ok(job) = next_job.try_recv() {
            self.queue.retry(job);
        }
        Err(WorkerExit::Lost)
    }

    /// Sends jobs, with one write. A worker that does not receive them is killed, which ends the wait for its reply.
    async fn send(&mut self, mut jobs: VecDeque<Job>) {
        let sent = match jobs.make_contiguous() {
            [] => return,
            [job] => timeout(PICKUP_TIMEOUT, self.pipes.sender.send(&job.frame)).await,
            several => {
                let frames: Vec<&[u8]> = several.iter().map(|job| job.frame.as_slice()).collect();
                timeout(PICKUP_TIMEOUT, self.pipes.sender.send(&frames.concat())).await
            }
        };
        if !matches!(sent, Ok(Ok(()))) {
            self.process.kill();
        }
        self.sent.append(&mut jobs);
    }

    /// Where all workers are busy and calls are short, takes jobs to be sent ahead, so that the worker need not sleep
    /// between them: several at a time, once half of the earlier ones are done. Jobs that a starting worker will take are
    /// left to it: calls of one reply should run in parallel.
    fn pipeline_jobs(&self, next: &mut VecDeque<Job>) {
        if self.sent.len() > PIPELINE_DEPTH / 2 || self.average >= SHORT_CALL {
            return;
        }
        while self.sent.len() + next.len() < PIPELINE_DEPTH && self.queue.needs_workers() {
            let Some(job) = self.queue.pop_up_to(PIPELINED_FRAME) else { return };
            next.push_back(job);
        }
    }

    /// Returns jobs that were sent but not started. A started job cannot be retried: it may have had effects.
    fn return_jobs(&mut self) {
        while let Some(job) = self.sent.pop_back() {
            if self.progress.elapsed(job.number).is_some() {
                job.fail(HostError::Protocol("the worker ended as it started this call".to_owned()));
            } else {
                self.queue.retry(job);
            }
        }
    }

    async fn run(&mut self, mut job: Job) -> Reuse {
        let mut clock = CallClock::new(job.limit, Instant::now());
        match self.wait_for_reply(&mut job, &mut clock).await {
            JobEvent::Replied(body) => return self.finish_replied(job, &body).await,
            JobEvent::DeadlinePassed => self.finish_late(job, &clock).await,
            JobEvent::Exited => self.finish_crashed(job).await,
            JobEvent::Cancelled => self.kill().await,
        }
        Reuse::Replace
    }

    async fn wait_for_reply(&mut self, job: &mut Job, clock: &mut CallClock) -> JobEvent {
        let mut check_at = clock.first_check();
        loop {
            tokio::select! {
                biased;
                frame = self.pipes.receiver.next() => return match frame {
                    Ok(Some(body)) => JobEvent::Replied(body),
                    _ => JobEvent::Exited,
                },
                () = self.process.ended() => return JobEvent::Exited,
                () = job.reply.closed() => return JobEvent::Cancelled,
                () = sleep_until(check_at.into()) => match self.check(job, clock) {
                    Some(next) => check_at = next,
                    None => return JobEvent::DeadlinePassed,
                },
                never = self.pipes.output.forward() => match never {},
            }
        }
    }

    /// Looks at a call that is not done, and says when to look again.
    fn check(&self, job: &Job, clock: &mut CallClock) -> Option<Instant> {
        if !clock.has_started() {
            let behind: usize = self.sent.iter().map(|job| job.frame.len()).sum();
            let is_read = self.pipes.unread_bytes().is_some_and(|unread| unread <= behind as u64);
            clock.observe(Instant::now(), Observation { reported: self.progress.elapsed(job.number), is_read });
        }
        if !clock.has_started() && cannot_run(self.process.pid()) {
            // It ends, and the job is retried.
            self.process.kill();
        }
        clock.next_check(Instant::now())
    }

    async fn finish_replied(&mut self, job: Job, body: &[u8]) -> Reuse {
        self.pipes.output.flush();
        let reply: WorkerReply = match serde_json::from_slice(body) {
            Ok(reply) => reply,
            Err(error) => {
                job.fail(HostError::Protocol(format!("a worker's reply: {error}")));
                return Reuse::Replace;
            }
        };
        if reply.number != job.number {
            job.fail(HostError::Protocol("a worker replied to another request".to_owned()));
            return Reuse::Replace;
        }
        let reuse = self.reuse_after(&reply);
        if reuse == Reuse::Replace {
            self.kill().await;
        }
        let took = Duration::from_micros(reply.took);
        self.average = (self.average * 3 + took) / 4;
        job.finish(Ok(reply), took);
        reuse
    }

    fn reuse_after(&self, reply: &WorkerReply) -> Reuse {
        let closed = || self.pipes.output.is_closed().then_some("a stream was closed");
        let Some(reason) = reply.exit_reason.as_deref().or_else(closed) else { return Reuse::Keep };
        tracing::debug!(character = self.character, reason, "replacing a worker after its call");
        Reuse::Replace
    }

    /// Kills the worker. A reply sent before it died still counts: the job was done.
    async fn finish_late(&mut self, job: Job, clock: &CallClock) {
        let took = clock.elapsed(Instant::now());
        self.kill().await;
        if let Some(body) = self.pipes.receiver.try_next() {
            self.finish_replied(job, &body).await;
        } else {
            let limit = job.limit;
            job.finish(Err(ToolError::TimedOut { limit }.into()), took);
        }
    }

    async fn finish_crashed(&mut self, job: Job) {
        let still_runs = timeout(EXIT_TIMEOUT, self.process.ended()).await.is_err();
        let took = self.progress.elapsed(job.number);
        self.kill().await;
        let Some(took) = took else { return self.queue.retry(job) };
        let how = if still_runs { "closed its channel".to_owned() } else { self.exit_report.describe().await };
        let stderr_tail = self.pipes.output.stderr_tail();
        job.finish(Err(ToolError::Crashed { how, stderr_tail }.into()), took);
    }

    /// Kills the worker and waits until it and all that it started have ended, so that it has no effects after the job
    /// is reported as stopped.
    async fn kill(&mut self) {
        self.process.kill();
        if timeout(EXIT_TIMEOUT, self.process.ended()).await.is_err() {
            tracing::error!(pid = self.process.pid(), "a killed worker does not end");
        }
        let reported = tokio::select! {
            reported = self.exit_report.wait(CLEANUP_TIMEOUT) => reported,
            () = self.zygote.hangs() => false,
        };
        if !reported {
            self.zygote.kill();
        }
        self.pipes.output.flush();
    }
}
