//! Figures of turns on `/metrics`: how models call tools, per character and model, and what became of traces.

use metrics::{counter, describe_counter};

use super::seldom::Seldom;
use crate::store::StoreError;
use crate::trace::{Figure, Figures, TurnTrace};

static STORE_FAILED: Seldom = Seldom::new();

pub(super) fn describe() {
    describe_counter!("callboard_turns_total", "Turns by character, model and outcome");
    describe_counter!("callboard_turns_with_tools_total", "Turns in which tools were on offer to what a user said");
    describe_counter!("callboard_turns_with_calls_total", "Such turns with at least one call");
    describe_counter!("callboard_text_only_total", "Such turns that were answered in words alone");
    describe_counter!("callboard_calls_total", "Calls as models wrote them");
    describe_counter!(
        "callboard_schema_violations_total",
        "Calls that broke a promise: as the model wrote them (before), and as they left or ran (after)"
    );
    describe_counter!("callboard_traces_dropped_total", "Traces that were lost on their way, by where they were going");
}

/// A turn is over.
pub fn turn(trace: &TurnTrace) {
    let mut figures = Figures::default();
    figures.add_turn(trace);
    let character = trace.character.clone().unwrap_or_default();
    let labels = [("character", character), ("model", trace.counted_as.clone())];
    let with = |name: &'static str, value: &'static str| {
        let own = (name, value.to_owned());
        labels.iter().cloned().chain([own]).collect::<Vec<(&'static str, String)>>()
    };
    counter!("callboard_turns_total", &with("outcome", trace.outcome.as_str())).increment(1);
    for (figure, name) in [
        (Figure::Offered, "callboard_turns_with_tools_total"),
        (Figure::WithCalls, "callboard_turns_with_calls_total"),
        (Figure::TextOnly, "callboard_text_only_total"),
        (Figure::Calls, "callboard_calls_total"),
    ] {
        if figures.get(figure) > 0 {
            counter!(name, &labels).increment(figures.get(figure));
        }
    }
    if figures.get(Figure::ViolationsBefore) > 0 {
        let name = "callboard_schema_violations_total";
        counter!(name, &with("stage", "before")).increment(figures.get(Figure::ViolationsBefore));
        counter!(name, &with("stage", "after")).increment(figures.get(Figure::ViolationsAfter));
    }
}

/// Traces were lost.
pub fn traces_dropped(to: &'static str, how_many: u64) {
    if how_many > 0 {
        counter!("callboard_traces_dropped_total", "to" => to).increment(how_many);
    }
}

/// Traces or figures could not be stored.
pub fn store_failed(error: &StoreError) {
    if STORE_FAILED.is_due() {
        tracing::warn!(%error, "traces and figures cannot be stored; traces are dropped meanwhile");
    }
}
