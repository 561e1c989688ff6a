//! Assigns numbers to parameters.
//!
//! The words beside a number are matched with the names and descriptions of parameters. Assignment is greedy, best pair
//! first; each number is used once and must be within bounds. Several numbers in a row for one parameter are a series.

use serde_json::Value;

use super::super::catalogue::{Field, Holds};
use super::super::lexicon::{PREPOSITIONS, TAKING, is_empty_word};
use super::super::noun_phrases::acts;
use super::super::numbers::{NumberSpan, json_number};
use super::super::role::Role;
use super::super::synonyms::alike;
use super::super::unit_fit::unit_fits;
use super::super::words::Word;
use super::draft::{Draft, Origin};

const LEAST_REQUIRED: f32 = 0.3;
const LEAST_OPTIONAL: f32 = 0.75;

/// Fills number parameters.
pub(super) fn fill_numbers(draft: &mut Draft<'_>) {
    while let Some((field, number, score)) = best_pair(draft) {
        let Some(spoken) = draft.reading.numbers.get(number).cloned() else { return };
        let Some(value) = fitted(draft, field, &spoken) else { return };
        let origin = if score >= 1.0 { Origin::Explicit } else { Origin::Guessed };
        draft.put(field, value, origin);
        draft.take(spoken.words.clone());
        take_unit(draft, field, &spoken);
        find_series(draft, field, number);
    }
}

fn best_pair(draft: &Draft<'_>) -> Option<(usize, usize, f32)> {
    let mut best: Option<(usize, usize, f32)> = None;
    for (index, field) in
        draft.fields().filter(|(index, field)| draft.is_open(*index) && matches!(field.holds, Holds::Number { .. }))
    {
        for (at, number) in
            draft.reading.numbers.iter().enumerate().filter(|(_, number)| !draft.any_taken(number.words.clone()))
        {
            let score = affinity(draft, field, number);
            let least = if field.required { LEAST_REQUIRED } else { LEAST_OPTIONAL };
            let fits = score >= least && fitted(draft, index, number).is_some();
            if fits && best.is_none_or(|(_, _, other)| score > other + 1e-4) {
                best = Some((index, at, score));
            }
        }
    }
    best
}

/// The value converted to the parameter's sign, unit and type; none if out of bounds.
fn fitted(draft: &Draft<'_>, field: usize, number: &NumberSpan) -> Option<Value> {
    let field = draft.tool.fields.get(field)?;
    let Holds::Number { whole, least, most } = field.holds else { return None };
    let counts_on = draft
        .tool
        .title
        .first()
        .is_some_and(|first| ["updat", "add", "chang", "increas", "adjust"].contains(&first.as_str()));
    if (is_change(field, least) || counts_on) && states_possession(draft.reading.words, number) {
        return None;
    }
    let value = number.value * time_factor(draft, field, number);
    let value = if is_loss(draft, field, least) { -value.abs() } else { value };
    if value < least || value > most || whole && value.fract() != 0.0 {
        return None;
    }
    json_number(value)
}

/// Converts time units, such as "half an hour" for a parameter in minutes.
fn time_factor(draft: &Draft<'_>, field: &Field, number: &NumberSpan) -> f64 {
    let seconds = |stem: &str| match stem {
        "second" | "sec" => Some(1.0),
        "minut" | "min" => Some(60.0),
        "hour" => Some(3600.0),
        "day" | "dai" => Some(86_400.0),
        _ => None,
    };
    let unit = noun_after(draft.reading.words, number)
        .and_then(|at| draft.reading.words.get(at))
        .and_then(|word| seconds(&word.stem));
    let wanted = field.title.iter().chain(&field.summary).find_map(|own| seconds(own));
    match (unit, wanted) {
        (Some(unit), Some(wanted)) => unit / wanted,
        _ => 1.0,
    }
}

/// A decrease: the parameter allows negative values and the verb removes something.
fn is_loss(draft: &Draft<'_>, field: &Field, least: f64) -> bool {
    is_change(field, least)
        && draft
            .reading
            .words
            .iter()
            .enumerate()
            .any(|(at, word)| TAKING.contains(&word.stem) && (acts(draft.reading.words, at, false) || word.is("minus")))
}

