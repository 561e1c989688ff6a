//! Assigns noun phrases to text parameters.
//!
//! The score of a pair comes from prepositions, the verb, the position in the sentence and neighbouring words. A phrase that
//! only repeats the tool's own words is skipped. Phrases keep their wording; known names are resolved later.

use std::ops::Range;

use serde_json::Value;

use super::super::catalogue::{Field, Holds, Tool};
use super::super::lexicon::{VERBS, is_empty_word};
use super::super::noun_phrases::{Chunk, chunks_in};
use super::super::own_or_other::{side_of_noun, sided};
use super::super::prepositions::leads_to;
use super::super::role::Role;
use super::super::text_sort::TextSort;
use super::super::word_form::Form;
use super::super::words::{Word, original_text};
use super::draft::{Draft, Origin};

const LEAST_REQUIRED: f32 = 0.2;
const LEAST_OPTIONAL: f32 = 1.0;
const CLEARLY: f32 = 1.6;

/// Fills text parameters of the sorts name, place and person.
pub(super) fn fill_phrases(draft: &mut Draft<'_>) {
    let chunks: Vec<Chunk> = phrases_of(draft);
    let mut pairs = best_pairs(draft, &chunks, false);
    let left_open = |pairs: &[Pair]| {
        draft.fields().any(|(index, field)| {
            field.required && wants_name(field) && draft.is_open(index) && !pairs.iter().any(|pair| pair.field == index)
        })
    };
    // An optional parameter must not take the only phrase from a required one.
    if left_open(&pairs) {
        pairs = best_pairs(draft, &chunks, true);
    }
    for pair in pairs {
        let Some(chunk) = chunks.get(pair.chunk) else { return };
        let value = draft.reading.words.get(chunk.words.clone()).map(original_text).unwrap_or_default();
        draft.put(
            pair.field,
            Value::String(value),
            if pair.score >= CLEARLY { Origin::Explicit } else { Origin::Guessed },
        );
        draft.take(chunk.words.clone());
        if let Some(slot) = draft.phrases.get_mut(pair.field) {
            *slot = Some(chunk.clone());
        }
    }
}

/// A phrase assigned to a parameter.
struct Pair {
    field: usize,
    chunk: usize,
    score: f32,
}

/// The candidate phrases, trimmed of the tool's own words.
pub(super) fn phrases_of(draft: &mut Draft<'_>) -> Vec<Chunk> {
    let mut phrases = Vec::new();
    let sides =
        draft.fields().any(|(_, field)| matches!(&field.holds, Holds::Choice(choices) if sided(choices).is_some()));
    for chunk in chunks_in(draft.reading.words, &draft.taken) {
        let words = trimmed(draft.tool, draft.reading.words, chunk.words.clone());
        for at in chunk.words.clone().filter(|at| !words.contains(at)) {
            draft.use_word(at);
        }
        if !words.is_empty() && (!sides || !names_side(draft.reading.words, &words)) {
            phrases.push(Chunk { words, ..chunk });
        }
    }
    phrases
}

/// Whether the phrase is a side noun such as "the opponent".
fn names_side(words: &[Word], span: &Range<usize>) -> bool {
    words.get(span.clone()).is_some_and(|span| span.iter().all(|word| side_of_noun(&word.lower).is_some()))
}

fn trimmed(tool: &Tool, words: &[Word], whole: Range<usize>) -> Range<usize> {
    let mut span = whole.clone();
    let proper = |at: usize, neighbour: usize| {
        let capital = |at: usize| words.get(at).is_some_and(|word| word.capital);
        at > 0 && capital(at) && capital(neighbour)
    };
    let own = |at: usize, leading: bool| {
        let Some(word) = words.get(at).filter(|word| word.form == Form::Plain && !word.possessive) else {
            return false;
        };
        let named = if leading { tool.names(&word.stem) } else { tool.title.contains(&word.stem) };
        let in_summary = !word.capital && tool.summary.contains(&word.stem) && (leading || !tool.names(&word.stem));
        let leads = !leading || words.get(at + 1).is_some_and(|next| next.is("of") || next.capital);
        is_empty_word(&word.lower) && !word.capital || named || in_summary && whole.len() > 1 && leads
    };
    while !span.is_empty() && own(span.start, true) && !(span.len() > 1 && proper(span.start, span.start + 1)) {
        span.start += 1;
    }
    while !span.is_empty()
        && own(span.end - 1, false)
        && !(span.len() > 1 && proper(span.end - 1, span.end.saturating_sub(2)))
    {
        span.end -= 1;
    }
    span
}

