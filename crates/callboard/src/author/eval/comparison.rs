//! The same questions with and without Callboard, side by side.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use super::verdict::{ModelTurn, Verdict};

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// The model behind Callboard.
    Callboard,
    /// The model server alone.
    Direct,
}

/// What came of the questions of one kind.
#[derive(Debug, Default)]
struct Tally {
    questions: usize,
    with_call: usize,
    calls: usize,
    valid: usize,
    tools: usize,
    right: usize,
    failed: usize,
    time: Duration,
}

/// All tallies, by kind of question and by who answered.
#[derive(Debug, Default)]
pub(super) struct Comparison(BTreeMap<(String, Way), Tally>);

impl Comparison {
    /// Adds an answer.
    pub(super) fn count(&mut self, kind: &str, way: Way, turn: &ModelTurn, verdict: Verdict, time: Duration) {
        let tally = self.0.entry((kind.to_owned(), way)).or_default();
        tally.questions += 1;
        tally.with_call += usize::from(!turn.calls.is_empty());
        tally.calls += turn.attempts;
        tally.valid += turn.valid;
        tally.tools += usize::from(verdict.tools);
        tally.right += usize::from(verdict.is_right());
        tally.failed += usize::from(verdict.failed);
        tally.time += time;
    }

    /// Whether the questions were also asked without Callboard.
    pub(super) fn has_both(&self) -> bool {
        self.0.keys().any(|(_, way)| *way == Way::Direct)
    }

    /// Writes the table.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "{:<24} {:<10} {:>9} {:>9} {:>12} {:>10} {:>7} {:>7} {:>8}",
            "kind", "", "questions", "with call", "valid calls", "right tool", "right", "failed", "seconds"
        )?;
        for ((kind, way), tally) in &self.0 {
            let way = if *way == Way::Callboard { "Callboard" } else { "direct" };
            let valid = format!("{} of {}", tally.valid, tally.calls);
            let count = u32::try_from(tally.questions).unwrap_or(u32::MAX).max(1);
            writeln!(
                out,
                "{kind:<24} {way:<10} {:>9} {:>9} {valid:>12} {:>10} {:>7} {:>7} {:>8.2}",
                tally.questions,
                tally.with_call,
                tally.tools,
                tally.right,
                tally.failed,
                (tally.time / count).as_secs_f64()
            )?;
        }
        Ok(())
    }
}
