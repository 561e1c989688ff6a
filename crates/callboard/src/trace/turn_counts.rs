//! The counts of turns: how often models call tools or only talk, which calls break the contract, how long turns take.
//!
//! A turn counts for the call rate where tools were offered on a user message. A turn that continues with results of calls
//! is the second half of such a turn, so it is counted as a turn only.

use std::collections::BTreeMap;

use callboard_core::turn::ToolOutcome;

use super::{RunBy, ToolCall, TurnOutcome, TurnTrace};

/// Upper bounds within each power of ten, in milliseconds: close enough for a median.
const STEPS: [u64; 6] = [10, 15, 20, 30, 50, 70];
/// The prefix of the names of counted times; the bound follows.
const TOOK: &str = "took_ms_";

/// Defines the counts, each with the name that the store knows it by.
macro_rules! turn_counts {
    ($(#[$doc:meta] $count:ident = $name:literal;)+) => {
        /// Something that is counted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum TurnCount { $(#[$doc] $count),+ }

        impl TurnCount {
            /// All of them.
            pub const ALL: [Self; [$(Self::$count),+].len()] = [$(Self::$count),+];

            /// The name in the store.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$count => $name),+ }
            }
        }
    };
}

turn_counts! {
    #[doc = "Turns."] Turns = "turns";
    #[doc = "Turns that ended with an error."] Failed = "failed";
    #[doc = "Turns whose client disconnected before the end."] Interrupted = "interrupted";
    #[doc = "Turns in which tools were offered on a user message."] Offered = "offered";
    #[doc = "Such turns with a call."] WithCalls = "with_calls";
    #[doc = "Such turns, complete, with text and without a call."] TextOnly = "text_only";
    #[doc = "Calls as the model wrote them."] Calls = "calls";
    #[doc = "Calls that broke the contract as the model wrote them."] ViolationsBefore = "violations_before";
    #[doc = "Calls that broke the contract and were passed on or run anyway."] ViolationsAfter = "violations_after";
    #[doc = "Calls and answers that the model was asked for again."] Reasked = "reasked";
    #[doc = "Violations that ended a turn."] Refused = "refused";
    #[doc = "Tools that were run here."] ToolsRun = "tools_run";
    #[doc = "Tools that failed."] ToolErrors = "tool_errors";
    #[doc = "Tools that timed out."] ToolTimeouts = "tool_timeouts";
    #[doc = "Calls of tools here that were refused for their name, their arguments or a limit."] ToolsRefused = "tools_refused";
    #[doc = "Prompt tokens."] PromptTokens = "prompt_tokens";
    #[doc = "Completion tokens."] CompletionTokens = "completion_tokens";
}

/// The counts of one turn or of many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnCounts {
    amounts: [u64; TurnCount::ALL.len()],
    took: BTreeMap<u64, u64>,
}

impl TurnCounts {
    /// The amount of one count.
    pub fn get(&self, count: TurnCount) -> u64 {
        self.amounts[count as usize]
    }

    /// Adds an amount.
    pub fn add(&mut self, count: TurnCount, amount: u64) {
        let sum = &mut self.amounts[count as usize];
        *sum = sum.saturating_add(amount);
    }

    /// Adds turns that took at most `bound` milliseconds.
    fn add_took(&mut self, bound: u64, turns: u64) {
        let sum = self.took.entry(bound).or_default();
        *sum = sum.saturating_add(turns);
    }

    /// Adds an amount by its name in the store; unknown names are ignored.
    pub fn add_named(&mut self, name: &str, amount: u64) {
        if let Some(bound) = name.strip_prefix(TOOK).and_then(|bound| bound.parse().ok()) {
            self.add_took(bound, amount);
        } else if let Some(count) = TurnCount::ALL.into_iter().find(|count| count.as_str() == name) {
            self.add(count, amount);
        }
    }

    /// All counts that are not zero, by their names in the store.
    pub fn named(&self) -> Vec<(String, u64)> {
        let amounts = TurnCount::ALL.into_iter().map(|count| (count.as_str().to_owned(), self.get(count)));
        let took = self.took.iter().map(|(bound, turns)| (format!("{TOOK}{bound}"), *turns));
        amounts.chain(took).filter(|(_, amount)| *amount > 0).collect()
    }

