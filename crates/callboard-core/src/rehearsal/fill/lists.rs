//! Array parameters, filled from enumerations of names, numbers or enum values.

use std::ops::Range;

use serde_json::Value;

use super::super::catalogue::{Choice, Field, Holds};
use super::super::lexicon::is_empty_word;
use super::super::noun_phrases::Chunk;
use super::super::numbers::json_number;
use super::super::text_sort::TextSort;
use super::super::word_form::Form;
use super::super::words::{Word, original_text};
use super::draft::{Draft, Origin};
use super::phrases::{affinity, phrases_of};

const LEAST_OPTIONAL: f32 = 0.9;

/// Fills list parameters.
pub(super) fn fill_lists(draft: &mut Draft<'_>) {
    for (index, field) in draft.fields() {
        let Holds::List { of, most } = &field.holds else { continue };
        if !draft.is_open(index) {
            continue;
        }
        let mut values = match of.as_ref() {
            Holds::Choice(choices) => chosen(draft, choices),
            Holds::Number { .. } => counted(draft),
            Holds::Text(TextSort::Email) => shaped(draft, Form::Email),
            Holds::Text(_) => named(draft, field),
            _ => Vec::new(),
        };
        values.truncate(*most);
        if !values.is_empty() {
            draft.put(index, Value::Array(values), Origin::Explicit);
        }
    }
}

fn chosen(draft: &mut Draft<'_>, choices: &[Choice]) -> Vec<Value> {
    let words = draft.reading.words;
    let mut found: Vec<(usize, usize, &Value)> = Vec::new();
    for choice in choices.iter().filter(|choice| !choice.title.is_empty()) {
        let length = choice.title.len();
        let at =
            words.windows(length).position(|run| run.iter().zip(&choice.title).all(|(word, stem)| word.stem == *stem));
        found.extend(at.map(|at| (at, length, &choice.value)));
    }
    found.sort_by_key(|(at, ..)| *at);
    found.iter().for_each(|(at, length, _)| draft.take(*at..at + length));
    found.into_iter().map(|(.., value)| value.clone()).collect()
}

fn counted(draft: &mut Draft<'_>) -> Vec<Value> {
    let free: Vec<_> = draft
        .reading
        .numbers
        .iter()
        .filter(|number| !number.article && !draft.any_taken(number.words.clone()))
        .cloned()
        .collect();
    free.iter().for_each(|number| draft.take(number.words.clone()));
    free.iter().filter_map(|number| json_number(number.value)).collect()
}

fn shaped(draft: &mut Draft<'_>, form: Form) -> Vec<Value> {
    let places: Vec<usize> =
        draft.reading.words.iter().enumerate().filter(|(_, word)| word.form == form).map(|(at, _)| at).collect();
    places.iter().for_each(|at| draft.take(*at..at + 1));
    places.iter().filter_map(|at| draft.reading.words.get(*at)).map(|word| Value::String(word.text.clone())).collect()
}

fn named(draft: &mut Draft<'_>, field: &Field) -> Vec<Value> {
    let phrases = phrases_of(draft);
    let score = |chunk: &Chunk| affinity(draft, field, chunk) - if chunk.subject { 1.0 } else { 0.0 };
    let least = if field.required { 0.0 } else { LEAST_OPTIONAL };
    let best = phrases.iter().map(|chunk| (score(chunk), chunk)).filter(|(score, _)| *score >= least);
    // On a tie the first phrase begins the list.
    let Some((_, first)) = best.fold(None, |best: Option<(f32, &Chunk)>, one| match best {
        Some(other) if other.0 >= one.0 - 0.05 => Some(other),
        _ => Some(one),
    }) else {
        return Vec::new();
    };
    // "loses cover" fills the list of losses, whichever list comes first.
    let mine = affinity(draft, field, first);
    let rival = draft.fields().any(|(index, other)| {
        let list = matches!(&other.holds, Holds::List { of, .. } if matches!(of.as_ref(), Holds::Text(_)));
        list && draft.is_open(index) && !std::ptr::eq(other, field) && affinity(draft, other, first) > mine + 0.05
    });
    if rival {
        return Vec::new();
    }
    let spans = row_from(draft, first, &phrases);
    spans.iter().for_each(|span| draft.take(span.clone()));
    spans
        .into_iter()
        .filter_map(|span| draft.reading.words.get(span))
        .map(|words| Value::String(original_text(words)))
        .collect()
}

/// The phrase and those that follow it after commas and "and".
fn row_from(draft: &Draft<'_>, first: &Chunk, phrases: &[Chunk]) -> Vec<Range<usize>> {
    let words = draft.reading.words;
    let mut spans = vec![whole_name(draft, first.words.clone())];
    while let Some(end) = spans.last().map(|span| span.end) {
        let after =
            words.iter().enumerate().skip(end).find(|(_, word)| !word.joins() && !is_article(word)).map(|(at, _)| at);
        let joined = words.get(end..after.unwrap_or(end)).is_some_and(|between| between.iter().any(Word::joins));
        let next = after.filter(|_| joined).and_then(|at| phrases.iter().find(|chunk| chunk.words.start == at));
        match next {
            Some(next) => spans.push(whole_name(draft, next.words.clone())),
            None => break,
        }
    }
    spans
}

fn is_article(word: &Word) -> bool {
    word.is_any(&["the", "a", "an", "some", "my"])
}

/// In a list, a capitalised name extends to the next comma: "Love in the Afternoon".
fn whole_name(draft: &Draft<'_>, span: Range<usize>) -> Range<usize> {
    let words = draft.reading.words;
    let stop = words
        .iter()
        .enumerate()
        .skip(span.end)
        .find(|(at, word)| word.joins() || word.is_mark() || draft.is_taken(*at))
        .map_or(words.len(), |(at, _)| at);
    let all = words.get(span.start..stop).unwrap_or_default();
    let capital = all.iter().all(|word| word.capital || is_empty_word(&word.lower))
        && all.last().is_some_and(|word| word.capital);
    let led = all.iter().any(|word| word.is_any(&["for", "the", "my", "with"]) && !word.capital);
    if capital && !led { span.start..stop } else { span }
}
