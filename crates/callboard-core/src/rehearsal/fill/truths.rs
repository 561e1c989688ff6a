//! Boolean parameters: whether their subject is mentioned, and whether it is negated.

use std::sync::LazyLock;

use serde_json::Value;

use super::super::catalogue::{Field, Holds};
use super::super::lexicon::GENERIC;
use super::super::mood::negation_in;
use super::super::stem::stem;
use super::super::words::Word;
use super::draft::{Draft, Origin};

/// Stems of a parameter's name, and words that mean `false` for it.
const OPPOSITES: &[(&str, &str)] = &[
    ("success", "fail miss unsuccessful botch flop"),
    ("successful", "fail miss unsuccessful"),
    ("on", "off disable deactivate"),
    ("enable", "off disable deactivate"),
    ("open", "close shut"),
    ("lock", "unlock"),
    ("active", "inactive deactivate"),
    ("public", "private"),
    ("mute", "unmute"),
];

const AFFIRMING: &[(&str, &str)] = &[
    ("success", "succeed pass connect successful"),
    ("successful", "succeed pass"),
    ("on", "on enable activate"),
    ("enable", "on enable activate"),
];

type Forms = Vec<(String, Vec<String>)>;

static AGAINST: LazyLock<Forms> = LazyLock::new(|| stemmed(OPPOSITES));
static FOR: LazyLock<Forms> = LazyLock::new(|| stemmed(AFFIRMING));

fn stemmed(table: &[(&str, &str)]) -> Forms {
    table.iter().map(|(name, forms)| (stem(name), forms.split(' ').map(stem).collect())).collect()
}

/// Fills boolean parameters whose subject is mentioned.
pub(super) fn fill_truths(draft: &mut Draft<'_>) {
    for (index, field) in draft.fields().filter(|(_, field)| matches!(field.holds, Holds::Truth)) {
        if !draft.is_open(index) {
            continue;
        }
        if let Some((at, truth)) = spoken_truth(draft.reading.words, field) {
            let denied = negation_in(draft.reading.words).is_some();
            draft.put(index, Value::Bool(truth != denied), Origin::Explicit);
            draft.take(at..at + 1);
            draft.negation_consumed |= denied;
        }
    }
}

fn spoken_truth(words: &[Word], field: &Field) -> Option<(usize, bool)> {
    let listed = |table: &Forms, word: &Word| {
        table.iter().any(|(name, forms)| field.title.contains(name) && forms.contains(&word.stem))
    };
    let against = words.iter().position(|word| listed(&AGAINST, word)).map(|at| (at, false));
    let affirmed = || words.iter().position(|word| listed(&FOR, word)).map(|at| (at, true));
    against.or_else(|| named(words, field).map(|at| (at, true))).or_else(affirmed)
}

/// The position of the parameter's name: all of its distinctive words, or the last one.
fn named(words: &[Word], field: &Field) -> Option<usize> {
    let distinctive: Vec<&String> = field
        .title
        .iter()
        .filter(|own| {
            !GENERIC.contains(own.as_str()) && !["has", "have", "should", "was", "are", "can"].contains(&own.as_str())
        })
        .collect();
    let place = |own: &String| words.iter().position(|word| word.stem == *own);
    let all: Option<Vec<usize>> = distinctive.iter().map(|own| place(own)).collect();
    if let Some(found) = all.filter(|found| !found.is_empty()) {
        return found.last().copied();
    }
    let head = distinctive.last().filter(|_| distinctive.len() > 1)?;
    place(head)
}
