//! Metrics of turns: how models call tools, per character and model, and traces that were dropped.

use metrics::{counter, describe_counter};

use super::{TurnCount, TurnCounts};

/// Describes the metrics of turns.
pub fn describe_metrics() {
    describe_counter!("callboard_turns_total", "Turns by character, model and outcome");
    describe_counter!("callboard_turns_with_tools_total", "Turns in which tools were offered on a user message");
    describe_counter!("callboard_turns_with_calls_total", "Such turns with at least one call");
    describe_counter!("callboard_text_only_total", "Such turns that were answered with text and no call");
    describe_counter!("callboard_calls_total", "Calls as models wrote them");
    describe_counter!(
        "callboard_schema_violations_total",
        "Calls that broke the contract: as the model wrote them (before), and as they were passed on or run (after)"
    );
    describe_counter!("callboard_traces_dropped_total", "Traces that were dropped, by destination");
}

/// Counts finished turns of one character and model.
pub(super) fn turns(character: &str, model: &str, counts: &TurnCounts) {
    let count = |name: &'static str, label: Option<(&'static str, &'static str)>, amount: u64| {
        let mut labels = vec![("character", character.to_owned()), ("model", model.to_owned())];
        labels.extend(label.map(|(label, value)| (label, value.to_owned())));
        counter!(name, &labels).increment(amount);
    };
    let [failed, interrupted] = [TurnCount::Failed, TurnCount::Interrupted].map(|name| counts.get(name));
    let complete = counts.get(TurnCount::Turns).saturating_sub(failed).saturating_sub(interrupted);
    let rows = [
        ("callboard_turns_total", Some(("outcome", "complete")), complete),
        ("callboard_turns_total", Some(("outcome", "failed")), failed),
        ("callboard_turns_total", Some(("outcome", "interrupted")), interrupted),
        ("callboard_turns_with_tools_total", None, counts.get(TurnCount::Offered)),
        ("callboard_turns_with_calls_total", None, counts.get(TurnCount::WithCalls)),
        ("callboard_text_only_total", None, counts.get(TurnCount::TextOnly)),
        ("callboard_calls_total", None, counts.get(TurnCount::Calls)),
    ];
    for (name, label, amount) in rows.into_iter().filter(|(_, _, amount)| *amount > 0) {
        count(name, label, amount);
    }
    let before = counts.get(TurnCount::ViolationsBefore);
    if before > 0 {
        count("callboard_schema_violations_total", Some(("stage", "before")), before);
        // Zero is shown too: the contract promises that it stays zero.
        count("callboard_schema_violations_total", Some(("stage", "after")), counts.get(TurnCount::ViolationsAfter));
    }
}

/// Counts traces that could not be passed to the store or the collector.
pub(super) fn traces_dropped(to: &'static str, how_many: u64) {
    if how_many > 0 {
        counter!("callboard_traces_dropped_total", "to" => to).increment(how_many);
    }
}
