//! What was found out about model servers, between the servers' profiles and the store: loaded at start, saved as it is found.
//!
//! A store that does not answer costs only what would have been known: it is found out again.

use std::sync::Arc;

use callboard_core::wire::chat::adapt::Finding;

use crate::clock;
use crate::store::{FindingChange, ServerFinding, Store};
use crate::telemetry::log_throttle::LogThrottle;
use crate::upstream::{DatedFinding, ProfileChange, Upstream, Upstreams};

const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// Takes over what the store has kept for at most so many days (0 is forever).
pub async fn load(upstreams: &Upstreams, store: &Store, days: usize) {
    let found = match store.server_findings().await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "what is known of the model servers cannot be loaded; it is found out again");
            return;
        }
    };
    let oldest = oldest(days);
    for kept in found.into_iter().filter(|kept| kept.found_at >= oldest) {
        let ServerFinding { upstream: url, model, kind, name, value, found_at, version } = kept;
        // One of a server that is not configured, or written by another version of Callboard, is left alone.
        let Some(finding) = Finding::read(&kind, &name, &value) else { continue };
        let known = DatedFinding { model, finding, found_at, version };
        let servers = upstreams.list().iter().filter(|upstream| upstream.local.is_none() && upstream.url == url);
        servers.for_each(|server| server.profiles.restore(known.clone()));
    }
}

/// Stores what has changed since the last time. What cannot be stored is tried again the next time.
pub async fn save(upstreams: &Upstreams, store: &Store) {
    static LOGGED: LogThrottle = LogThrottle::new();
    for upstream in upstreams.list().iter().filter(|upstream| upstream.local.is_none()) {
        let changes = upstream.profiles.take_changes();
        if changes.is_empty() {
            continue;
        }
        let rows: Vec<FindingChange> = changes.iter().map(|change| row(upstream, change)).collect();
        if let Err(error) = store.change_server_findings(&rows).await {
            upstream.profiles.return_changes(changes);
            if LOGGED.is_due("") {
                tracing::warn!(%error, "what was found out about the model servers cannot be stored; trying again");
            }
        }
    }
}

/// Forgets what was found more than so many days ago (0 is never), so that it is found out again.
pub fn expire(upstreams: &Upstreams, days: usize) {
    let servers = upstreams.list().iter().filter(|upstream| upstream.local.is_none());
    servers.for_each(|upstream| upstream.profiles.expire(oldest(days)));
}

fn oldest(days: usize) -> i64 {
    match i64::try_from(days) {
        Ok(days @ 1..) => clock::milliseconds().saturating_sub(days.saturating_mul(MILLIS_PER_DAY)),
        _ => i64::MIN,
    }
}

fn row(upstream: &Arc<Upstream>, change: &ProfileChange) -> FindingChange {
    let upstream = upstream.url.clone();
    match change {
        ProfileChange::Found(DatedFinding { model, finding, found_at, version }) => {
            FindingChange::Found(ServerFinding {
                upstream,
                model: model.clone(),
                kind: finding.kind().to_owned(),
                name: finding.name(),
                value: finding.value().to_owned(),
                found_at: *found_at,
                version: version.clone(),
            })
        }
        ProfileChange::Forgotten(model) => FindingChange::Forgotten { upstream, model: model.clone() },
    }
}
