//! The connections and the work that waits for them: whatever is free first takes the oldest piece of work. While work waits, more
//! connections are opened, up to the number that is set; where none can be had, work waits for those that are open.
//!
//! A pool on a thread that serves has another one behind it. Work goes there as long as there is no connection here, so that nobody waits for
//! the first one to be opened, and when it has waited here for a while, since those that are here may hang.
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
use super::super::queue::{Elsewhere, Jobs};
use super::super::statement::Job;
use super::access::Access;
use super::line::Line;
use super::worker::{Done, serve_job, too_slow};

/// When a connection could not be opened, and others are at work, none is tried for so long.
const PAUSE: Duration = Duration::from_secs(1);

/// Where there is another pool, work waits so long here.
const WAIT: Duration = Duration::from_millis(50);

/// Connections that do nothing, and work that nobody does yet.
struct Pool<'a> {
    access: &'a Access,
    settings: &'a StoreSettings,
    health: &'a Health,
    /// The connection used last is used first, so that no more are opened than are needed at once.
    idle: Vec<Line>,
    waiting: VecDeque<Job>,
    /// The pool behind this one.
    elsewhere: Option<Elsewhere>,
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
    elsewhere: Option<Elsewhere>,
) {
    let (idle, waiting) = (Vec::new(), VecDeque::new());
    let mut pool = Pool { access, settings, health, idle, waiting, elsewhere, refused_until: None, end: None };
    let (mut busy, mut opening) = (FuturesUnordered::new(), FuturesUnordered::new());
    if settings.serving_threads > 0 && pool.elsewhere.is_none() {
        opening.push(Line::open(access));
    }
    loop {
        while let Some((line, job)) = pool.next() {
            busy.push(serve_job(access, settings.patience, line, job));
        }
        while pool.needs_one_more(busy.len(), opening.len()) {
            opening.push(Line::open(access));
        }
        pool.tell(busy.len());
        if busy.is_empty() || pool.end.is_some() {
            pool.pass_on(Instant::now());
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
            if let Some(line) = self.idle.pop()?.if_open(&self.access.news) {
                return self.waiting.pop_front().map(|job| (line, job));
            }
        }
        None
    }

    fn needs_one_more(&self, busy: usize, opening: usize) -> bool {
        let can_wait = busy > 0 || self.elsewhere.is_some();
        let is_refused = can_wait && self.refused_until.is_some_and(|until| Instant::now() < until);
        let is_free = self.elsewhere.is_none() || self.access.news.is_reached();
        opening < self.waiting.len() && busy + opening < self.settings.connections.max(1) && is_free && !is_refused
    }

    /// Tells the others whether this pool, if it is the one behind them, has a connection.
    fn tell(&self, busy: usize) {
        if self.elsewhere.is_none() {
            self.access.news.set_reached(busy > 0 || !self.idle.is_empty());
        }
    }

    /// Leaves work that was left before this time to the pool behind this one.
    fn pass_on(&mut self, before: Instant) {
        let Some(elsewhere) = &self.elsewhere else { return };
        for job in left_before(&mut self.waiting, before) {
            elsewhere.take(job);
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
        done.line.tell(&self.access.news);
        self.idle.extend(done.line.if_open(&self.access.news));
    }

    /// A connection, or a refusal. Where there is no other to wait for, nobody waits longer.
    fn add(&mut self, opened: Result<Line, StoreError>, is_last: bool) {
        let error = match opened {
            Ok(line) => return self.idle.push(line),
            Err(error) => error,
        };
        tracing::debug!(%error, "no more connections to the database can be had");
        self.refused_until = Some(Instant::now() + PAUSE);
        if is_last && self.idle.is_empty() {
            for job in self.waiting.drain(..) {
                self.health.answer(job, Err(error.clone()));
            }
        }
    }

    /// How long work waits here.
    fn patience(&self) -> Duration {
        if self.elsewhere.is_some() { WAIT } else { self.settings.patience }
    }

    fn next_deadline(&self) -> Instant {
        // What another pool has passed on was left before what stands before it.
        self.waiting.iter().map(|job| job.left).min().map_or_else(Instant::now, |left| left + self.patience())
    }

    /// Those that have waited too long.
    fn give_up(&mut self) {
        let Some(before) = Instant::now().checked_sub(self.patience()) else { return };
        self.pass_on(before);
        for job in left_before(&mut self.waiting, before) {
            self.health.answer(job, Err(too_slow(self.settings.patience)));
        }
    }
}

/// Takes out what was left by this time.
fn left_before(waiting: &mut VecDeque<Job>, time: Instant) -> VecDeque<Job> {
    let (early, late) = std::mem::take(waiting).into_iter().partition(|job| job.left <= time);
    *waiting = late;
    early
}
