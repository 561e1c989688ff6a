//! What checking the calls of one turn may take: bytes for each call, and steps of work for all of them.

/// The limit on bytes, and the steps taken so far. The limit on steps belongs to the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckBudget {
    pub(super) most_bytes: usize,
    pub(super) steps: u64,
}

impl CheckBudget {
    /// A budget for the calls of one turn, each with arguments of at most so many bytes.
    #[must_use]
    pub fn new(most_bytes: usize) -> Self {
        Self { most_bytes, steps: 0 }
    }

    pub(super) fn spend(&mut self, steps: u64) {
        self.steps = self.steps.saturating_add(steps);
    }
}
