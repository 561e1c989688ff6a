//! Tries one tool on one span of the utterance and scores the resulting call.

use serde_json::{Map, Value};

use super::super::catalogue::{Holds, Tool};
use super::super::lexicon::LIGHT;
use super::super::mood::Mood;
use super::super::text_sort::TextSort;
use super::super::unit_fit::is_unit;
use super::super::vocabulary::is_content;
use super::super::word_form::Form;
use super::super::words::Word;
use super::choices::fill_choices;
use super::draft::{Draft, Origin, Reading};
use super::forced::fill_forced;
use super::implied::{fill_implied, fill_inherited};
use super::lists::fill_lists;
use super::messages::{fill_messages, fill_remarks};
use super::numbers::fill_numbers;
use super::own_or_other_side::fill_sides;
use super::phrases::fill_phrases;
use super::shaped_values::fill_shapes;
use super::truths::fill_truths;

/// Options of an attempt.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Terms<'a> {
    /// The previous call of the same utterance, whose values fill open parameters.
    pub(in super::super) inherit: Option<&'a Map<String, Value>>,
    /// A call is required, however low its score.
    pub(in super::super) forced: bool,
}

/// A candidate call.
#[derive(Clone, Debug)]
pub(in super::super) struct Attempt {
    /// The arguments; one set per value of a series.
    pub(in super::super) calls: Vec<Map<String, Value>>,
    /// How well the words support it; calls below zero are not made.
    pub(in super::super) score: f32,
    /// At least one argument comes from the words themselves.
    pub(in super::super) has_explicit_value: bool,
}

/// The evidence a call needs to break even.
const CALL_COST: f32 = 1.5;
const UNEXPLAINED: f32 = 0.5;
/// Bonus of a query tool for a question.
const ASKED: f32 = 0.4;
/// Bonus of an undo tool for a request to undo.
const UNDOING: f32 = 1.6;
/// Bonus if every content word is explained.
const COMPLETE: f32 = 0.5;
const LEAST_EVIDENCE: f32 = 0.9;
const LEAST_SHARE: f32 = 0.34;

/// Lexical evidence for a tool: a weight per word, and one for fixed phrases.
#[derive(Clone, Copy)]
pub(in super::super) struct Evidence<'a> {
    pub(in super::super) weights: &'a [f32],
    pub(in super::super) phrasing: f32,
}

