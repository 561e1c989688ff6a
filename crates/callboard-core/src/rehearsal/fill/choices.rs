//! Enum values, matched by name, by synonym, or by their explanation in the description.

use std::ops::Range;

use serde_json::Value;

use super::super::catalogue::{Choice, Field, Holds};
use super::super::lexicon::{GENERIC, is_empty_word};
use super::super::noun_phrases::acts;
use super::super::own_or_other::{side_of_noun, sided};
use super::super::prepositions::leads_to;
use super::super::synonyms::alike;
use super::super::vocabulary::small_phrases;
use super::super::words::Word;
use super::draft::{Draft, Origin};

/// An enum value matched in the words, with its score.
#[derive(Clone)]
struct Mention {
    field: usize,
    choice: usize,
    words: Vec<usize>,
    score: f32,
    /// Matched by its own words, not by a synonym or explanation.
    by_name: bool,
}

const WHOLE: f32 = 1.0;
const LEAST_REQUIRED: f32 = 0.45;
const LEAST_OPTIONAL: f32 = 0.62;

/// Fills enum parameters whose values are named.
pub(super) fn fill_choices(draft: &mut Draft<'_>) {
    let mut mentions: Vec<Mention> = Vec::new();
    for (index, field) in draft.fields() {
        if let Holds::Choice(choices) = &field.holds {
            mentions.extend(clear_mentions(draft, index, field, choices));
        }
    }
    mentions.sort_by(|one, other| other.score.total_cmp(&one.score));
    for mention in mentions.clone() {
        let clash = mention.by_name && mention.words.iter().any(|at| draft.is_taken(*at));
        if draft.is_open(mention.field) && !clash {
            place(draft, &mention);
            find_series(draft, &mention, &mentions);
        }
    }
}

fn clear_mentions(draft: &Draft<'_>, index: usize, field: &Field, choices: &[Choice]) -> Vec<Mention> {
    let least = if field.required && field.default.is_none() { LEAST_REQUIRED } else { LEAST_OPTIONAL };
    let has_sides = sided(choices).is_some();
    let is_side =
        |choice: &Choice| choice.value.as_str().is_some_and(|value| side_of_noun(&value.to_lowercase()).is_some());
    let mut found: Vec<Mention> = choices
        .iter()
        .enumerate()
        .filter(|(_, choice)| !(has_sides && is_side(choice)))
        .filter_map(|(at, choice)| mention(draft, (index, field), (at, choice), choices))
        .filter(|mention| mention.score >= least)
        .collect();
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    let tied = matches!(found.as_slice(), [one, other, ..] if !one.by_name && one.score - other.score < 0.04);
    if tied { Vec::new() } else { found }
}

fn mention(draft: &Draft<'_>, field: (usize, &Field), choice: (usize, &Choice), all: &[Choice]) -> Option<Mention> {
    let (index, field) = field;
    let (at, choice) = choice;
    let words = draft.reading.words;
    let (found, score, by_name) = by_number(draft, choice)
        .or_else(|| by_whole_name(words, choice))
        .or_else(|| by_part(words, choice, all))
        .or_else(|| by_hint(words, choice, all))?;
    let lead = found.first().map_or(0.0, |first| leading_preposition(words, *first, field));
    let score = score + lead;
    Some(Mention { field: index, choice: at, words: found, score, by_name })
}

/// "from" or "to" before a value selects between two parameters with the same values.
fn leading_preposition(words: &[Word], at: usize, field: &Field) -> f32 {
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    before.map_or(0.0, |before| leads_to(&before.lower, field).clamp(-1.5, 2.0) * 0.15)
}

fn by_number(draft: &Draft<'_>, choice: &Choice) -> Option<(Vec<usize>, f32, bool)> {
    let value = choice.value.as_f64()?;
    let number = draft.reading.numbers.iter().find(|number| number.value == value && !number.article)?;
    Some((number.words.clone().collect(), WHOLE, true))
}

/// All words of the value: adjacent, joined, or scattered.
fn by_whole_name(words: &[Word], choice: &Choice) -> Option<(Vec<usize>, f32, bool)> {
    if choice.title.is_empty() {
        return None;
    }
    let long = 0.1 * (choice.title.len() - 1) as f32;
    if let Some(run) = run_of(words, &choice.title) {
        return Some((run.collect(), WHOLE + long, true));
    }
    if choice.value.as_str().is_some_and(|value| value.eq_ignore_ascii_case("none")) {
        return none_words(words).map(|run| (run.collect(), WHOLE, true));
    }
    let apart: Option<Vec<usize>> =
        choice.title.iter().map(|stem| words.iter().position(|word| word.stem == *stem)).collect();
    apart.filter(|found| found.len() > 1).map(|found| (found, 0.85, true))
}

fn run_of(words: &[Word], title: &[String]) -> Option<Range<usize>> {
    let at = (0..words.len()).find(|at| {
        words
            .get(*at..*at + title.len())
            .is_some_and(|run| run.iter().zip(title).all(|(word, stem)| word.stem == *stem))
    })?;
    Some(at..at + title.len())
}