    /// The percentile of the duration of complete turns, in milliseconds, rounded up to the next bound.
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

    /// Adds one turn, or a tool that was run by hand.
    pub fn add_turn(&mut self, turn: &TurnTrace) {
        if !turn.is_turn() {
            return self.add_tools(turn);
        }
        let offered = turn.tools_offered && !turn.continues;
        let (called, complete) = (turn.made_calls(), turn.outcome == TurnOutcome::Complete);
        let usage = turn.usage.unwrap_or_default();
        self.add(TurnCount::Turns, 1);
        self.add(TurnCount::Failed, u64::from(turn.outcome == TurnOutcome::Failed));
        self.add(TurnCount::Interrupted, u64::from(turn.outcome == TurnOutcome::Interrupted));
        self.add(TurnCount::Offered, u64::from(offered));
        self.add(TurnCount::WithCalls, u64::from(offered && called));
        self.add(TurnCount::TextOnly, u64::from(offered && complete && turn.calls.made == 0 && turn.output.bytes > 0));
        self.add(TurnCount::PromptTokens, usage.prompt_tokens);
        self.add(TurnCount::CompletionTokens, usage.completion_tokens);
        if complete {
            // Rounded up: a turn of 3.1 ms did not take at most 3 ms.
            let milliseconds = turn.duration_ms.0.as_nanos().div_ceil(1_000_000);
            self.add_took(took_bound(u64::try_from(milliseconds).unwrap_or(u64::MAX)), 1);
        }
        self.add_calls(turn);
    }

    fn add_calls(&mut self, turn: &TurnTrace) {
        let broken = turn.calls.in_violation();
        self.add(TurnCount::Calls, turn.calls.made);
        self.add(TurnCount::ViolationsBefore, broken);
        self.add(TurnCount::ViolationsAfter, if turn.passed_on { broken } else { 0 });
        for note in &turn.contract {
            match note.outcome {
                "reasked" => self.add(TurnCount::Reasked, 1),
                "refused" => self.add(TurnCount::Refused, 1),
                _ => {}
            }
        }
        self.add_tools(turn);
    }

    /// The tools that were run here, or refused.
    fn add_tools(&mut self, turn: &TurnTrace) {
        for outcome in turn.tool_calls.iter().filter_map(|call| call.outcome) {
            self.add(TurnCount::ToolsRun, u64::from(outcome.has_run()));
            self.add(TurnCount::ToolErrors, u64::from(outcome == ToolOutcome::Execution));
            self.add(TurnCount::ToolsRefused, u64::from(outcome.is_refused()));
            self.add(TurnCount::ToolTimeouts, u64::from(outcome == ToolOutcome::Timeout));
        }
    }
}

impl TurnTrace {
    /// True when a call was passed to the client or run here.
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
    fn percentiles_are_bounds() {
        let mut counts = TurnCounts::default();
        assert_eq!(counts.took_within(50), None);
        for (bound, turns) in [(10, 94), (100, 5), (1000, 1)] {
            counts.add_named(&format!("took_ms_{bound}"), turns);
        }
        for (percent, bound) in [(1, 10), (50, 10), (94, 10), (95, 100), (99, 100), (100, 1000)] {
            assert_eq!(counts.took_within(percent), Some(bound), "{percent}");
        }
    }

    #[test]
    fn names_lead_back_to_counts() {
        let mut counts = TurnCounts::default();
        for (number, count) in TurnCount::ALL.into_iter().enumerate() {
            assert_eq!(count as usize, number);
            counts.add(count, number as u64 + 1);
        }
        counts.add_took(15, 2);
        let mut again = TurnCounts::default();
        counts.named().iter().for_each(|(name, amount)| again.add_named(name, *amount));
        again.add_named("of a later version", 3);
        assert_eq!(again, counts);
        assert_eq!(counts.named().len(), TurnCount::ALL.len() + 1);
    }
}
