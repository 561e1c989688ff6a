//! A supervised server as requests see it: they wait until it is ready, and report connections that failed.

use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};

use super::exit::ServerExit;
use super::launch::Launch;
use super::status::{Phase, RunningProcess, ServerStatus};
use crate::telemetry::metrics;
use crate::upstream::Failure;

/// A model server that Callboard starts, shared by the supervisor and all requests.
#[derive(Debug)]
pub struct SupervisedServer {
    pub(super) launch: Launch,
    status: watch::Sender<ServerStatus>,
    demand: Notify,
    doubt: Notify,
}

impl SupervisedServer {
    /// A server that is not started yet.
    pub fn new(launch: Launch) -> Self {
        let status = watch::Sender::new(ServerStatus::new(launch.on_demand));
        Self { launch, status, demand: Notify::new(), doubt: Notify::new() }
    }

    /// What it does now.
    pub fn status(&self) -> ServerStatus {
        self.status.borrow().clone()
    }

    /// Whether it runs and answers.
    pub fn is_ready(&self) -> bool {
        self.status.borrow().is_ready()
    }

    /// Whether the first request for it starts it, and none has come.
    pub fn waits_for_demand(&self) -> bool {
        matches!(self.status.borrow().phase, Phase::Unstarted(true))
    }

    /// Its base URL, once it is ready. Starts it if need be.
    pub(in crate::upstream) async fn ready_url(&self) -> Result<String, Failure> {
        self.demand.notify_one();
        let limit = self.launch.rules.start_limit;
        self.wait_until_settled(limit).await;
        let status = self.status.borrow();
        match &status.phase {
            Phase::Ready(process) => Ok(process.url.clone()),
            _ => Err(self.not_running(&status.reason())),
        }
    }

    /// Its base URL where it runs, ready or not.
    pub(in crate::upstream) fn running_url(&self) -> Result<String, Failure> {
        let status = self.status.borrow();
        let url = status.process().map(|process| process.url.clone());
        url.ok_or_else(|| self.not_running(&status.reason()))
    }

    /// Waits until it is ready, or cannot be ready soon.
    pub(in crate::upstream) async fn wait_until_settled(&self, limit: Duration) {
        let mut status = self.status.subscribe();
        let _ = tokio::time::timeout(limit, status.wait_for(ServerStatus::is_settled)).await;
    }

    fn not_running(&self, reason: &str) -> Failure {
        Failure::NotRunning { server: self.launch.name.clone(), reason: reason.to_owned() }
    }

    /// A connection to it failed: it counts as ready again once it has answered.
    pub(in crate::upstream) fn doubt(&self) {
        let is_new = self.status.send_if_modified(|status| {
            let Phase::Ready(process) = &status.phase else { return false };
            status.phase = Phase::Checking(process.clone());
            true
        });
        if is_new {
            self.doubt.notify_one();
        }
    }

    pub(super) async fn doubted(&self) {
        self.doubt.notified().await;
    }

    /// Waits for the first request, where that starts it.
    pub(super) async fn demanded(&self) {
        if self.waits_for_demand() {
            self.demand.notified().await;
            self.status.send_modify(|status| status.phase = Phase::Unstarted(false));
        }
    }

    pub(super) fn started(&self, process: RunningProcess) {
        tracing::info!(upstream = self.launch.name, pid = process.pid, url = process.url, "model server started");
        self.status.send_modify(|status| {
            status.phase = Phase::Starting(process);
            status.ready_since = None;
        });
    }

    /// It has answered.
    pub(super) fn answered(&self) {
        let mut first = None;
        self.status.send_modify(|status| {
            if let Phase::Starting(process) | Phase::Checking(process) = &status.phase {
                first = status.ready_since.is_none().then(|| process.since.elapsed());
                status.phase = Phase::Ready(process.clone());
            }
            status.ready_since.get_or_insert_with(Instant::now);
            status.failed_starts = 0;
        });
        if let Some(took) = first {
            tracing::info!(upstream = self.launch.name, ms = took.as_millis(), "model server is ready");
        }
    }

    /// How long it has been ready; none if it never was since its start.
    pub(super) fn ready_for(&self) -> Option<Duration> {
        self.status.borrow().ready_since.map(|since| since.elapsed())
    }

    /// It has ended, and is started again after this time.
    pub(super) fn ended(&self, exit: ServerExit, wait: Duration) {
        let (upstream, seconds) = (&self.launch.name, wait.as_secs_f64());
        // Later lines may quote users.
        let words = if exit.ready_for.is_none() { exit.with_last_line() } else { exit.words.clone() };
        tracing::warn!(upstream, restart_in_seconds = seconds, "model server {words}");
        metrics::upstream_restart(upstream);
        self.status.send_modify(|status| {
            status.failed_starts = if exit.ready_for.is_some() { 0 } else { status.failed_starts.saturating_add(1) };
            status.restarts += 1;
            status.last_exit = Some(exit);
            status.phase = Phase::Restarting(Instant::now() + wait);
        });
    }

    pub(super) fn stopped(&self) {
        self.status.send_modify(|status| status.phase = Phase::Stopped);
    }
}
