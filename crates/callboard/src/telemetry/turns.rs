//! Figures of turns on `/metrics`: how models call tools, per character and model, and what became of traces.

use metrics::{counter, describe_counter};

use super::seldom::Seldom;
use crate::store::StoreError;
use crate::trace::{Figure, Figures};

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

/// Turns of one character and model are over.
pub fn turns(character: &str, model: &str, figures: &Figures) {
    let labels = || vec![("character", character.to_owned()), ("model", model.to_owned())];
    let add = |name: &'static str, more: Option<(&'static str, &'static str)>, amount: u64| {
        let mut labels = labels();
        labels.extend(more.map(|(label, value)| (label, value.to_owned())));
        counter!(name, &labels).increment(amount);
    };
    let count = |name, more, amount| {
        if amount > 0 {
            add(name, more, amount);
        }
    };
    let [failed, interrupted] = [Figure::Failed, Figure::Interrupted].map(|figure| figures.get(figure));
    let complete = figures.get(Figure::Turns).saturating_sub(failed).saturating_sub(interrupted);
    count("callboard_turns_total", Some(("outcome", "complete")), complete);
    count("callboard_turns_total", Some(("outcome", "failed")), failed);
    count("callboard_turns_total", Some(("outcome", "interrupted")), interrupted);
    count("callboard_turns_with_tools_total", None, figures.get(Figure::Offered));
    count("callboard_turns_with_calls_total", None, figures.get(Figure::WithCalls));
    count("callboard_text_only_total", None, figures.get(Figure::TextOnly));
    count("callboard_calls_total", None, figures.get(Figure::Calls));
    let violations = "callboard_schema_violations_total";
    if figures.get(Figure::ViolationsBefore) > 0 {
        add(violations, Some(("stage", "before")), figures.get(Figure::ViolationsBefore));
        // The promise is that it stays at nought, so nought is shown.
        add(violations, Some(("stage", "after")), figures.get(Figure::ViolationsAfter));
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