fn none_words(words: &[Word]) -> Option<Range<usize>> {
    let single = words.iter().position(|word| word.is_any(&["nobody", "neither", "unclaimed", "neutral", "nothing"]));
    single.map(|at| at..at + 1).or_else(|| {
        let pair = words.windows(2).position(|pair| matches!(pair, [one, two] if one.is("no") && two.is("one")))?;
        Some(pair..pair + 2)
    })
}

/// Some words of the value that no other value has.
fn by_part(words: &[Word], choice: &Choice, all: &[Choice]) -> Option<(Vec<usize>, f32, bool)> {
    let own = |stem: &String| {
        all.iter().filter(|other| other.title.contains(stem)).count() == 1
            && !is_empty_word(stem)
            && choice.title.len() > 1
    };
    let found: Vec<usize> = choice
        .title
        .iter()
        .filter(|stem| own(stem))
        .filter_map(|stem| words.iter().position(|word| word.stem == *stem && !is_empty_word(&word.lower)))
        .collect();
    (!found.is_empty()).then(|| {
        let telling = choice.title.iter().filter(|stem| !GENERIC.contains(stem.as_str())).count().max(1);
        let share = (found.len() as f32 / telling as f32).min(1.0);
        (found, 0.45 + 0.4 * share, false)
    })
}

/// Synonyms of the value, and words of its explanation.
fn by_hint(words: &[Word], choice: &Choice, all: &[Choice]) -> Option<(Vec<usize>, f32, bool)> {
    let own = |stem: &str| all.iter().filter(|other| other.gloss.iter().any(|gloss| gloss == stem)).count() == 1;
    let mut found = Vec::new();
    let mut score: f32 = 0.0;
    for (at, word) in words.iter().enumerate().filter(|(_, word)| !is_empty_word(&word.lower)) {
        if choice.title.iter().any(|title| !is_empty_word(title) && alike(title, &word.stem)) {
            score = score.max(0.5) + 0.1;
            found.push(at);
        } else if choice.gloss.contains(&word.stem) && own(&word.stem) {
            score = score.max(0.4) + 0.12;
            found.push(at);
        }
    }
    let turns = small_phrases(choice.gloss.iter().map(String::as_str));
    let phrases = small_phrases(words.iter().map(|word| word.stem.as_str()));
    if turns.iter().any(|turn| phrases.contains(turn)) {
        score = score.max(0.4) + 0.15;
    }
    (score > 0.0).then_some((found, score.min(0.95), false))
}

fn place(draft: &mut Draft<'_>, mention: &Mention) {
    let Some(value) = value_of(draft, mention) else { return };
    let origin = if mention.by_name { Origin::Explicit } else { Origin::Guessed };
    draft.put(mention.field, value, origin);
    draft.negation_consumed |=
        mention.words.iter().any(|at| draft.reading.words.get(*at).is_some_and(|word| word.is_any(&["not", "no"])));
    for at in mention.words.iter().copied() {
        let verb = draft.reading.words.get(at).is_some_and(|_| acts(draft.reading.words, at, false));
        if mention.by_name || !verb { draft.take(at..at + 1) } else { draft.use_word(at) }
    }
}

fn value_of(draft: &Draft<'_>, mention: &Mention) -> Option<Value> {
    match &draft.tool.fields.get(mention.field)?.holds {
        Holds::Choice(choices) => choices.get(mention.choice).map(|choice| choice.value.clone()),
        _ => None,
    }
}

/// Several values of one enum in a row: one call each.
fn find_series(draft: &mut Draft<'_>, first: &Mention, all: &[Mention]) {
    let mut row = vec![first];
    let mut others: Vec<&Mention> = all
        .iter()
        .filter(|other| other.field == first.field && other.by_name && other.choice != first.choice)
        .collect();
    others.sort_by_key(|other| other.words.first().copied());
    for other in others {
        if row.iter().any(|member| only_joined(draft.reading.words, &member.words, &other.words)) {
            row.push(other);
        }
    }
    if row.len() < 2 || draft.series.is_some() || !first.by_name {
        return;
    }
    row.sort_by_key(|member| member.words.first().copied());
    let values: Vec<Value> = row.iter().filter_map(|member| value_of(draft, member)).collect();
    row.iter().flat_map(|member| &member.words).for_each(|at| draft.take(*at..*at + 1));
    draft.series = Some((first.field, values));
}

/// Whether only commas, "and" and articles separate two mentions.
fn only_joined(words: &[Word], one: &[usize], other: &[usize]) -> bool {
    let (Some(one_end), Some(other_end)) = (one.iter().max(), other.iter().max()) else { return false };
    let (start, end) =
        if one_end < other_end { (one_end + 1, other.iter().min()) } else { (other_end + 1, one.iter().min()) };
    let Some(between) = end.and_then(|end| words.get(start..*end)) else { return false };
    between.iter().any(Word::joins) && between.iter().all(|word| word.joins() || word.is_any(&["the", "my", "in"]))
}