/// Greedy assignment of phrases to parameters, best pair first, each used once.
fn best_pairs(draft: &Draft<'_>, chunks: &[Chunk], required_only: bool) -> Vec<Pair> {
    let open = |(index, field): &(usize, &Field)| {
        draft.is_open(*index) && wants_name(field) && (field.required || !required_only)
    };
    let first = draft.fields().filter(open).find(|(_, field)| field.required).map(|(index, _)| index);
    let mut all: Vec<Pair> = Vec::new();
    for (field, own) in draft.fields().filter(open) {
        let least = if own.required || is_only_text(draft.tool) { LEAST_REQUIRED } else { LEAST_OPTIONAL };
        for (chunk, phrase) in chunks.iter().enumerate() {
            let score = affinity(draft, own, phrase) + if first == Some(field) { 0.3 } else { 0.0 };
            if score >= least {
                all.push(Pair { field, chunk, score });
            }
        }
    }
    all.sort_by(|one, other| other.score.total_cmp(&one.score));
    let mut kept: Vec<Pair> = Vec::new();
    for pair in all {
        if !kept.iter().any(|other| other.field == pair.field || other.chunk == pair.chunk) {
            kept.push(pair);
        }
    }
    kept
}

/// Whether the tool has a single text parameter, which then takes any phrase.
fn is_only_text(tool: &Tool) -> bool {
    tool.fields.iter().filter(|field| matches!(field.holds, Holds::Text(_))).count() == 1
}

fn wants_name(field: &Field) -> bool {
    matches!(field.holds, Holds::Text(TextSort::Name | TextSort::Place | TextSort::Person))
}

/// The score of a phrase as the value of a parameter.
pub(super) fn affinity(draft: &Draft<'_>, field: &Field, chunk: &Chunk) -> f32 {
    let words = draft.reading.words;
    let mut score = if field.required || is_only_text(draft.tool) { 0.5 } else { 0.0 };
    score += match &chunk.preposition {
        Some(preposition) => led(preposition, field),
        None if chunk.subject => as_subject(field),
        None => as_object(field),
    };
    if beside_title(words, field, chunk) {
        score += 1.2;
    }
    let own = words.get(chunk.words.clone()).unwrap_or_default();
    if own.iter().any(|word| word.form == Form::Quote) {
        score += if matches!(field.holds, Holds::Text(TextSort::Name)) { 1.0 } else { -1.5 };
    }
    if own.iter().any(|word| word.form == Form::Plain && field.summary.contains(&word.stem)) {
        score += 0.5;
    }
    if counted(draft, chunk) {
        score -= 0.8;
    }
    if wants_code(field) && !own.iter().any(is_code) {
        score -= 2.0;
    }
    if own
        .iter()
        .all(|word| word.lower.ends_with("ly") || VERBS.contains(&word.stem) && !word.capital && own.len() == 1)
    {
        score -= 0.6;
    }
    score
}

/// Whether the parameter wants a code: a number or an id as text, with digits or capitals.
fn wants_code(field: &Field) -> bool {
    field.is(Role::Code) && !field.is(Role::PlainName)
}

fn is_code(word: &Word) -> bool {
    let digits = word.text.bytes().any(|byte| byte.is_ascii_digit());
    digits || word.text.len() > 1 && word.text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Whether an unassigned number precedes the phrase, which makes it an amount, not a name.
fn counted(draft: &Draft<'_>, chunk: &Chunk) -> bool {
    let number = draft.reading.numbers.iter().find(|number| number.words.end == chunk.words.start && !number.article);
    number.is_some_and(|number| !draft.any_taken(number.words.clone()))
}

/// How well a preposition fits the parameter; may be negative.
fn led(preposition: &str, field: &Field) -> f32 {
    let lead = leads_to(preposition, field);
    if lead != 0.0 {
        return lead;
    }
    match preposition {
        "of" | "to" | "on" | "called" | "named" => 0.1,
        "with" | "for" | "at" | "against" => -0.1,
        "in" | "like" | "as" => -0.5,
        "from" | "by" | "because" | "after" | "before" | "during" | "than" | "without" => -0.9,
        _ => -0.3,
    }
}

fn as_subject(field: &Field) -> f32 {
    if field.is(Role::Doer) {
        1.5
    } else if field.is(Role::Undergoer) {
        -1.5
    } else {
        0.6
    }
}

fn as_object(field: &Field) -> f32 {
    let place = matches!(field.holds, Holds::Text(TextSort::Place));
    if field.is(Role::Doer) {
        -0.8
    } else if field.is(Role::Undergoer) {
        1.1
    } else if place {
        0.0
    } else {
        0.5
    }
}

/// Whether the parameter's name directly precedes the phrase or ends it.
fn beside_title(words: &[Word], field: &Field, chunk: &Chunk) -> bool {
    let before = (1..=2).filter_map(|back| chunk.words.start.checked_sub(back)).filter_map(|at| words.get(at));
    let after = words.get(chunk.words.end);
    before.chain(after).any(|word| field.distinctive_stems().any(|own| *own == word.stem))
}
