//! Many calls, one in ten killed at its deadline: each is answered, and resource usage before and after is compared.

use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use callboard_python::{CallError, Limits, ToolError};
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use crate::checked_character::{Player, raw_call};
use crate::figures::Holdings;

const LANES: usize = 8;

/// Warm-up calls before the first measurement.
const WARM_UP: usize = 400;

/// The most measurements until usage is stable: killed workers are being replaced.
const MOST_LOOKS: usize = 1000;

/// Equal measurements in a row that count as stable.
const SAME_LOOKS: usize = 10;

pub(crate) async fn measure(file: &Path, calls: usize) -> anyhow::Result<Value> {
    let player = Player::load(file, Limits::default()).await?;
    play(&player, WARM_UP).await?;
    let before = settled(&player).await?;
    let began = Instant::now();
    let killed = play(&player, calls).await?;
    let seconds = began.elapsed().as_secs_f64();
    let after = settled(&player).await?;
    Ok(json!({"calls": calls, "killed": killed, "seconds": seconds, "before": before, "after": after}))
}

/// Runs this many calls over all lanes and returns how many were killed; a wrong answer is an error.
async fn play(player: &Player, calls: usize) -> anyhow::Result<usize> {
    let lanes = (0..LANES).map(|lane| async move {
        let mut killed = 0;
        for number in (lane..calls).step_by(LANES) {
            let overruns = number / LANES % 10 == 9;
            answered(player, overruns).await?;
            killed += usize::from(overruns);
        }
        anyhow::Ok(killed)
    });
    Ok(try_join_all(lanes).await?.into_iter().sum())
}

async fn answered(player: &Player, overruns: bool) -> anyhow::Result<()> {
    let call = raw_call(if overruns { "hang" } else { "quick" }, "{}");
    match (player.call(&call, None).await?.result, overruns) {
        (Ok(_), false) | (Err(CallError::Tool(ToolError::TimedOut { .. })), true) => Ok(()),
        (result, _) => bail!("a call was answered with {result:?}"),
    }
}

/// The stable usage once all workers are replaced, measured between calls on all workers.
async fn settled(player: &Player) -> anyhow::Result<Holdings> {
    let (mut last, mut same) = (None, 0);
    for _ in 0..MOST_LOOKS {
        try_join_all((0..LANES).map(|_| answered(player, false))).await?;
        let now = Holdings::now()?;
        same = if last == Some(now.counts()) { same + 1 } else { 0 };
        if same == SAME_LOOKS {
            return Ok(now);
        }
        last = Some(now.counts());
    }
    bail!("what is held never settles: {last:?}")
}
