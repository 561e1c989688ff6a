//! Runs pages concurrently: most of a page's time is waiting for a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callboard_test_support::golden_page::Page;

const THREADS: usize = 4;

/// Runs a function for every page; its results are in the order of the pages.
pub(crate) fn on_threads(pages: &[Arc<Page>], find: impl Fn(&Arc<Page>) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(page) = pages.get(place) else { return found };
            found.extend(find(page).map(|words| (place, words)));
        }
    };
    let mut found: Vec<(usize, String)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no page panics")).collect()
    });
    found.sort();
    found.into_iter().map(|(_, words)| words).collect()
}
