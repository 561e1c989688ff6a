//! Throughput and latency of calls, with several concurrent conversations.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use callboard_core::contract::RawCall;
use callboard_python::Limits;
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use crate::checked_character::{Player, raw_call};
use crate::figures::quantile;

/// Warm-up calls of each lane: afterwards all workers are started.
const WARM_UP: usize = 100;

pub(crate) async fn measure(
    file: &Path,
    tool: &str,
    arguments: &str,
    calls: usize,
    lanes: usize,
) -> anyhow::Result<Value> {
    let player = Player::load(file, Limits::default()).await?;
    let call = raw_call(tool, arguments);
    let all = |count: usize| try_join_all((0..lanes).map(|_| lane(&player, &call, count)));
    all(WARM_UP).await?;
    let began = Instant::now();
    let mut latencies: Vec<Duration> = all(calls / lanes).await?.into_iter().flatten().collect();
    let seconds = began.elapsed().as_secs_f64();
    latencies.sort_unstable();
    Ok(json!({
        "calls": latencies.len(),
        "calls_per_second": latencies.len() as f64 / seconds,
        "p50_ms": quantile(&latencies, 0.50),
        "p99_ms": quantile(&latencies, 0.99),
    }))
}

/// One conversation: its calls are sequential, and its state is passed from call to call.
async fn lane(player: &Player, call: &RawCall, count: usize) -> anyhow::Result<Vec<Duration>> {
    let mut state = player.open().await?;
    let mut latencies = Vec::with_capacity(count);
    for _ in 0..count {
        let began = Instant::now();
        let outcome = player.call(call, state.as_deref()).await?;
        latencies.push(began.elapsed());
        if let Err(failure) = outcome.result {
            bail!("a call failed: {failure}");
        }
        state = outcome.state.or(state);
    }
    Ok(latencies)
}
