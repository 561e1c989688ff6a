//! Golden conversations, the main suite: every page of `tests/golden` is run over real sockets, streamed and whole, and again
//! over the Responses API, whole, streamed and over a WebSocket.
//!
//! `UPDATE=1 cargo test -p callboard --test golden` rewrites what the pages expect; review is the diff. The invariants of every
//! reply (format of a stream, folded equals whole, nothing sent upstream for a refused request) cannot be updated away.

#[cfg(test)]
mod golden_harness;
use std::sync::Arc;

use callboard_test_support::golden_page::{Page, read_pages};

use golden_harness::{Harness, check_exported, check_page, on_threads, responses};

fn pages() -> Vec<Arc<Page>> {
    let pages: Vec<Arc<Page>> = read_pages().into_iter().map(Arc::new).collect();
    assert!(!pages.is_empty(), "there are no golden pages");
    pages
}

/// Pages of one request; conversation pages choose their API themselves.
fn scenarios() -> impl Iterator<Item = Arc<Page>> {
    pages().into_iter().filter(|page| !page.is_conversation())
}

#[test]
fn every_page_passes() {
    let harness = Harness::new();
    let faults = on_threads(&pages(), |page| check_page(&harness, page));
    assert!(faults.is_empty(), "{} pages do not hold\n\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_page_passes_over_responses() {
    let harness = Harness::new();
    let (all, listed): (Vec<_>, Vec<_>) = scenarios().partition(|page| responses::reason_against(&page.stem).is_none());
    let faults = on_threads(&all, |page| responses::check_page(&harness, page));
    assert!(faults.is_empty(), "{} pages do not hold\n\n{}", faults.len(), faults.join("\n"));
    let unknown: Vec<&str> =
        responses::exceptions().filter(|stem| !listed.iter().any(|page| page.stem == *stem)).collect();
    assert!(unknown.is_empty(), "these exceptions name no page: {unknown:?}");
    assert_eq!(listed.len(), responses::COUNT, "the list of exceptions and its count differ");
    let playable: Vec<Arc<Page>> = listed.into_iter().filter(|page| responses::can_be_played(page)).collect();
    let passing =
        on_threads(&playable, |page| responses::check_page(&harness, page).is_none().then(|| page.stem.clone()));
    assert!(passing.is_empty(), "these pages pass over the Responses API; remove them from the list: {passing:?}");
}

#[test]
fn an_exported_turn_gives_the_same_reply_again() {
    let harness = Harness::new();
    let all: Vec<Arc<Page>> = scenarios().collect();
    let faults = on_threads(&all, |page| check_exported(&harness, page));
    assert!(faults.is_empty(), "{} turns are not reproduced\n\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn repairs_and_requests_are_counted() {
    let harness = Harness::new();
    let page = pages()
        .into_iter()
        .find(|page| page.stem == "repair-trailing-comma")
        .expect("the page that shows a trailing comma");
    assert_eq!(check_page(&harness, &page), None);
    assert_eq!(responses::check_page(&harness, &page), None);
    let metrics = harness.metrics();
    for outcome in [
        "violation=\"trailing_comma\",outcome=\"repaired\"",
        "endpoint=\"chat\",status=\"200\"",
        "endpoint=\"responses\",status=\"200\"",
    ] {
        assert!(metrics.contains(outcome), "{outcome} is not on /metrics:\n{metrics}");
    }
}
