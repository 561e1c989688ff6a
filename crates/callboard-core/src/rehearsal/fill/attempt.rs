//! One tool tried on one stretch of speech, and how well it accounts for what was said.

use serde_json::{Map, Value};

use super::super::catalogue::{Holds, Tool};
use super::super::lexicon::LIGHT;
use super::super::mood::Mood;
use super::super::text_sort::TextSort;
use super::super::units::is_unit;
use super::super::vocabulary::is_content;
use super::super::words::{Form, Word};
use super::choices::fill_choices;
use super::draft::{Draft, Origin, Reading};
use super::forced::fill_forced;
use super::implied::{fill_implied, fill_inherited};
use super::lists::fill_lists;
use super::messages::{fill_messages, fill_remarks};
use super::numbers::fill_numbers;
use super::own_or_other_side::fill_sides;
use super::phrases::fill_phrases;
use super::shapes::fill_shapes;
use super::truths::fill_truths;

/// Under which terms a call is tried.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Terms<'a> {
    /// The call before it in the same speech, from which open values are taken over.
    pub(in super::super) inherit: Option<&'a Map<String, Value>>,
    /// A call must be made, whatever was said.
    pub(in super::super) forced: bool,
}

/// A call that could be made.
#[derive(Clone, Debug)]
pub(in super::super) struct Attempt {
    /// The arguments; more than one for a series.
    pub(in super::super) calls: Vec<Map<String, Value>>,
    /// How well the words speak for it; calls below zero are not made.
    pub(in super::super) score: f32,
    /// Some argument was given by the words themselves.
    pub(in super::super) said_something: bool,
}

/// What a call must earn before it is worth making.
const CALL_COST: f32 = 1.5;
const UNEXPLAINED: f32 = 0.5;
/// What a question is worth to a tool that answers.
const ASKED: f32 = 0.4;
/// What the wish to take something back is worth to a tool that does it.
const UNDOING: f32 = 1.6;
/// What it is worth that nothing was left unexplained.
const COMPLETE: f32 = 0.5;
const LEAST_EVIDENCE: f32 = 0.9;
const LEAST_SHARE: f32 = 0.34;

/// How much the words speak for a tool: each one, and their turns of phrase.
#[derive(Clone, Copy)]
pub(in super::super) struct Evidence<'a> {
    pub(in super::super) weights: &'a [f32],
    pub(in super::super) phrasing: f32,
}

/// Tries to call the tool.
pub(in super::super) fn attempt<'a>(
    tool: &'a Tool,
    reading: &'a Reading<'a>,
    told: Evidence<'_>,
    terms: Terms<'a>,
) -> Option<Attempt> {
    let mood = reading.mood;
    if !terms.forced && !is_welcome(tool, mood, terms.inherit.is_some()) {
        return None;
    }
    let mut draft = Draft::new(tool, reading, terms.inherit);
    fill(&mut draft, terms.forced);
    let open = draft.fields().any(|(index, field)| field.required && draft.is_open(index));
    let denied = mood.negated && !draft.denial_absorbed;
    if !terms.forced && (open || denied || mood.past && tool.changes) {
        return None;
    }
    let judged = judge(&draft, told, terms);
    let said_something =
        draft.values.iter().flatten().any(|(_, origin)| matches!(origin, Origin::Said | Origin::Guessed));
    // A remark about something is no order to do it.
    let remark = mood.statement && !said_something && !tool.undoes;
    judged.filter(|_| terms.forced || !remark).map(|score| Attempt { calls: draft.calls(), score, said_something })
}

fn fill(draft: &mut Draft<'_>, forced: bool) {
    fill_shapes(draft);
    fill_choices(draft);
    fill_numbers(draft);
    fill_truths(draft);
    fill_lists(draft);
    fill_phrases(draft);
    fill_messages(draft);
    fill_sides(draft);
    fill_remarks(draft);
    fill_inherited(draft);
    fill_implied(draft);
    if forced {
        fill_forced(draft);
    }
}

