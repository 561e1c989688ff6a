//! What turns add to the figures: how often models call tools, how often they only talk, what they break, how long it takes.
//!
//! A turn counts for the rate of calls where the model could call tools and a user had spoken. One that goes on with results
//! of calls is the second half of such a turn, so it counts as a turn only.

use std::collections::BTreeMap;

use callboard_core::turn::ToolOutcome;

use super::{Outcome, RunBy, ToolCall, TurnTrace};

/// Upper bounds within each power of ten, in milliseconds: close enough to tell a median.
const STEPS: [u64; 6] = [10, 15, 20, 30, 50, 70];
/// What the names of counted times begin with; the bound follows.
const TOOK: &str = "took_ms_";

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Turns.
    Turns,
    /// Turns that ended with an error.
    Failed,
    /// Turns that the client left before their end.
    Interrupted,
    /// Turns in which tools were on offer to what a user said.
    Offered,
    /// Such turns with a call.
    WithCalls,
    /// Such turns, whole, with words and without a call.
    TextOnly,
    /// Calls as the model wrote them.
    Calls,
    /// Those that broke a promise as the model wrote them.
    ViolationsBefore,
    /// Those that broke a promise and left, or were run, all the same.
    ViolationsAfter,
    /// Calls and answers that the model was asked for again.
    Reasked,
    /// Broken promises that ended a turn.
    Refused,
    /// Tools that were run here.
    ToolsRun,
    /// Those that failed.
    ToolErrors,
    /// Those that ran out of time.
    ToolTimeouts,
    /// Tokens read.
    PromptTokens,
    /// Tokens written.
    CompletionTokens,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Turns,
        Self::Failed,
        Self::Interrupted,
        Self::Offered,
        Self::WithCalls,
        Self::TextOnly,
        Self::Calls,
        Self::ViolationsBefore,
        Self::ViolationsAfter,
        Self::Reasked,
        Self::Refused,
        Self::ToolsRun,
        Self::ToolErrors,
        Self::ToolTimeouts,
        Self::PromptTokens,
        Self::CompletionTokens,
    ];

    /// The name under which the store keeps it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Offered => "offered",
            Self::WithCalls => "with_calls",
            Self::TextOnly => "text_only",
            Self::Calls => "calls",
            Self::ViolationsBefore => "violations_before",
            Self::ViolationsAfter => "violations_after",
            Self::Reasked => "reasked",
            Self::Refused => "refused",
            Self::ToolsRun => "tools_run",
            Self::ToolErrors => "tool_errors",
            Self::ToolTimeouts => "tool_timeouts",
            Self::PromptTokens => "prompt_tokens",
            Self::CompletionTokens => "completion_tokens",
        }
    }
}

/// The figures of one turn, or of many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    amounts: [u64; Figure::ALL.len()],
    took: BTreeMap<u64, u64>,
}

impl Figures {
    /// How much there is of something.
    pub fn get(&self, figure: Figure) -> u64 {
        self.amounts.get(figure as usize).copied().unwrap_or_default()
    }

    /// Adds an amount.
    pub fn add(&mut self, figure: Figure, amount: u64) {
        if let Some(sum) = self.amounts.get_mut(figure as usize) {
            *sum = sum.saturating_add(amount);
        }
    }

    /// Adds turns that took at most so many milliseconds.
    fn add_took(&mut self, bound: u64, turns: u64) {
        let sum = self.took.entry(bound).or_default();
        *sum = sum.saturating_add(turns);
    }

    /// Adds an amount by the name that the store keeps it under; unknown names are passed over.
    pub fn add_named(&mut self, name: &str, amount: u64) {
        if let Some(bound) = name.strip_prefix(TOOK).and_then(|bound| bound.parse().ok()) {
            self.add_took(bound, amount);
        } else if let Some(figure) = Figure::ALL.into_iter().find(|figure| figure.as_str() == name) {
            self.add(figure, amount);
        }
    }

    /// All that is not zero, by the names that the store keeps it under.
    pub fn named(&self) -> Vec<(String, u64)> {
        let amounts = Figure::ALL.into_iter().map(|figure| (figure.as_str().to_owned(), self.get(figure)));
        let took = self.took.iter().map(|(bound, turns)| (format!("{TOOK}{bound}"), *turns));
        amounts.chain(took).filter(|(_, amount)| *amount > 0).collect()
    }

    /// The time that so many of a hundred whole turns kept within, in milliseconds, to the next bound.
    pub fn took_within(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.took.values().fold(0, |sum, turns| sum.saturating_add(*turns));
        let due = u128::from(all) * u128::from(percent);
        let mut within = 0_u128;
        let reached = self.took.iter().find(|(_, turns)| {
            within += u128::from(**turns) * 100;
            within >= due
        });
        reached.map(|(bound, _)| *bound)
    }

