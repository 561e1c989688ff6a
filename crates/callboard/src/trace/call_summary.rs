//! Figures over many turns: verdicts and latencies over time, and by tool.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ListedCall, ListedTurn};

/// Calls by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// As the model wrote them.
    pub valid: u64,
    /// Repaired here.
    pub repaired: u64,
    /// Asked for again.
    pub reasked: u64,
    /// Refused.
    pub refused: u64,
    /// Not valid, and passed on unchanged.
    pub observed: u64,
}

/// Percentiles of a time, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// The median.
    pub p50_ms: Option<f64>,
    /// The 95th percentile.
    pub p95_ms: Option<f64>,
}

/// The figures of a time range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimeBucket {
    /// Its start, in milliseconds since 1970; none for the whole time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<i64>,
    /// Its turns.
    pub turns: u64,
    /// Those that failed.
    pub failed: u64,
    /// Its calls.
    pub calls: Verdicts,
    /// The duration of its complete turns.
    pub turn: Percentiles,
    /// The part of it that neither a model server nor a tool took.
    pub added: Percentiles,
}

/// The figures of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolFigures {
    /// The character; none for tools of clients.
    pub character: Option<String>,
    /// Its name.
    pub tool: String,
    /// Its calls.
    pub calls: Verdicts,
    /// How many of those that Callboard ran failed, timeouts included.
    pub errors: u64,
    /// How many timed out.
    pub timeouts: u64,
    /// How long it ran here.
    pub run: Percentiles,
}

/// All figures.
#[derive(Debug, Serialize)]
pub struct CallSummary {
    /// Always `call_summary`.
    pub object: &'static str,
    /// The start of the time, in milliseconds since 1970.
    pub from_ms: i64,
    /// Its end.
    pub to_ms: i64,
    /// The length of a bucket.
    pub step_ms: i64,
    /// Whether all turns of the time were counted; there may be too many.
    pub complete: bool,
    /// The figures of the whole time.
    pub total: TimeBucket,
    /// The figures over time, oldest first.
    pub buckets: Vec<TimeBucket>,
    /// The figures by tool, the most called first.
    pub tools: Vec<ToolFigures>,
}

/// Figures that are being collected.
#[derive(Debug)]
pub struct CallFigures {
    from_ms: i64,
    to_ms: i64,
    step_ms: i64,
    total: Collected,
    buckets: Vec<Collected>,
    tools: BTreeMap<(Option<String>, String), CollectedTool>,
}

#[derive(Debug, Clone, Default)]
struct Collected {
    turns: u64,
    failed: u64,
    calls: Verdicts,
    turn: Vec<f64>,
    added: Vec<f64>,
}

#[derive(Debug, Default)]
struct CollectedTool {
    calls: Verdicts,
    errors: u64,
    timeouts: u64,
    run: Vec<f64>,
}

impl CallFigures {
    /// For a time range that is split into equal buckets.
    pub fn new(from_ms: i64, to_ms: i64, buckets: usize) -> Self {
        let count = i64::try_from(buckets.max(1)).unwrap_or(1);
        let step_ms = to_ms.saturating_sub(from_ms).max(1).div_euclid(count).max(1);
        let buckets = vec![Collected::default(); buckets.max(1)];
        Self { from_ms, to_ms, step_ms, total: Collected::default(), buckets, tools: BTreeMap::new() }
    }

    /// Adds a turn and those of its calls that are counted.
    pub fn add(&mut self, turn: &ListedTurn, calls: &[ListedCall]) {
        self.total.add(turn, calls);
        let place = turn.started_at_ms().saturating_sub(self.from_ms).div_euclid(self.step_ms);
        let last = self.buckets.len() - 1;
        if let Some(bucket) = usize::try_from(place).ok().and_then(|place| self.buckets.get_mut(place.min(last))) {
            bucket.add(turn, calls);
        }
        for call in calls {
            let Some(tool) = call.tool.clone() else { continue };
            self.tools.entry((call.character.clone(), tool)).or_default().add(call);
        }
    }

