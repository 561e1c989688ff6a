//! Sends the traces in the outbox to the collector: a batch at a time, with a bounded number of retries.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::super::turn_metrics;
use super::outbox::ExportBatch;
use super::{Outbox, request};
use crate::telemetry::log_throttle::LogThrottle;
use crate::upstream::{Client, Failure};

const INTERVAL: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(10);
const TRIES: u32 = 3;

static FAILED: LogThrottle = LogThrottle::new();

/// Exports traces for as long as the program runs.
pub async fn export(outbox: &Outbox, client: &Client) {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        send_all(outbox, client, TRIES).await;
    }
}

/// Exports the remaining traces at the end of the program, trying once, within the given time.
pub async fn export_rest(outbox: &Outbox, client: &Client, within: Duration) {
    let _ = timeout(within, send_all(outbox, client, 1)).await;
}

async fn send_all(outbox: &Outbox, client: &Client, tries: u32) {
    while let Some(batch) = outbox.batch() {
        send(outbox, client, batch, tries).await;
    }
}

/// Sends a batch, and drops it after too many failures.
async fn send(outbox: &Outbox, client: &Client, batch: ExportBatch<'_>, tries: u32) {
    let body = request(&outbox.collector, &batch.traces).to_string().into_bytes();
    let mut tried = 0;
    loop {
        tried += 1;
        let Err(failure) = post(outbox, client, body.clone()).await else {
            batch.settle();
            return;
        };
        if tried >= tries || !is_temporary(&failure) {
            turn_metrics::traces_dropped("collector", batch.settle());
            if FAILED.is_due("failed") {
                let url = &outbox.collector.url;
                tracing::warn!(url, %failure, "the collector does not accept traces; they are dropped");
            }
            return;
        }
        sleep(INTERVAL * tried).await;
    }
}

async fn post(outbox: &Outbox, client: &Client, body: Vec<u8>) -> Result<(), Failure> {
    let collector = &outbox.collector;
    let sent = timeout(TIMEOUT, client.post(&collector.url, &collector.headers, body)).await;
    let answer =
        sent.unwrap_or(Err(Failure::Timeout { phase: "waiting for a collector", seconds: TIMEOUT.as_secs_f64() }))?;
    let response: Value = serde_json::from_slice(&answer).unwrap_or_default();
    let message = response.pointer("/partialSuccess/errorMessage").and_then(Value::as_str).unwrap_or_default();
    if !message.is_empty() && FAILED.is_due("partial") {
        tracing::warn!(url = collector.url, message, "the collector accepted only some of the spans");
    }
    Ok(())
}

/// True when a retry may succeed.
fn is_temporary(failure: &Failure) -> bool {
    match failure {
        Failure::Refused { status, .. } => matches!(status.as_u16(), 429 | 502 | 503 | 504),
        _ => true,
    }
}