/// Tries to call the tool.
pub(in super::super) fn attempt<'a>(
    tool: &'a Tool,
    reading: &'a Reading<'a>,
    evidence: Evidence<'_>,
    terms: Terms<'a>,
) -> Option<Attempt> {
    let mood = reading.mood;
    if !terms.forced && !is_welcome(tool, mood, terms.inherit.is_some()) {
        return None;
    }
    let mut draft = Draft::new(tool, reading, terms.inherit);
    fill(&mut draft, terms.forced);
    let open = draft.fields().any(|(index, field)| field.required && draft.is_open(index));
    let denied = mood.negated && !draft.negation_consumed;
    if !terms.forced && (open || denied || mood.past && tool.changes) {
        return None;
    }
    let judged = judge(&draft, evidence, terms);
    let has_explicit_value =
        draft.values.iter().flatten().any(|(_, origin)| matches!(origin, Origin::Explicit | Origin::Guessed));
    // A statement without explicit values is a remark, not a command.
    let remark = mood.statement && !has_explicit_value && !tool.undoes;
    judged.filter(|_| terms.forced || !remark).map(|score| Attempt { calls: draft.calls(), score, has_explicit_value })
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

/// Whether this mood can call this tool.
fn is_welcome(tool: &Tool, mood: Mood, inherits: bool) -> bool {
    let unasked = mood.question && tool.changes && !tool.undoes || mood.statement && !tool.changes && !inherits;
    !mood.idle && !unasked && mood.undoing == tool.undoes
}

/// The evidence for the call minus the cost of unexplained words.
fn judge(draft: &Draft<'_>, evidence: Evidence<'_>, terms: Terms<'_>) -> Option<f32> {
    let words = draft.reading.words;
    let mut seen: Vec<&str> = Vec::new();
    let (mut support, mut explained, mut open) = (0.0_f32, 0.0_f32, 0.0_f32);
    let aside = circumstance(draft);
    for (at, word) in words.iter().enumerate().filter(|(_, word)| is_content(word) || word.form == Form::Number) {
        let weight = evidence.weights.get(at).copied().unwrap_or(0.0) * if at >= aside { 0.6 } else { 1.0 };
        let used = draft.used.get(at).copied().unwrap_or(false);
        if weight > 0.15 && !seen.contains(&word.stem.as_str()) {
            seen.push(&word.stem);
            support += weight;
        }
        if weight > 0.15 || used {
            explained += 1.0;
        } else if !LIGHT.contains(&word.lower) {
            open += if at >= aside || is_measure(words, at) { 0.4 } else { 1.0 };
        }
    }
    explained += evidence.phrasing;
    support += evidence.phrasing + shape_evidence(draft);
    if draft.reading.mood.question && support > 0.3 || draft.reading.mood.undoing {
        support += if draft.tool.undoes { UNDOING } else { ASKED };
    }
    let complete = if open == 0.0 { COMPLETE } else { 0.0 };
    let score = support + origins(draft) + complete - UNEXPLAINED * open - CALL_COST;
    if terms.forced {
        return Some(score);
    }
    let enough = support >= LEAST_EVIDENCE || terms.inherit.is_some();
    let share = if explained + open > 0.0 { explained / (explained + open) } else { 1.0 };
    (enough && share >= LEAST_SHARE && score > 0.0 || terms.inherit.is_some() && share >= 0.5).then_some(score)
}

/// Where the adverbial of a question begins: "… in the morning", "… during the storm".
fn circumstance(draft: &Draft<'_>) -> usize {
    let words = draft.reading.words;
    let place = words.iter().rposition(|word| word.is_any(&["in", "during", "at", "before", "after"]));
    place.filter(|_| draft.reading.mood.question).unwrap_or(words.len())
}

/// Whether the word is part of a measure such as "6 inches", which costs little when unexplained.
fn is_measure(words: &[Word], at: usize) -> bool {
    let unit = |at: usize| words.get(at).is_some_and(|word| is_unit(&word.stem));
    let number = |at: usize| words.get(at).is_some_and(|word| word.form == Form::Number);
    number(at) && unit(at + 1) || unit(at) && at.checked_sub(1).is_some_and(number)
}

fn origins(draft: &Draft<'_>) -> f32 {
    let worth = |(_, origin): &(Value, Origin)| match origin {
        Origin::Explicit => 0.5,
        Origin::Guessed => 0.2,
        Origin::Implied | Origin::Inherited => 0.0,
        Origin::Default => -0.4,
    };
    let row =
        |(value, _): &(Value, Origin)| value.as_array().map_or(0.0, |row| 0.3 * row.len().saturating_sub(1) as f32);
    draft.values.iter().flatten().map(|filled| worth(filled) + row(filled)).sum()
}

/// Evidence from values with a distinctive shape: formulas, addresses, links, files, numbers.
fn shape_evidence(draft: &Draft<'_>) -> f32 {
    let shaped = |(index, field): (usize, &super::super::catalogue::Field)| {
        let explicit = matches!(draft.values.get(index), Some(Some((_, Origin::Explicit | Origin::Guessed))));
        match field.holds {
            Holds::Text(TextSort::Formula) if explicit => 1.5,
            Holds::Text(TextSort::Email | TextSort::Link | TextSort::File) if explicit => 0.6,
            Holds::Number { .. } if explicit => 0.3,
            _ => 0.0,
        }
    };
    draft.fields().map(shaped).sum()
}
