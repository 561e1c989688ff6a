//! Violations and repairs of one turn, for the response header, the metrics and the log.

use std::fmt;
use std::sync::Arc;

use super::BadCall;
use crate::model::CallId;

/// The most calls whose text is kept.
const MOST_BAD_CALLS: usize = 100;

/// How a violation was handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Repaired by Callboard.
    Repaired,
    /// The model was asked again.
    Reasked,
    /// Answered with an error.
    Refused,
    /// Passed on unchanged, because the upstream is only observed.
    Observed,
}

impl Outcome {
    /// The label in headers and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::Reasked => "reasked",
            Self::Refused => "refused",
            Self::Observed => "observed",
        }
    }
}

/// One entry of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContractEvent {
    /// The violation, or the repair that was made.
    pub violation: &'static str,
    /// What was done about it.
    pub outcome: Outcome,
}

/// How many calls a model made, and how many of them violated the contract as written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallTally {
    /// All calls.
    pub made: u64,
    /// Those whose name or arguments had to be repaired.
    pub mended: u64,
    /// Those that could not be repaired.
    pub broken: u64,
}

impl CallTally {
    /// Calls that violated the contract as the model wrote them.
    #[must_use]
    pub fn in_violation(&self) -> u64 {
        self.mended.saturating_add(self.broken)
    }
}

/// The events of one turn, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    events: Vec<ContractEvent>,
    calls: CallTally,
    /// Shared, because reports are copied and calls may be large.
    bad_calls: Option<Arc<Vec<BadCall>>>,
}

impl Report {
    /// Records one event.
    pub fn note(&mut self, violation: &'static str, outcome: Outcome) {
        self.events.push(ContractEvent { violation, outcome });
    }

    /// Keeps a call that was not valid as the model wrote it; false where there are too many.
    pub(crate) fn add_bad_call(&mut self, call: impl FnOnce() -> BadCall) -> bool {
        let calls = Arc::make_mut(self.bad_calls.get_or_insert_default());
        let has_room = calls.len() < MOST_BAD_CALLS;
        if has_room {
            calls.push(call());
        }
        has_room
    }

    /// Gives the last bad call the ids of the calls that it became.
    pub(crate) fn identify_last_bad_call(&mut self, ids: Vec<CallId>) {
        let calls = self.bad_calls.as_mut().map(Arc::make_mut);
        if let Some(last) = calls.and_then(|calls| calls.last_mut()) {
            last.ids = ids;
        }
    }

    /// Says what was done about the broken calls of which it was not known yet.
    pub(crate) fn settle_bad_calls(&mut self, outcome: Outcome) {
        for call in self.bad_calls.iter_mut().flat_map(|calls| Arc::make_mut(calls).iter_mut()) {
            call.outcome.get_or_insert(outcome);
        }
    }

    /// The calls that were not valid as the model wrote them, in order.
    #[must_use]
    pub fn bad_calls(&self) -> &[BadCall] {
        self.bad_calls.as_ref().map_or(&[], |calls| calls.as_slice())
    }

    /// Counts a valid call, and whether it had to be repaired.
    pub(crate) fn count_valid(&mut self, mended: bool) {
        self.calls.made += 1;
        self.calls.mended += u64::from(mended);
    }

    /// Counts a call that could not be repaired.
    pub(crate) fn count_broken(&mut self) {
        self.calls.made += 1;
        self.calls.broken += 1;
    }

    /// The calls of all replies of the turn, as the model wrote them.
    #[must_use]
    pub fn calls(&self) -> CallTally {
        self.calls
    }

    /// The events in order.
    #[must_use]
    pub fn events(&self) -> &[ContractEvent] {
        &self.events
    }

    /// The same, for calls that were passed on as they came.
    #[must_use]
    pub fn as_observed(&self) -> Self {
        let seen = |event: &ContractEvent| ContractEvent { outcome: Outcome::Observed, ..*event };
        let passed_on =
            |call: &BadCall| BadCall { outcome: Some(Outcome::Observed), after: Vec::new(), ..call.clone() };
        Self {
            events: self.events.iter().map(seen).collect(),
            calls: self.calls,
            bad_calls: self.bad_calls.as_ref().map(|calls| Arc::new(calls.iter().map(passed_on).collect())),
        }
    }

    /// True when there are no events.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.events.is_empty()
    }

    fn words(&self, outcome: Outcome) -> Vec<&'static str> {
        let mut words = Vec::new();
        for event in self.events.iter().filter(|event| event.outcome == outcome) {
            if !words.contains(&event.violation) {
                words.push(event.violation);
            }
        }
        words
    }
}

/// `ok`, or for instance `repaired=trailing_comma,call_id; reasked=invalid_tool_arguments`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return f.write_str("ok");
        }
        let mut separator = "";
        for outcome in [Outcome::Repaired, Outcome::Reasked, Outcome::Refused, Outcome::Observed] {
            let words = self.words(outcome);
            if !words.is_empty() {
                write!(f, "{separator}{}={}", outcome.as_str(), words.join(","))?;
                separator = "; ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_as_a_header() {
        let mut report = Report::default();
        assert_eq!(report.to_string(), "ok");
        report.note("trailing_comma", Outcome::Repaired);
        report.note("invalid_tool_arguments", Outcome::Reasked);
        report.note("call_id", Outcome::Repaired);
        report.note("call_id", Outcome::Repaired);
        assert_eq!(report.to_string(), "repaired=trailing_comma,call_id; reasked=invalid_tool_arguments");
    }
}
