//! Sending what waits in the outbox: a batch at a time, again where waiting helps, and never for ever.

use std::time::Duration;

use serde::Deserialize;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::outbox::Batch;
use super::{Outbox, request};
use crate::telemetry::seldom::Seldom;
use crate::telemetry::turns;
use crate::upstream::{Client, Failure};

const EVERY: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(10);
const TRIES: u32 = 3;

static FAILED: Seldom = Seldom::new();

/// What a collector says about a request that it took only in part.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Taken {
    partial_success: PartialSuccess,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PartialSuccess {
    error_message: String,
}

/// Sends what waits, for as long as the program runs.
pub async fn export(outbox: &Outbox, client: &Client) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        while let Some(batch) = outbox.batch() {
            send(outbox, client, batch, TRIES).await;
        }
    }
}

/// Sends what still waits at the end of the program, once, within so much time.
pub async fn export_rest(outbox: &Outbox, client: &Client, within: Duration) {
    let rest = async {
        while let Some(batch) = outbox.batch() {
            send(outbox, client, batch, 1).await;
        }
    };
    let _ = timeout(within, rest).await;
}

/// Sends a batch, and gives it up when that fails too often.
async fn send(outbox: &Outbox, client: &Client, batch: Batch<'_>, tries: u32) {
    let body = request(&outbox.collector, &batch.traces).to_string().into_bytes();
    let mut tried = 0;
    loop {
        tried += 1;
        let Err(failure) = post(outbox, client, body.clone()).await else {
            batch.settle();
            return;
        };
        if tried >= tries || !is_passing(&failure) {
            turns::traces_dropped("collector", batch.settle());
            if FAILED.is_due() {
                let url = &outbox.collector.url;
                tracing::warn!(url, %failure, "the collector takes no traces; they are dropped meanwhile");
            }
            return;
        }
        sleep(EVERY * tried).await;
    }
}

async fn post(outbox: &Outbox, client: &Client, body: Vec<u8>) -> Result<(), Failure> {
    let collector = &outbox.collector;
    let sent = timeout(LONGEST, client.post(&collector.url, &collector.headers, body)).await;
    let answer =
        sent.unwrap_or(Err(Failure::Timeout { phase: "waiting for a collector", seconds: LONGEST.as_secs_f64() }))?;
    let taken: Taken = serde_json::from_slice(&answer).unwrap_or_default();
    let message = taken.partial_success.error_message;
    if !message.is_empty() && FAILED.is_due() {
        tracing::warn!(url = collector.url, message, "the collector took only some of the spans");
    }
    Ok(())
}

/// True when the same may succeed a little later.
fn is_passing(failure: &Failure) -> bool {
    match failure {
        Failure::Refused { status, .. } => matches!(status.as_u16(), 429 | 502 | 503 | 504),
        _ => true,
    }
}
