//! Pages of lists.

use super::statement::{Cell, cells};

/// A page of a list that is sorted by time, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Only what is older than this entry: its time and its id.
    pub behind: Option<(i64, String)>,
    /// At most so many.
    pub limit: i64,
}

/// A page of the items of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemPage {
    /// Those after this position, in the order of the page; none for all.
    pub after: Option<i64>,
    /// Newest first.
    pub descending: bool,
    /// At most so many.
    pub limit: i64,
}

impl Page {
    pub(super) fn cells(&self) -> [Cell; 3] {
        let (time, id) = self.behind.clone().unwrap_or((i64::MAX, String::new()));
        cells![time, id, self.limit]
    }
}