/// Whether the parameter is a relative change.
fn is_change(field: &Field, least: f64) -> bool {
    least < 0.0 && (least.is_finite() || field.is(Role::Change))
}

/// "I have 3" and "down to 3" state an absolute value, not a change.
fn states_possession(words: &[Word], number: &NumberSpan) -> bool {
    let before = number.words.start.checked_sub(1).and_then(|at| words.get(at));
    let down = number.words.start >= 2
        && words.get(number.words.start - 2..number.words.start).is_some_and(
            |pair| matches!(pair, [one, two] if one.is_any(&["down", "left"]) && two.is_any(&["to", "with"])),
        );
    (down || before.is_some_and(|word| word.is_any(&["have", "has", "had"])))
        && !words.get(number.words.end..).is_some_and(|rest| rest.iter().any(|word| word.is("more")))
}

fn affinity(draft: &Draft<'_>, field: &Field, number: &NumberSpan) -> f32 {
    let words = draft.reading.words;
    let after = noun_after(words, number);
    let before = noun_before(words, number);
    let mut score = 0.0;
    let unit = after.and_then(|at| words.get(at)).map(|word| beside(draft, field, word));
    if number.article {
        return if after.and_then(|at| words.get(at)).is_some_and(|noun| is_single(draft, field, noun)) {
            1.0
        } else {
            -1.0
        };
    }
    let thing = after.is_some_and(|at| draft.is_taken(at));
    score += unit.filter(|unit| !thing || *unit >= 1.0).unwrap_or(0.0);
    score += before.map_or(0.0, |at| named_by(draft, field, at, number));
    if number.ordinal && field.is(Role::Rank) {
        score += 0.5;
    }
    if draft.before.is_some_and(|call| field.path.first().is_some_and(|name| call.contains_key(name))) {
        score += 1.0;
    }
    let bare = after.is_none() && before.is_none();
    let only = draft.tool.fields.iter().filter(|field| matches!(field.holds, Holds::Number { .. })).count() == 1;
    score + if only { 0.5 } else { 0.0 } + if bare { 0.4 } else { 0.0 }
}

/// "a ticket" means 1 for a count of tickets, "a point" for a change of points.
fn is_single(draft: &Draft<'_>, field: &Field, noun: &Word) -> bool {
    let changes = matches!(field.holds, Holds::Number { least, .. } if is_change(field, least));
    field.title.contains(&noun.stem) || changes && draft.tool.title.contains(&noun.stem)
}

fn is_count(field: &Field) -> bool {
    let says =
        |words: [&str; 2]| field.summary.iter().take(2).zip(words).filter(|(own, word)| *own == word).count() == 2;
    field.is(Role::Count) || says(["how", "mani"]) || says(["number", "of"])
}

/// The score of the noun before a number; only an adjacent noun can score negative.
fn named_by(draft: &Draft<'_>, field: &Field, at: usize, number: &NumberSpan) -> f32 {
    let Some(noun) = draft.reading.words.get(at) else { return 0.0 };
    let score = beside(draft, field, noun);
    let verb = acts(draft.reading.words, at, false);
    if score > 0.0 {
        score
    } else if at + 1 == number.words.start && !verb && !draft.is_taken(at) && draft.before.is_none() {
        -0.6
    } else {
        0.0
    }
}

/// How well the noun beside a number matches a parameter.
fn beside(draft: &Draft<'_>, field: &Field, noun: &Word) -> f32 {
    if field.title.contains(&noun.stem) {
        return 3.0;
    }
    match unit_fits(&noun.stem, field) {
        Some(true) => return 2.5,
        Some(false) => return -3.0,
        None => {}
    }
    if field.title.iter().any(|own| alike(own, &noun.stem)) {
        return 2.0;
    }
    if field.summary.contains(&noun.stem) {
        return 1.8;
    }
    if field.summary.iter().any(|own| alike(own, &noun.stem)) {
        return 1.2;
    }
    if draft.tool.title.contains(&noun.stem) || draft.tool.title.iter().any(|own| alike(own, &noun.stem)) {
        return 1.0;
    }
    // A countable noun supports a quantity and speaks against any other parameter.
    if is_count(field) { 1.2 } else { -0.45 }
}

