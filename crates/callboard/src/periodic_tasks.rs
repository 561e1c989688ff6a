//! Background work of the program: each function runs until it is dropped. `server` owns them.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::characters::reload_on_change;
use crate::clock;
use crate::config::KeepSettings;
use crate::server_findings;
use crate::services::Services;
use crate::store::{Pruned, Retention};
use crate::trace::otlp;

const PROBE_EVERY: Duration = Duration::from_secs(2);
const PRUNE_EVERY: Duration = Duration::from_secs(10 * 60);
const FLUSH_EVERY: Duration = Duration::from_millis(200);
const SAVE_FINDINGS_EVERY: Duration = Duration::from_secs(1);
const UPDATE_IDENTITIES_EVERY: Duration = Duration::from_secs(60);
const LAST_FLUSH: Duration = Duration::from_secs(3);
const LAST_EXPORT: Duration = Duration::from_secs(3);

/// Runs all of it until the program ends.
pub(crate) async fn run(services: &Services) {
    tokio::join!(
        watch_characters(services),
        probe_servers(services),
        prune_store(services),
        flush_traces(services),
        save_findings(services),
        run_probes(services),
        update_identities(services),
        export_traces(services),
    );
}

/// Probes the model servers that failed.
async fn probe_servers(services: &Services) {
    let (client, mut ticks) = (services.client(), tokio::time::interval(PROBE_EVERY));
    loop {
        ticks.tick().await;
        services.upstreams.probe(&client).await;
    }
}

/// Deletes what is past its retention.
async fn prune_store(services: &Services) {
    let (retention, mut ticks) = (retention(&services.settings.keep), tokio::time::interval(PRUNE_EVERY));
    loop {
        ticks.tick().await;
        server_findings::expire(&services.upstreams, services.settings.keep.finding_days);
        match services.store.prune(&retention, clock::milliseconds()).await {
            Ok(pruned) if pruned == Pruned::default() => {}
            Ok(pruned) => tracing::info!(?pruned, "deleted what was past its retention"),
            Err(error) => tracing::error!(%error, "cannot delete what is past its retention"),
        }
    }
}

/// Stores traces in batches.
async fn flush_traces(services: &Services) {
    let mut ticks = tokio::time::interval(FLUSH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = services.traces.batch_full() => {}
        }
        services.traces.flush().await;
    }
}

/// Probes model servers for what they ignore.
async fn run_probes(services: &Services) {
    services.upstreams.run_probes(&services.client().for_probes()).await;
    std::future::pending::<()>().await;
}

/// Notices when a model server was updated.
async fn update_identities(services: &Services) {
    let (client, mut ticks) = (services.client().for_probes(), tokio::time::interval(UPDATE_IDENTITIES_EVERY));
    // The first tick comes at once, and the start has just asked them.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        services.upstreams.update_identities(&client).await;
    }
}

/// Stores what was found out about model servers.
async fn save_findings(services: &Services) {
    let mut ticks = tokio::time::interval(SAVE_FINDINGS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        server_findings::save(&services.upstreams, &services.store).await;
    }
}

/// Exports traces to a collector, where there is one.
async fn export_traces(services: &Services) {
    match services.traces.outbox() {
        Some(outbox) => otlp::export(outbox, &services.client()).await,
        None => std::future::pending().await,
    }
}

/// Stores what was found out last, and the traces of the last turns, which are also exported. A store that does not answer does not
/// delay the exit for long.
pub(crate) async fn flush_last_records(services: &Services) {
    let flushed = async {
        server_findings::save(&services.upstreams, &services.store).await;
        services.traces.flush().await;
    };
    if tokio::time::timeout(LAST_FLUSH, flushed).await.is_err() {
        tracing::error!("the store does not answer: the traces of the last turns were not stored");
    }
    if let Some(outbox) = services.traces.outbox() {
        otlp::export_rest(outbox, &services.client(), LAST_EXPORT).await;
    }
}

/// Reloads changed characters.
async fn watch_characters(services: &Services) {
    reload_on_change(Arc::clone(&services.characters)).await;
    std::future::pending::<()>().await;
}

/// How long things are kept.
fn retention(keep: &KeepSettings) -> Retention {
    // Zero days is for ever.
    let days = |days: usize| u32::try_from(days).ok().filter(|days| *days > 0);
    Retention {
        conversations: days(keep.conversation_days),
        responses: days(keep.response_days),
        snapshots: days(keep.history_days),
        traces: days(keep.trace_days),
        findings: days(keep.finding_days),
    }
}
