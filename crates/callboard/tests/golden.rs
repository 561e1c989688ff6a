//! Golden conversations, the main suite: every page of `tests/golden` is played over real sockets, streamed and whole.
//!
//! `UPDATE=1 cargo test -p callboard --test golden` rewrites what the pages expect; review is the diff. The checks that hold
//! for every reply (the form of a stream, folded equals whole, nothing sent on for a refused request) cannot be updated away.

#[cfg(test)]
mod golden_harness;
#[cfg(test)]
#[path = "../../../tests/golden_page/mod.rs"]
mod golden_page;

use golden_harness::{Stage, judge};
use golden_page::read_pages;

#[test]
fn every_page_holds() {
    let pages = read_pages();
    assert!(!pages.is_empty(), "there are no golden pages");
    let mut stage = Stage::new();
    let faults: Vec<String> = pages.into_iter().filter_map(|page| judge(&mut stage, page)).collect();
    assert!(faults.is_empty(), "{} pages do not hold\n\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn what_was_done_is_counted() {
    let mut stage = Stage::new();
    let pages = read_pages();
    let page = pages
        .into_iter()
        .find(|page| page.stem == "repair-trailing-comma")
        .expect("the page that shows a trailing comma");
    assert_eq!(judge(&mut stage, page), None);
    let metrics = stage.metrics();
    for outcome in ["violation=\"trailing_comma\",outcome=\"repaired\"", "endpoint=\"chat\",status=\"200\""] {
        assert!(metrics.contains(outcome), "{outcome} is not on /metrics:\n{metrics}");
    }
}
