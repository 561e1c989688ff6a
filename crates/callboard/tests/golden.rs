//! Golden conversations, the main suite: every page of `tests/golden` is played over real sockets, streamed and whole; and once
//! more over the Responses API, whole, streamed and over a WebSocket.
//!
//! `UPDATE=1 cargo test -p callboard --test golden` rewrites what the pages expect; review is the diff. The checks that hold
//! for every reply (the form of a stream, folded equals whole, nothing sent on for a refused request) cannot be updated away.

#[cfg(test)]
mod golden_harness;
#[cfg(test)]
#[path = "../../../tests/golden_page/mod.rs"]
mod golden_page;

use std::sync::Arc;

use golden_harness::{Stage, judge, on_threads, responses};
use golden_page::{Page, read_pages};

fn pages() -> Vec<Arc<Page>> {
    let pages: Vec<Arc<Page>> = read_pages().into_iter().map(Arc::new).collect();
    assert!(!pages.is_empty(), "there are no golden pages");
    pages
}

#[test]
fn every_page_holds() {
    let stage = Stage::new();
    let faults = on_threads(&pages(), |page| judge(&stage, page));
    assert!(faults.is_empty(), "{} pages do not hold\n\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_page_holds_over_responses() {
    let stage = Stage::new();
    let (all, listed): (Vec<_>, Vec<_>) =
        pages().into_iter().partition(|page| responses::reason_against(&page.stem).is_none());
    let faults = on_threads(&all, |page| responses::judge(&stage, page));
    assert!(faults.is_empty(), "{} pages do not hold\n\n{}", faults.len(), faults.join("\n"));
    let unknown: Vec<&str> =
        responses::exceptions().filter(|stem| !listed.iter().any(|page| page.stem == *stem)).collect();
    assert!(unknown.is_empty(), "these exceptions are no pages: {unknown:?}");
    assert_eq!(listed.len(), responses::COUNT, "the list of exceptions and its count differ");
    let playable: Vec<Arc<Page>> = listed.into_iter().filter(|page| responses::can_be_played(page)).collect();
    let holding = on_threads(&playable, |page| responses::judge(&stage, page).is_none().then(|| page.stem.clone()));
    assert!(holding.is_empty(), "these pages hold over the Responses API; take them off the list: {holding:?}");
}

#[test]
fn what_was_done_is_counted() {
    let stage = Stage::new();
    let page = pages()
        .into_iter()
        .find(|page| page.stem == "repair-trailing-comma")
        .expect("the page that shows a trailing comma");
    assert_eq!(judge(&stage, &page), None);
    assert_eq!(responses::judge(&stage, &page), None);
    let metrics = stage.metrics();
    for outcome in [
        "violation=\"trailing_comma\",outcome=\"repaired\"",
        "endpoint=\"chat\",status=\"200\"",
        "endpoint=\"responses\",status=\"200\"",
    ] {
        assert!(metrics.contains(outcome), "{outcome} is not on /metrics:\n{metrics}");
    }
}
