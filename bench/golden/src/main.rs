//! One part of the core, run on every golden page whose replies are streams: `golden-counts PART`.
//!
//! The work happens in [`counted`], after one run that fills caches. Callgrind counts only what is called from there; `bench/count`
//! runs it.

mod parts;
mod recorded_turn;

use std::process::ExitCode;

use callboard_core::contract::ToolCache;
use callboard_test_support::golden_page::read_pages;

use parts::PARTS;
use recorded_turn::RecordedTurn;

fn main() -> ExitCode {
    let asked = std::env::args().nth(1).unwrap_or_default();
    let Some((_, prepare)) = PARTS.iter().find(|(name, _)| *name == asked) else {
        let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: golden-counts PART\nparts: {}", names.join(", "));
        return ExitCode::FAILURE;
    };
    let tools = ToolCache::default();
    let turns: Vec<RecordedTurn> = read_pages().iter().filter_map(|page| RecordedTurn::of(page, &tools)).collect();
    prepare(&turns, &tools)();
    counted(prepare(&turns, &tools));
    println!("{} pages", turns.len());
    ExitCode::SUCCESS
}

/// What is called from here is counted.
#[inline(never)]
fn counted(work: Box<dyn FnOnce() + '_>) {
    work();
}
