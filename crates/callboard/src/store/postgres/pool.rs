//! A pool of connections and the jobs that wait for them: a free connection takes the oldest job. While jobs wait, more connections
//! are opened, up to the configured number; if no more can be opened, jobs wait for those that are open.
//!
//! The pool of a serving thread hands jobs to the shared pool while it has no connection, so that no request waits for the first one to
//! be opened, and when they have waited for a while, since its own connections may hang.
//!
//! Deadlines count from when a job was queued, so the number of waiting jobs does not extend them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use super::super::error::StoreError;
use super::super::handle::StoreSettings;
use super::super::queue::{Jobs, SharedQueue};
use super::super::statement::Job;
use super::super::write_health::WriteHealth;
use super::connection::Connection;
use super::shared_server_state::Server;
use super::worker::{DoneJob, serve_job, too_slow};

/// The pause after a refused connection, while other connections are open.
const REFUSED_PAUSE: Duration = Duration::from_secs(1);

/// How long a job waits in the pool of a thread before it is handed to the shared pool.
const OWN_WAIT: Duration = Duration::from_millis(50);

/// What a serving thread needs to run connections of its own.
pub(crate) struct ThreadPool {
    pub(crate) server: Arc<Server>,
    pub(crate) settings: StoreSettings,
    pub(crate) health: WriteHealth,
    pub(crate) jobs: Jobs,
    pub(crate) shared: SharedQueue,
}

/// Idle connections and waiting jobs.
struct ConnectionPool<'a> {
    server: &'a Server,
    settings: &'a StoreSettings,
    health: &'a WriteHealth,
    /// The connection used last is used first, so that no more are opened than are needed at once.
    idle: Vec<Connection>,
    waiting: VecDeque<Job>,
    /// The queue of the shared pool; none in the shared pool.
    shared: Option<SharedQueue>,
    refused_until: Option<Instant>,
    /// The deadline of a closed pool; none while it is open.
    end: Option<Instant>,
}

/// Runs the shared pool until the queue is closed and empty, or the deadline after closing has passed.
pub(super) async fn serve_shared(server: &Server, settings: &StoreSettings, health: &WriteHealth, jobs: Jobs) {
    ConnectionPool::new(server, settings, health, None).run(jobs, std::future::pending()).await;
}

/// Runs the pool of a serving thread until it is closed and its jobs are done.
pub(crate) async fn serve_thread(pool: ThreadPool, closed: impl Future<Output = ()>) {
    let ThreadPool { server, settings, health, jobs, shared } = pool;
    ConnectionPool::new(&server, &settings, &health, Some(shared)).run(jobs, closed).await;
}

impl<'a> ConnectionPool<'a> {
    fn new(
        server: &'a Server,
        settings: &'a StoreSettings,
        health: &'a WriteHealth,
        shared: Option<SharedQueue>,
    ) -> Self {
        let (idle, waiting) = (Vec::new(), VecDeque::new());
        Self { server, settings, health, idle, waiting, shared, refused_until: None, end: None }
    }

    async fn run(mut self, mut jobs: Jobs, closed: impl Future<Output = ()>) {
        let (mut busy, mut opening) = (FuturesUnordered::new(), FuturesUnordered::new());
        let (mut closed, mut is_closed) = (std::pin::pin!(closed), false);
        if self.settings.serving_threads > 0 && self.shared.is_none() {
            opening.push(Connection::open(self.server));
        }
        loop {
            while let Some((connection, job)) = self.next() {
                busy.push(serve_job(self.server, self.settings.job_timeout, connection, job));
            }
            while self.needs_one_more(busy.len(), opening.len()) {
                opening.push(Connection::open(self.server));
            }
            self.hand_over_or_report(busy.len());
            if self.end.is_some() && busy.is_empty() && self.waiting.is_empty() {
                return;
            }
            tokio::select! {
                () = closed.as_mut(), if !is_closed => {
                    is_closed = true;
                    jobs.close();
                }
                job = jobs.recv(), if self.end.is_none() => self.take(job),
                Some(done) = busy.next() => self.take_back(done),
                Some(opened) = opening.next() => self.add(opened, busy.is_empty() && opening.is_empty()),
                () = sleep_until(self.next_deadline()), if !self.waiting.is_empty() => self.give_up(),
                () = sleep_until(self.end.unwrap_or_else(Instant::now)), if self.end.is_some() => {
                    let left_over = busy.len() + self.waiting.len();
                    return tracing::error!(left_over, "the database does not answer: changes may not have been stored");
                }
            }
        }
    }