    /// Adds what one more turn brings.
    pub fn add_turn(&mut self, turn: &TurnTrace) {
        let offered = turn.tools_offered && !turn.continues;
        let (called, complete) = (turn.made_calls(), turn.outcome == Outcome::Complete);
        let usage = turn.usage.unwrap_or_default();
        self.add(Figure::Turns, 1);
        self.add(Figure::Failed, u64::from(turn.outcome == Outcome::Failed));
        self.add(Figure::Interrupted, u64::from(turn.outcome == Outcome::Interrupted));
        self.add(Figure::Offered, u64::from(offered));
        self.add(Figure::WithCalls, u64::from(offered && called));
        self.add(Figure::TextOnly, u64::from(offered && complete && turn.calls.made == 0 && turn.output.bytes > 0));
        self.add(Figure::PromptTokens, usage.prompt_tokens);
        self.add(Figure::CompletionTokens, usage.completion_tokens);
        if complete {
            // Rounded up: a turn of 3.1 ms did not take at most 3 ms.
            let milliseconds = turn.duration_ms.0.as_nanos().div_ceil(1_000_000);
            self.add_took(took_bound(u64::try_from(milliseconds).unwrap_or(u64::MAX)), 1);
        }
        self.add_calls(turn);
    }

    fn add_calls(&mut self, turn: &TurnTrace) {
        let broken = turn.calls.in_violation();
        self.add(Figure::Calls, turn.calls.made);
        self.add(Figure::ViolationsBefore, broken);
        self.add(Figure::ViolationsAfter, if turn.passed_on { broken } else { 0 });
        for note in &turn.contract {
            match note.outcome {
                "reasked" => self.add(Figure::Reasked, 1),
                "refused" => self.add(Figure::Refused, 1),
                _ => {}
            }
        }
        for outcome in turn.tool_calls.iter().filter_map(|call| call.outcome) {
            self.add(Figure::ToolsRun, u64::from(outcome.has_run()));
            self.add(Figure::ToolErrors, u64::from(outcome == ToolOutcome::Execution));
            self.add(Figure::ToolTimeouts, u64::from(outcome == ToolOutcome::Timeout));
        }
    }
}

impl TurnTrace {
    /// True when a call left for the client, or was run here.
    fn made_calls(&self) -> bool {
        let counts = |call: &ToolCall| call.run_by == RunBy::Client || call.outcome.is_some_and(ToolOutcome::has_run);
        self.tool_calls.iter().any(counts)
    }
}

/// The bound under which a time is counted: the next one of 1, 1.5, 2, 3, 5, 7 times a power of ten, in whole milliseconds.
fn took_bound(millis: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        let bound = STEPS.iter().map(|step| step.saturating_mul(power).div_ceil(10)).find(|bound| millis <= *bound);
        match (bound, power.checked_mul(10)) {
            (Some(bound), _) => return bound,
            (None, Some(next)) => power = next,
            (None, None) => return u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_under_the_next_bound() {
        let table = [(0, 1), (1, 1), (2, 2), (3, 3), (4, 5), (6, 7), (8, 10), (11, 15), (71, 100), (140, 150)];
        for (millis, bound) in table {
            assert_eq!(took_bound(millis), bound, "{millis}");
        }
        assert!(took_bound(u64::MAX) >= u64::MAX / 2);
    }

    #[test]
    fn times_are_told_by_share() {
        let mut figures = Figures::default();
        assert_eq!(figures.took_within(50), None);
        for (bound, turns) in [(10, 94), (100, 5), (1000, 1)] {
            figures.add_named(&format!("took_ms_{bound}"), turns);
        }
        for (percent, bound) in [(1, 10), (50, 10), (94, 10), (95, 100), (99, 100), (100, 1000)] {
            assert_eq!(figures.took_within(percent), Some(bound), "{percent}");
        }
    }

    #[test]
    fn names_lead_back_to_figures() {
        let mut figures = Figures::default();
        for (number, figure) in Figure::ALL.into_iter().enumerate() {
            assert_eq!(figure as usize, number);
            figures.add(figure, number as u64 + 1);
        }
        figures.add_took(15, 2);
        let mut again = Figures::default();
        figures.named().iter().for_each(|(name, amount)| again.add_named(name, *amount));
        again.add_named("of a later version", 3);
        assert_eq!(again, figures);
        assert_eq!(figures.named().len(), Figure::ALL.len() + 1);
    }
}
