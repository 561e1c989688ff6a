//! A tool that overruns: the time from its deadline to its death, and until its successor has answered.
//!
//! There is only one worker, so the successor must answer. The tool writes to a shared memory page when it began and when it was
//! last alive. Both sides read the system clock.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail, ensure};
use callboard_python::{CallError, Limits, ToolError};
use serde_json::{Value, json};

use crate::checked_character::{Player, raw_call};
use crate::figures::quantile;

/// The factor of extra attempts.
const MOST_TRIES: usize = 3;

/// The times of one overrun.
struct Overrun {
    last_alive: Duration,
    answered: Duration,
    successor: Duration,
}

pub(crate) async fn measure(file: &Path, count: usize) -> anyhow::Result<Value> {
    let limits = Limits { workers_per_character: 1, ..Limits::default() };
    let player = Player::load(file, limits).await?;
    let page = std::env::temp_dir().join(format!("callboard-overrun-{}", std::process::id()));
    let mut report = json!({"count": count});
    for tool in ["spin", "sleep"] {
        let overruns = many(&player, tool, &page, count).await;
        let overruns = overruns.inspect_err(|_| drop(fs::remove_file(&page)))?;
        let times = |of: fn(&Overrun) -> Duration| {
            let mut times: Vec<Duration> = overruns.iter().map(of).collect();
            times.sort_unstable();
            json!({"p50_ms": quantile(&times, 0.5), "max_ms": quantile(&times, 1.0)})
        };
        report[tool] = json!({
            "last_alive": times(|overrun| overrun.last_alive),
            "answered": times(|overrun| overrun.answered),
            "successor": times(|overrun| overrun.successor),
        });
    }
    fs::remove_file(&page)?;
    Ok(report)
}

async fn many(player: &Player, tool: &str, page: &Path, count: usize) -> anyhow::Result<Vec<Overrun>> {
    let mut overruns = Vec::with_capacity(count);
    for _ in 0..count * MOST_TRIES {
        overruns.extend(one(player, tool, page).await?);
        if overruns.len() == count {
            return Ok(overruns);
        }
    }
    bail!("in {} tries only {} tools got to say that they began", count * MOST_TRIES, overruns.len())
}

/// One overrun; none if the tool did not report its start in time, as on a busy machine.
async fn one(player: &Player, tool: &str, page: &Path) -> anyhow::Result<Option<Overrun>> {
    fs::write(page, [0; 16])?;
    let late = raw_call(tool, &json!({"page": page}).to_string());
    let outcome = player.call(&late, None).await?;
    let (answered_at, answered) = (SystemTime::now(), Instant::now());
    let Err(CallError::Tool(ToolError::TimedOut { limit })) = outcome.result else {
        bail!("a tool that overran was not stopped: {:?}", outcome.result);
    };
    let stamped = stamps(page)?;
    let quick = player.call(&raw_call("quick", "{}"), None).await?;
    let successor = answered.elapsed();
    ensure!(quick.result.is_ok(), "the successor failed: {:?}", quick.result);
    ensure!(stamps(page)? == stamped, "a tool kept running after it was reported as stopped");
    let now = answered_at.duration_since(UNIX_EPOCH)?;
    Ok(stamped.map(|(began, alive)| {
        let deadline = began + limit;
        let (last_alive, answered) = (alive.saturating_sub(deadline), now.saturating_sub(deadline));
        Overrun { last_alive, answered, successor }
    }))
}

/// When the tool began, and when it was last alive, both since the epoch; none if it did not report.
fn stamps(page: &Path) -> anyhow::Result<Option<(Duration, Duration)>> {
    let bytes = fs::read(page)?;
    let stamp = |at: usize| {
        let bytes: Option<[u8; 8]> = bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map(|bytes| Duration::from_nanos(u64::from_le_bytes(bytes))).context("a page that is too short")
    };
    let (began, alive) = (stamp(0)?, stamp(8)?);
    Ok((!began.is_zero()).then_some((began, alive)))
}
