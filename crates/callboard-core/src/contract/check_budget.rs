//! What checking the calls of one turn may take: bytes for each call, and steps of work for all of them.

/// The limit on bytes, and the steps taken so far. The limit on steps belongs to the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckBudget {
    pub(super) most_bytes: usize,
    /// What sets the limit on bytes, for its error.
    pub(super) bytes_limit: &'static str,
    pub(super) steps: u64,
}

impl CheckBudget {
    /// A budget for the calls of one turn, each with arguments of at most so many bytes.
    #[must_use]
    pub fn new(most_bytes: usize) -> Self {
        Self { most_bytes, bytes_limit: "limits.arguments_bytes", steps: 0 }
    }

    /// The same, with the setting that the limit on bytes comes from.
    #[must_use]
    pub fn limited_by(self, bytes_limit: &'static str) -> Self {
        Self { bytes_limit, ..self }
    }

    pub(super) fn spend(&mut self, steps: u64) {
        self.steps = self.steps.saturating_add(steps);
    }
}