    /// The figures.
    pub fn summary(self, complete: bool) -> CallSummary {
        let Self { from_ms, to_ms, step_ms, total, buckets, tools } = self;
        let starts = (0_i64..).map(|place| from_ms.saturating_add(place.saturating_mul(step_ms)));
        let mut tools: Vec<ToolFigures> = tools.into_iter().map(|(name, figures)| figures.finish(name)).collect();
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls.sum()));
        CallSummary {
            object: "call_summary",
            from_ms,
            to_ms,
            step_ms,
            complete,
            total: total.finish(None),
            buckets: buckets.into_iter().zip(starts).map(|(bucket, start)| bucket.finish(Some(start))).collect(),
            tools,
        }
    }
}

impl Collected {
    fn add(&mut self, turn: &ListedTurn, calls: &[ListedCall]) {
        self.turns += 1;
        self.failed += u64::from(turn.has_failed());
        calls.iter().for_each(|call| self.calls.add(call));
        if turn.is_complete() {
            self.turn.push(turn.duration_ms());
            self.added.push(turn.added_ms());
        }
    }

    fn finish(self, from_ms: Option<i64>) -> TimeBucket {
        let Self { turns, failed, calls, turn, added } = self;
        TimeBucket { from_ms, turns, failed, calls, turn: Percentiles::of(turn), added: Percentiles::of(added) }
    }
}

impl CollectedTool {
    fn add(&mut self, call: &ListedCall) {
        self.calls.add(call);
        self.errors += u64::from(call.outcome.as_deref() == Some("error"));
        self.timeouts += u64::from(call.error_type.as_deref() == Some("timeout"));
        self.run.extend(call.duration_ms.filter(|_| call.outcome.as_deref() == Some("ok")));
    }

    fn finish(self, (character, tool): (Option<String>, String)) -> ToolFigures {
        let Self { calls, errors, timeouts, run } = self;
        ToolFigures { character, tool, calls, errors, timeouts, run: Percentiles::of(run) }
    }
}

impl Verdicts {
    fn add(&mut self, call: &ListedCall) {
        let count = match call.verdict.as_deref() {
            Some("valid") => &mut self.valid,
            Some("repaired") => &mut self.repaired,
            Some("reasked") => &mut self.reasked,
            Some("refused") => &mut self.refused,
            Some("observed") => &mut self.observed,
            _ => return,
        };
        *count += 1;
    }

    fn sum(&self) -> u64 {
        self.valid + self.repaired + self.reasked + self.refused + self.observed
    }
}

impl Percentiles {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        // The smallest time that so many percent do not exceed.
        let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Self { p50_ms: at(50), p95_ms: at(95) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(at: i64, duration: f64, outcome: &str) -> ListedTurn {
        serde_json::from_value(serde_json::json!({"character": null, "model": "m", "id": "t", "started_at_ms": at,
            "duration_ms": duration, "endpoint": "chat", "request_id": "r", "outcome": outcome, "upstream_requests": [],
            "bad_calls": [{"tool": "roll", "call_ids": ["a"], "outcome": "repaired", "violations": []}],
            "tool_calls": [{"id": "a", "name": "roll", "run_by": "client", "start_ms": 1},
                {"id": "b", "name": "roll", "run_by": "client", "start_ms": 1}]}))
        .unwrap()
    }

    #[test]
    fn turns_are_counted_in_their_time() {
        let mut figures = CallFigures::new(1000, 3000, 2);
        for (at, duration, outcome) in [(1000, 5.0, "complete"), (2999, 7.0, "complete"), (3000, 9.0, "failed")] {
            let turn = turn(at, duration, outcome);
            figures.add(&turn, &turn.calls());
        }
        let summary = figures.summary(true);
        assert_eq!(summary.buckets.iter().map(|bucket| bucket.turns).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(summary.total.calls, Verdicts { valid: 3, repaired: 3, ..Verdicts::default() });
        assert_eq!(
            (summary.total.failed, summary.total.turn.p50_ms, summary.total.turn.p95_ms),
            (1, Some(5.0), Some(7.0))
        );
        assert_eq!((summary.tools[0].tool.as_str(), summary.tools[0].calls.sum()), ("roll", 6));
    }

    #[test]
    fn percentiles_are_times_that_occurred() {
        let times: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(Percentiles::of(times), Percentiles { p50_ms: Some(50.0), p95_ms: Some(95.0) });
        assert_eq!(Percentiles::of(Vec::new()), Percentiles::default());
    }
}
