//! A page of a list that is shown newest first.

use super::statement::Cell;

/// Which page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Only what comes behind this one: its time and its id.
    pub behind: Option<(i64, String)>,
    /// So many at most.
    pub limit: i64,
}

impl Page {
    pub(super) fn cells(&self) -> [Cell; 3] {
        let (time, id) = self.behind.clone().unwrap_or((i64::MAX, String::new()));
        [time.into(), id.into(), self.limit.into()]
    }
}