/// Whether speech in this mood can ask for this tool.
fn is_welcome(tool: &Tool, mood: Mood, inherits: bool) -> bool {
    let unasked = mood.question && tool.changes && !tool.undoes || mood.statement && !tool.changes && !inherits;
    !mood.idle && !unasked && mood.undoing == tool.undoes
}

/// What the words say for the call, less what they leave open.
fn judge(draft: &Draft<'_>, told: Evidence<'_>, terms: Terms<'_>) -> Option<f32> {
    let words = draft.reading.words;
    let mut seen: Vec<&str> = Vec::new();
    let (mut evidence, mut explained, mut open) = (0.0_f32, 0.0_f32, 0.0_f32);
    let aside = circumstance(draft);
    for (at, word) in words.iter().enumerate().filter(|(_, word)| is_content(word) || word.form == Form::Number) {
        let weight = told.weights.get(at).copied().unwrap_or(0.0) * if at >= aside { 0.6 } else { 1.0 };
        let used = draft.used.get(at).copied().unwrap_or(false);
        if weight > 0.15 && !seen.contains(&word.stem.as_str()) {
            seen.push(&word.stem);
            evidence += weight;
        }
        if weight > 0.15 || used {
            explained += 1.0;
        } else if !LIGHT.contains(&word.lower) {
            open += if at >= aside || is_measure(words, at) { 0.4 } else { 1.0 };
        }
    }
    explained += told.phrasing;
    evidence += told.phrasing + shape_evidence(draft);
    if draft.reading.mood.question && evidence > 0.3 || draft.reading.mood.undoing {
        evidence += if draft.tool.undoes { UNDOING } else { ASKED };
    }
    let all_told = if open == 0.0 { COMPLETE } else { 0.0 };
    let worth = evidence + origins(draft) + all_told - UNEXPLAINED * open - CALL_COST;
    if terms.forced {
        return Some(worth);
    }
    let enough = evidence >= LEAST_EVIDENCE || terms.inherit.is_some();
    let share = if explained + open > 0.0 { explained / (explained + open) } else { 1.0 };
    (enough && share >= LEAST_SHARE && worth > 0.0 || terms.inherit.is_some() && share >= 0.5).then_some(worth)
}

/// Where a question names the circumstances only: "… in the morning", "… during the storm".
fn circumstance(draft: &Draft<'_>) -> usize {
    let words = draft.reading.words;
    let place = words.iter().rposition(|word| word.is_any(&["in", "during", "at", "before", "after"]));
    place.filter(|_| draft.reading.mood.question).unwrap_or(words.len())
}

/// "6 inches" beside something else that is told is a detail.
fn is_measure(words: &[Word], at: usize) -> bool {
    let unit = |at: usize| words.get(at).is_some_and(|word| is_unit(&word.stem));
    let number = |at: usize| words.get(at).is_some_and(|word| word.form == Form::Number);
    number(at) && unit(at + 1) || unit(at) && at.checked_sub(1).is_some_and(number)
}

fn origins(draft: &Draft<'_>) -> f32 {
    let worth = |(_, origin): &(Value, Origin)| match origin {
        Origin::Said => 0.5,
        Origin::Guessed => 0.2,
        Origin::Implied | Origin::Inherited => 0.0,
        Origin::Default => -0.4,
    };
    let row =
        |(value, _): &(Value, Origin)| value.as_array().map_or(0.0, |row| 0.3 * row.len().saturating_sub(1) as f32);
    draft.values.iter().flatten().map(|filled| worth(filled) + row(filled)).sum()
}

/// Values that are known by their shape speak for the tool that wants them: a formula, an address, a measure.
fn shape_evidence(draft: &Draft<'_>) -> f32 {
    let shaped = |(index, field): (usize, &super::super::catalogue::Field)| {
        let said = matches!(draft.values.get(index), Some(Some((_, Origin::Said | Origin::Guessed))));
        match field.holds {
            Holds::Text(TextSort::Formula) if said => 1.5,
            Holds::Text(TextSort::Email | TextSort::Link | TextSort::File) if said => 0.6,
            Holds::Number { .. } if said => 0.3,
            _ => 0.0,
        }
    };
    draft.fields().map(shaped).sum()
}
