//! A server that Callboard starts, as one of the configured servers: where it is, whether it runs, and when waiting for it helps.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use super::handle::SupervisedServer;
use super::launch::Launch;
use crate::upstream::upstreams::entry;
use crate::upstream::{Client, Failure, ServerState, Upstream, Upstreams};

/// The wait before a request is sent again to a server that may have ended; the rest of the time it waits until it is ready.
const RETRY_AFTER: Duration = Duration::from_millis(50);

impl Upstream {
    /// A server that Callboard starts.
    pub fn started_by(launch: Launch) -> Self {
        let mut upstream = Self::new(launch.name.clone());
        upstream.supervised = Some(SupervisedServer::new(launch));
        upstream
    }

    /// Its base URL, once it is ready.
    pub(in crate::upstream) async fn ready_url(&self) -> Result<Cow<'_, str>, Failure> {
        match &self.supervised {
            // Boxed, because it would make the future of every request larger.
            Some(server) => Box::pin(server.ready_url()).await.map(Cow::Owned),
            None => Ok(Cow::Borrowed(&self.url)),
        }
    }

    /// Its base URL, ready or not.
    pub(in crate::upstream) fn running_url(&self) -> Result<Cow<'_, str>, Failure> {
        match &self.supervised {
            Some(server) => server.running_url().map(Cow::Owned),
            None => Ok(Cow::Borrowed(&self.url)),
        }
    }

    /// Whether it is ready; a server that Callboard does not start counts as such.
    pub(in crate::upstream) fn is_running(&self) -> bool {
        self.supervised.as_ref().is_none_or(SupervisedServer::is_ready)
    }

    /// Starts it, where Callboard does that, and waits until it is ready or will not be soon.
    pub(in crate::upstream) async fn start(&self) {
        if let Some(server) = &self.supervised {
            let _ = Box::pin(server.ready_url()).await;
        }
    }

    /// Waits until it is ready, unless the first request for it is to start it.
    pub(in crate::upstream) async fn wait_until_started(&self, limit: Duration) {
        if let Some(server) = self.supervised.as_ref().filter(|server| !server.waits_for_demand()) {
            server.wait_until_settled(limit).await;
        }
    }

    /// What it does, where it does not answer because it is not ready.
    pub(in crate::upstream) fn not_ready(&self) -> Option<ServerState> {
        let server = self.supervised.as_ref().filter(|server| !server.is_ready())?;
        Some(ServerState::NotReady(Box::new(server.status())))
    }

    /// The models that its settings name, while it does not run and cannot list them.
    pub(in crate::upstream) fn models_before_start(&self) -> Option<Vec<Value>> {
        let named = self.models.iter().filter(|model| !model.contains('*'));
        let entries: Vec<Value> = named.map(|model| entry(model)).collect();
        (!self.is_running() && !entries.is_empty()).then_some(entries)
    }

    /// How long to wait before a request that failed is sent to it again; none where that is pointless.
    pub fn retry_after(&self, failure: &Failure) -> Option<Duration> {
        failure.retry_after().or_else(|| self.restarts_after(failure).then_some(RETRY_AFTER))
    }

    /// Whether it is started again if this failure means that it has ended.
    pub fn restarts_after(&self, failure: &Failure) -> bool {
        self.supervised.is_some() && failure.is_lost_connection()
    }
}

impl Upstreams {
    /// Starts the servers that are not ready, in their order, until one is.
    pub(in crate::upstream) async fn start_first(&self) -> bool {
        for upstream in self.list().iter().filter(|upstream| !upstream.is_running()) {
            upstream.start().await;
            if upstream.is_running() {
                return true;
            }
        }
        false
    }

    /// Keeps all servers running that Callboard starts, until the program is to end; then ends them.
    pub async fn supervise(&self, client: &Client, stopped: &watch::Receiver<bool>) {
        let servers = self.list().iter().map(|upstream| super::supervise(upstream, client, stopped.clone()));
        futures_util::future::join_all(servers).await;
    }
}