    /// A job and a connection for it.
    fn next(&mut self) -> Option<(Connection, Job)> {
        while !self.waiting.is_empty() {
            if let Some(connection) = self.idle.pop()?.if_usable(self.server) {
                return self.waiting.pop_front().map(|job| (connection, job));
            }
        }
        None
    }

    fn needs_one_more(&self, busy: usize, opening: usize) -> bool {
        let can_wait = busy > 0 || self.shared.is_some();
        let is_refused = can_wait && self.refused_until.is_some_and(|until| Instant::now() < until);
        let may_open = self.shared.is_none() || self.server.shared_pool_is_connected();
        opening < self.waiting.len() && busy + opening < self.settings.connections.max(1) && may_open && !is_refused
    }

    /// The shared pool reports whether it has a connection. The pool of a thread hands its jobs over while it has none, and at its end.
    fn hand_over_or_report(&mut self, busy: usize) {
        if self.shared.is_none() {
            self.server.set_shared_pool_connected(busy > 0 || !self.idle.is_empty());
        } else if busy == 0 || self.end.is_some() {
            self.hand_over(Instant::now());
        }
    }

    /// Hands jobs that were queued before this time to the shared pool.
    fn hand_over(&mut self, before: Instant) {
        let Some(shared) = self.shared.as_ref().map(SharedQueue::upgrade) else { return };
        for job in queued_before(&mut self.waiting, before) {
            // When the shared pool is gone the reply is dropped with the job, which the receiver sees.
            let _ = shared.as_ref().map(|shared| shared.send(job));
        }
    }

    /// A new job; none when no more will come.
    fn take(&mut self, job: Option<Job>) {
        match job {
            Some(job) => self.waiting.push_back(job),
            None => self.end = Some(Instant::now() + self.settings.job_timeout / 6),
        }
    }

    fn take_back(&mut self, done: DoneJob) {
        self.health.answer(done.job, done.answer);
        self.idle.extend(done.connection.if_usable(self.server));
    }

    /// A connection, or a refusal. Where there is no other connection to wait for, jobs fail at once.
    fn add(&mut self, opened: Result<Connection, StoreError>, is_last: bool) {
        let error = match opened {
            Ok(connection) => return self.idle.push(connection),
            Err(error) => error,
        };
        tracing::debug!(%error, "no more connections to the database can be opened");
        self.refused_until = Some(Instant::now() + REFUSED_PAUSE);
        if is_last && self.idle.is_empty() {
            for job in self.waiting.drain(..) {
                self.health.answer(job, Err(error.clone()));
            }
        }
    }

    /// How long jobs wait here.
    fn longest_wait(&self) -> Duration {
        if self.shared.is_some() { OWN_WAIT } else { self.settings.job_timeout }
    }

    fn next_deadline(&self) -> Instant {
        // A job that another pool handed over is older than its place in the queue says.
        let oldest = self.waiting.iter().map(|job| job.queued_at).min();
        oldest.map_or_else(Instant::now, |oldest| oldest + self.longest_wait())
    }

    /// Hands over or fails jobs that have waited too long.
    fn give_up(&mut self) {
        let Some(before) = Instant::now().checked_sub(self.longest_wait()) else { return };
        self.hand_over(before);
        for job in queued_before(&mut self.waiting, before) {
            self.health.answer(job, Err(too_slow(self.settings.job_timeout)));
        }
    }
}

/// Removes the jobs that were queued by this time.
fn queued_before(waiting: &mut VecDeque<Job>, time: Instant) -> VecDeque<Job> {
    let (early, late) = std::mem::take(waiting).into_iter().partition(|job| job.queued_at <= time);
    *waiting = late;
    early
}
