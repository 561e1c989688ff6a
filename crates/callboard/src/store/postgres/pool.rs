//! The connections and the work that waits for them: whatever is free first takes the oldest piece of work. While work waits, more
//! connections are opened, up to the number that is set; where none can be had, work waits for those that are open.
//!
//! A pool on a thread that serves has another one behind it: as long as it has no connection, work goes there, and nobody waits for the
//! first one to be opened.
//!
//! Time counts from when work was left, so that nobody waits longer because others wait too.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use super::super::error::StoreError;
use super::super::health::Health;
use super::super::ledger::StoreSettings;
use super::super::queue::{Door, Jobs};
use super::super::statement::Job;
use super::access::Access;
use super::line::Line;
use super::worker::{Done, serve_job, too_slow};

/// When a connection could not be opened, and others are at work, none is tried for so long.
const PAUSE: Duration = Duration::from_secs(1);

/// Connections that do nothing, and work that nobody does yet.
struct Pool<'a> {
    settings: &'a StoreSettings,
    health: &'a Health,
    /// The connection used last is used first, so that no more are opened than are needed at once.
    idle: Vec<Line>,
    waiting: VecDeque<Job>,
    /// Where work goes as long as there is no connection here.
    elsewhere: Option<Door>,
    refused_until: Option<Instant>,
    /// When the store ends, whatever is left over; none while it is open.
    end: Option<Instant>,
}

/// Works until the queue is closed and empty, or what is left over takes too long.
pub(crate) async fn serve_all(
    access: &Access,
    settings: &StoreSettings,
    health: &Health,
    mut jobs: Jobs,
    elsewhere: Option<Door>,
) {
    let (idle, waiting) = (Vec::new(), VecDeque::new());
    let mut pool = Pool { settings, health, idle, waiting, elsewhere, refused_until: None, end: None };
    let (mut busy, mut opening) = (FuturesUnordered::new(), FuturesUnordered::new());
    if pool.elsewhere.is_none() {
        // The last resort of all others has a connection before they take what the server allows.
        opening.push(Line::open(access));
    }
    loop {
        while let Some((line, job)) = pool.next() {
            busy.push(serve_job(access, settings.patience, line, job));
        }
        while pool.needs_one_more(busy.len(), opening.len()) {
            opening.push(Line::open(access));
        }
        if busy.is_empty() {
            pool.pass_on();
        }
        if pool.end.is_some() && busy.is_empty() && pool.waiting.is_empty() {
            return;
        }
        tokio::select! {
            job = jobs.recv(), if pool.end.is_none() => pool.take(job),
            Some(done) = busy.next() => pool.take_back(done),
            Some(opened) = opening.next() => pool.add(opened, busy.is_empty() && opening.is_empty()),
            () = sleep_until(pool.next_deadline()), if !pool.waiting.is_empty() => pool.give_up(),
            () = sleep_until(pool.end.unwrap_or_else(Instant::now)), if pool.end.is_some() => {
                let left_over = busy.len() + pool.waiting.len();
                return tracing::error!(left_over, "the database does not answer: changes may not have been stored");
            }
        }
    }
}

impl Pool<'_> {
    /// Work and a connection for it.
    fn next(&mut self) -> Option<(Line, Job)> {
        while !self.waiting.is_empty() {
            if let Some(line) = self.idle.pop()?.if_open() {
                return self.waiting.pop_front().map(|job| (line, job));
            }
        }
        None
    }

    fn needs_one_more(&self, busy: usize, opening: usize) -> bool {
        let can_wait = busy > 0 || self.elsewhere.is_some();
        let is_refused = can_wait && self.refused_until.is_some_and(|until| Instant::now() < until);
        opening < self.waiting.len() && busy + opening < self.settings.connections.max(1) && !is_refused
    }

    /// Leaves work to the pool behind this one.
    fn pass_on(&mut self) {
        let Some(elsewhere) = &self.elsewhere else { return };
        for job in self.waiting.drain(..) {
            // Where that one has ended the reply is dropped with the job, which whoever waits for it sees.
            let _ = elsewhere.send(job);
        }
    }

    /// New work; none when no more will come.
    fn take(&mut self, job: Option<Job>) {
        match job {
            Some(job) => self.waiting.push_back(job),
            None => self.end = Some(Instant::now() + self.settings.patience / 6),
        }
    }

    fn take_back(&mut self, done: Done) {
        self.health.answer(done.job, done.answer);
        if done.line.is_spoiled() {
            self.idle.clear();
        }
        self.idle.extend(done.line.if_open());
    }

    /// A connection, or a refusal. Where there is no other to wait for, nobody waits longer.
    fn add(&mut self, opened: Result<Line, StoreError>, is_last: bool) {
        match opened {
            Ok(line) => self.idle.push(line),
            Err(error) if is_last && self.idle.is_empty() => {
                for job in self.waiting.drain(..) {
                    self.health.answer(job, Err(error.clone()));
                }
            }
            Err(error) => {
                tracing::debug!(%error, "no more connections to the database can be had");
                self.refused_until = Some(Instant::now() + PAUSE);
            }
        }
    }

    fn next_deadline(&self) -> Instant {
        self.waiting.front().map_or_else(Instant::now, |job| job.left + self.settings.patience)
    }

    /// Those that have waited too long.
    fn give_up(&mut self) {
        let now = Instant::now();
        while let Some(job) = self.waiting.pop_front_if(|job| job.left + self.settings.patience <= now) {
            self.health.answer(job, Err(too_slow(self.settings.patience)));
        }
    }
}
