//! A worker: a process that performs one job at a time, and is killed where a job runs past its deadline, or where
//! nobody waits for the answer any more.
//!
//! What a job's outcome is, is decided here: an answer that was sent counts, also when the worker was killed a moment
//! later; a job that a worker never began goes back to the queue.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::{sleep_until, timeout};

use super::dresser::meet;
use super::job::Job;
use super::obituaries::Obituary;
use super::process::Process;
use super::protocol::Reply;
use super::queue::{Hand, Queue, Starting};
use super::relay::Relay;
use super::slip::Slip;
use super::stage::{Lines, Stage};
use super::transport::{Receiver, Sender};
use crate::fault::{Failure, StageFailure, ToolFault};

/// How long the end of a process is waited for, once it was killed or has closed its channel.
const END: Duration = Duration::from_secs(1);

/// How long a worker may leave an order lying before it begins it, on top of the order's own limit.
const BEGIN: Duration = Duration::from_secs(10);

/// How often a worker that has not begun is looked after again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Jobs that a worker may have been sent at the same time, where its calls are short.
const SENT_AT_ONCE: usize = 4;

/// Bytes of an order that fit into a socket together with others, so that sending it cannot get stuck.
const SMALL: usize = 16 << 10;

/// Which calls are short: those behind which another may wait unnoticed.
const SHORT: Duration = Duration::from_millis(1);

/// What a worker is started with.
pub(crate) struct WorkerSetup {
    pub(crate) stage: Rc<Stage>,
    pub(crate) id: String,
    pub(crate) forker: Sender,
    pub(crate) queue: Rc<Queue>,
    pub(crate) starting: Starting,
    pub(crate) departures: mpsc::UnboundedSender<Departure>,
}

/// Why a worker is gone.
pub(crate) enum Departure {
    /// Its place was needed.
    Dismissed,
    /// It was killed, crashed, or could not go on.
    Lost,
    /// It was never there.
    NeverStarted(StageFailure),
}

struct Worker {
    process: Process,
    obituary: Obituary,
    sender: Sender,
    receiver: Receiver,
    relay: Relay,
    slip: Slip,
    /// Jobs it was sent and has not answered. It performs them one after another.
    sent: VecDeque<Job>,
    /// How long its calls take, averaged over the last few.
    pace: Duration,
}

/// What happened to a job that was sent to a worker.
enum Event {
    Answered(Vec<u8>),
    /// The channel was closed, or cannot be read any more.
    Closed,
    Ended,
    Late,
    Abandoned,
}

/// Whether a worker can take another job.
#[derive(PartialEq, Eq)]
enum Next {
    Stay,
    Go,
}

/// The life of a worker, from waiting for a place to its end.
pub(crate) async fn live(setup: WorkerSetup) {
    let WorkerSetup { stage, id, forker, queue, starting, departures } = setup;
    let place = stage.place().await;
    let departure = match Worker::start(&stage, &id, &forker).await {
        Ok(worker) => {
            drop(starting);
            worker.serve(&queue, &stage, &id).await
        }
        Err(failure) => Departure::NeverStarted(failure),
    };
    drop(place);
    // The member may have gone away; then nobody needs another worker.
    let _ = departures.send(departure);
}

impl Worker {
    async fn start(stage: &Stage, id: &str, forker: &Sender) -> Result<Self, StageFailure> {
        let slip = Slip::new().map_err(|error| StageFailure::NotStarted(error.to_string()))?;
        let mut lines = stage.fork(forker, id, Some(&slip)).await?;
        let process = meet(&mut lines).await?;
        let obituary = stage.obituaries.expect(process.pid());
        let Lines { sender, receiver, relay } = lines;
        Ok(Self { process, obituary, sender, receiver, relay, slip, sent: VecDeque::new(), pace: SHORT })
    }

    async fn serve(mut self, queue: &Queue, stage: &Stage, id: &str) -> Departure {
        let departure = loop {
            if self.sent.is_empty() {
                match self.next_job(queue, stage).await {
                    Ok(job) => self.send(job).await,
                    Err(departure) => break departure,
                }
            }
            self.look_ahead(queue).await;
            let Some(mut job) = self.sent.pop_front() else { continue };
            self.relay.open_account();
            let event = self.follow(&mut job).await;
            if self.settle(job, event, queue, id).await == Next::Go {
                break Departure::Lost;
            }
        };
        self.return_jobs(queue);
        departure
    }

    async fn next_job(&mut self, queue: &Queue, stage: &Stage) -> Result<Job, Departure> {
        match queue.take() {
            Some(job) => Ok(job),
            None if stage.wants_place() => Err(Departure::Dismissed),
            None => self.wait(queue).await,
        }
    }

    /// Waits for a job. A worker has nothing to say meanwhile, so whatever it does instead is its end.
    async fn wait(&mut self, queue: &Queue) -> Result<Job, Departure> {
        let mut hand = queue.wait();
        tokio::select! {
            biased;
            handed = &mut hand => return match handed {
                Ok(Hand::Job(job)) => Ok(job),
                Ok(Hand::Leave) | Err(_) => Err(Departure::Dismissed),
            },
            _ = self.receiver.next() => {}
            () = self.process.ended() => {}
            () = self.relay.run() => {}
        }
        hand.close();
        if let Ok(Hand::Job(job)) = hand.try_recv() {
            queue.return_job(job);
        }
        Err(Departure::Lost)
    }