/// The noun that a number counts: "5 points", "3 more of the tickets".
fn noun_after(words: &[Word], number: &NumberSpan) -> Option<usize> {
    let end = number.words.end;
    let start = (end..end + 3).find(|at| {
        !words.get(*at).is_some_and(|word| word.is_any(&["more", "of", "the", "additional", "extra", "other"]))
    })?;
    let first = words.get(start).filter(|word| is_noun(word) && !acts(words, start, false))?;
    // In "3 field mice" the last noun is the head.
    let second =
        words.get(start + 1).filter(|word| is_noun(word) && !acts(words, start + 1, true) && !first.possessive);
    let both_small = second.is_some_and(|second| second.lower.len() > 2);
    Some(if both_small { start + 1 } else { start })
}

/// The noun that a number labels: "table 1", "volume to 30".
fn noun_before(words: &[Word], number: &NumberSpan) -> Option<usize> {
    let mut at = number.words.start.checked_sub(1)?;
    for _ in 0..3 {
        let word = words.get(at)?;
        if is_noun(word) {
            return Some(at);
        }
        let links =
            word.is_any(&["to", "of", "is", "number", "#", "=", ":", "at", "by", "no", "are", "be", "level", "value"]);
        if !links && !word.joins() {
            return None;
        }
        at = at.checked_sub(1)?;
    }
    None
}

fn is_noun(word: &Word) -> bool {
    word.form == super::super::word_form::Form::Plain
        && !is_empty_word(&word.lower)
        && !PREPOSITIONS.contains(&word.lower)
}

fn take_unit(draft: &mut Draft<'_>, field: usize, number: &NumberSpan) {
    let words = draft.reading.words;
    let Some(own) = draft.tool.fields.get(field) else { return };
    if let Some(at) = noun_after(words, number)
        && words.get(at).is_some_and(|word| beside(draft, own, word) >= 1.0 && !draft.tool_counts(own, word))
    {
        draft.take(at..at + 1);
    }
    if let Some(at) = noun_before(words, number) {
        if words.get(at).is_some_and(|word| beside(draft, own, word) >= 1.0) {
            draft.take(at..at + 1);
        } else {
            draft.use_word(at);
        }
    }
}

impl Draft<'_> {
    /// Whether the parameter counts a thing that its own name and description do not mention.
    fn tool_counts(&self, field: &Field, noun: &Word) -> bool {
        let named = field.title.contains(&noun.stem) || field.summary.contains(&noun.stem);
        is_count(field) && !named && unit_fits(&noun.stem, field).is_none()
    }
}

/// "tables 1, 2 and 3": further numbers in the same row.
fn find_series(draft: &mut Draft<'_>, field: usize, first: usize) {
    let others_open = draft
        .fields()
        .any(|(index, field)| draft.is_open(index) && field.required && matches!(field.holds, Holds::Number { .. }));
    if draft.series.is_some() || others_open {
        return;
    }
    let mut values: Vec<Value> = draft.value(field).cloned().into_iter().collect();
    let mut end = draft.reading.numbers.get(first).map_or(0, |number| number.words.end);
    for number in draft.reading.numbers.iter().skip(first + 1) {
        let between = draft.reading.words.get(end..number.words.start).unwrap_or_default();
        let row = !between.is_empty() && between.iter().all(Word::joins) && !draft.any_taken(number.words.clone());
        let counts_other = noun_after(draft.reading.words, number).is_some();
        let Some(value) = fitted(draft, field, number).filter(|_| row && !number.article && !counts_other) else {
            break;
        };
        values.push(value);
        end = number.words.end;
        draft.take(number.words.clone());
    }
    if values.len() > 1 {
        draft.series = Some((field, values));
    }
}
