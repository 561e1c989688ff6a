//! Load on characters, for `bench/stage`: validated calls in workers, tools that overrun, and resource leaks. Each command
//! prints one JSON object, which the bench evaluates.
//!
//!     stage_bench calls FILE TOOL ARGUMENTS CALLS LANES
//!     stage_bench overruns FILE COUNT
//!     stage_bench soak FILE CALLS

mod calls;
mod checked_character;
mod figures;
mod overruns;
mod soak;

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::Value;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(measure(&words))?;
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

async fn measure(words: &[&str]) -> anyhow::Result<Value> {
    match words {
        ["calls", file, tool, arguments, calls, lanes] => {
            calls::measure(Path::new(file), tool, arguments, number(calls)?, number(lanes)?).await
        }
        ["overruns", file, count] => overruns::measure(Path::new(file), number(count)?).await,
        ["soak", file, calls] => soak::measure(Path::new(file), number(calls)?).await,
        _ => bail!("usage: stage_bench calls FILE TOOL ARGUMENTS CALLS LANES | overruns FILE COUNT | soak FILE CALLS"),
    }
}

fn number(word: &str) -> anyhow::Result<usize> {
    word.parse().with_context(|| format!("{word:?} is no number"))
}