    /// Sends a job. A worker that does not take it is ended, which is seen when its answer is waited for.
    async fn send(&mut self, job: Job) {
        if !matches!(timeout(BEGIN, self.sender.send(&job.frame)).await, Ok(Ok(()))) {
            self.process.kill();
        }
        self.sent.push_back(job);
    }

    /// Where all workers are busy and calls are short, the next jobs are sent before the last is answered: then a
    /// worker need not sleep and be woken in between.
    async fn look_ahead(&mut self, queue: &Queue) {
        // Jobs that a starting worker will take are left to it: calls of one reply shall run at the same time.
        while self.sent.len() < SENT_AT_ONCE && self.pace < SHORT && queue.lacks_workers() {
            let Some(job) = queue.take_small(SMALL) else { return };
            self.send(job).await;
        }
    }

    /// Jobs that were sent but not begun go back; one that was begun cannot be tried again.
    fn return_jobs(&mut self, queue: &Queue) {
        while let Some(job) = self.sent.pop_back() {
            if self.slip.age_of(job.number).is_some() {
                job.fail(StageFailure::Protocol("a worker was ended just as it had begun this".to_owned()));
            } else {
                queue.return_job(job);
            }
        }
    }

    async fn settle(&mut self, job: Job, event: Event, queue: &Queue, id: &str) -> Next {
        match event {
            Event::Answered(body) => self.answer(job, &body, id),
            Event::Late => self.end_late(job, id).await,
            Event::Closed | Event::Ended => self.end_crashed(job, queue).await,
            Event::Abandoned => {
                self.end().await;
                Next::Go
            }
        }
    }

    /// Follows a job until it is answered or cannot be any more.
    async fn follow(&mut self, job: &mut Job) -> Event {
        let sent = Instant::now();
        let mut look_at = sent + job.limit;
        loop {
            tokio::select! {
                biased;
                frame = self.receiver.next() => return match frame {
                    Ok(Some(body)) => Event::Answered(body),
                    _ => Event::Closed,
                },
                () = self.process.ended() => return Event::Ended,
                () = job.answer.closed() => return Event::Abandoned,
                () = sleep_until(look_at.into()) => match self.time_left(job, sent) {
                    Some(left) => look_at = Instant::now() + left,
                    None => return Event::Late,
                },
                () = self.relay.run() => {}
            }
        }
    }

    /// How long a job may still take, counted from when it was begun.
    fn time_left(&self, job: &Job, sent: Instant) -> Option<Duration> {
        let left = match self.slip.age_of(job.number) {
            Some(age) => job.limit.checked_sub(age),
            None => (job.limit + BEGIN).checked_sub(sent.elapsed()).map(|left| left.min(LOOK_AGAIN)),
        };
        left.filter(|left| !left.is_zero())
    }

    fn answer(&mut self, job: Job, body: &[u8], id: &str) -> Next {
        self.relay.close_account();
        let reply: Reply = match serde_json::from_slice(body) {
            Ok(reply) => reply,
            Err(error) => {
                job.fail(StageFailure::Protocol(format!("a worker's reply: {error}")));
                return Next::Go;
            }
        };
        if reply.number != job.number {
            job.fail(StageFailure::Protocol("a worker answered another order".to_owned()));
            return Next::Go;
        }
        let left = reply.leaving.as_deref().or(self.relay.is_closed().then_some("a stream was closed"));
        if let Some(why) = left {
            tracing::debug!(character = id, why, "a worker is replaced after its call");
        }
        let next = if left.is_some() { Next::Go } else { Next::Stay };
        let took = Duration::from_micros(reply.took);
        self.pace = (self.pace * 3 + took) / 4;
        job.finish(Ok(reply), took);
        next
    }

    /// Kills it. What it sent before it died still counts: then the job was done.
    async fn end_late(&mut self, job: Job, id: &str) -> Next {
        let took = self.slip.age_of(job.number).unwrap_or_default();
        self.end().await;
        if let Some(body) = self.receiver.next_now() {
            self.answer(job, &body, id);
        } else {
            let limit = job.limit;
            job.finish(Err(Failure::Fault(ToolFault::TimedOut { limit })), took);
        }
        Next::Go
    }

    async fn end_crashed(&mut self, job: Job, queue: &Queue) -> Next {
        let closed_only = timeout(END, self.process.ended()).await.is_err();
        self.process.kill();
        let Some(took) = self.slip.age_of(job.number) else {
            queue.return_job(job);
            return Next::Go;
        };
        let how = if closed_only { "closed its channel".to_owned() } else { self.obituary.words().await };
        self.relay.close_account();
        job.finish(Err(Failure::Fault(ToolFault::Crashed { how, stderr_tail: self.relay.tail() })), took);
        Next::Go
    }

    /// Kills it and waits for its end, so that nothing it does comes after our word that it was stopped.
    async fn end(&self) {
        self.process.kill();
        if timeout(END, self.process.ended()).await.is_err() {
            tracing::error!(pid = self.process.pid(), "a worker that was killed does not end");
        }
        self.relay.close_account();
    }
}
