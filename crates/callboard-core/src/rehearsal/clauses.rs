//! Splits an utterance into clauses and finds self-corrections ("no wait, 3").
//!
//! Clauses are candidate boundaries only; the planner decides which of them form one call.

use std::ops::Range;

use super::words::Word;

/// An utterance that corrects itself.
pub(super) struct Correction {
    pub(super) before: Vec<Word>,
    pub(super) after: Vec<Word>,
    pub(super) kind: Kind,
}

/// What a correction does to the previous call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// "scratch that": undo it in any case.
    Retract,
    /// "I meant", "actually that was": undo it if a replacement follows.
    Replace,
    /// "never mind", "no wait": nothing to undo.
    Drop,
}

const MARKERS: &[(Kind, &[&str])] = &[
    (Kind::Retract, &["scratch", "that"]),
    (Kind::Retract, &["strike", "that"]),
    (Kind::Replace, &["i", "mean"]),
    (Kind::Replace, &["i", "meant"]),
    (Kind::Replace, &["correction"]),
    (Kind::Replace, &["make", "that"]),
    (Kind::Replace, &["make", "it"]),
    (Kind::Replace, &["or", "rather"]),
    (Kind::Replace, &["actually", "that", "was"]),
    (Kind::Replace, &["actually", "it", "was"]),
    (Kind::Replace, &["no", ",", "it", "was"]),
    (Kind::Replace, &["no", ",", "that", "was"]),
    (Kind::Drop, &["no", "wait"]),
    (Kind::Drop, &["no", ",", "wait"]),
    (Kind::Drop, &["wait", ",", "no"]),
    (Kind::Drop, &["wait", "no"]),
    (Kind::Drop, &["no", "actually"]),
    (Kind::Drop, &["no", ",", "actually"]),
    (Kind::Drop, &[",", "actually"]),
    (Kind::Drop, &["never", "mind"]),
    (Kind::Drop, &["nevermind"]),
    (Kind::Drop, &["forget", "that"]),
    (Kind::Drop, &["forget", "it"]),
    (Kind::Drop, &[",", "no", ","]),
    (Kind::Drop, &[",", "sorry", ","]),
    (Kind::Drop, &[",", "wait", ","]),
];

/// The clauses, without the punctuation and conjunctions between them.
pub(super) fn clauses_of(words: &[Word]) -> Vec<Range<usize>> {
    let mut clauses = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        if parts(words, at, word) {
            clauses.push(start..at);
            start = at + 1;
        }
    }
    clauses.push(start..words.len());
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

fn parts(words: &[Word], at: usize, word: &Word) -> bool {
    if word.is_mark() {
        return word.is_any(&[".", "!", "?", ";", ",", "…", "–"]);
    }
    if word.is_any(&["and", "then", "but", "&", "plus"]) {
        // "two and a half" and "three hundred and five" are numbers.
        let half = words.get(at + 2).is_some_and(|next| next.is("half"));
        let hundred = at > 0 && words.get(at - 1).is_some_and(|before| before.is_any(&["hundred", "thousand"]));
        return !half && !hundred;
    }
    false
}

/// Whether this word ends a sentence.
pub(super) fn sentence_ends(word: &Word) -> bool {
    word.is_any(&[".", "!", "?", "…"])
}

/// The last correction in the utterance.
pub(super) fn correction_in(words: &[Word]) -> Option<Correction> {
    let (at, end, kind) =
        (0..words.len()).rev().find_map(|at| marker_at(words, at).map(|(end, kind)| (at, end, kind)))?;
    let before = words.get(..at)?.to_vec();
    let after = without_denied(words.get(skip_marks(words, end)..)?);
    Some(Correction { before, after, kind })
}

/// The longest correction marker that begins here: its end and its kind.
fn marker_at(words: &[Word], at: usize) -> Option<(usize, Kind)> {
    let follows = |marker: &[&str]| {
        marker.iter().enumerate().all(|(offset, part)| words.get(at + offset).is_some_and(|word| word.is(part)))
    };
    let found = MARKERS.iter().filter(|(_, marker)| (at > 0 || marker.first() != Some(&"make")) && follows(marker));
    found.map(|(kind, marker)| (at + marker.len(), *kind)).max_by_key(|(end, _)| *end)
}

/// "4 points, not 3": drops the negated part.
fn without_denied(after: &[Word]) -> Vec<Word> {
    let denied = after.iter().rposition(|word| word.is("not")).filter(|at| *at > 0 && after.len() - at <= 4);
    after.get(..denied.unwrap_or(after.len())).unwrap_or_default().to_vec()
}

fn skip_marks(words: &[Word], mut at: usize) -> usize {
    while words.get(at).is_some_and(|word| {
        word.is_mark() || word.is_any(&["no", "wait", "actually", "that", "it", "was", "is", "should", "be"])
    }) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::words::{original_text, words_of};
    use super::*;

    #[test]
    fn clauses_are_cut_at_marks_and_joining_words() {
        for (text, expected) in [
            ("turn it on and play jazz, then stop", &["turn it on", "play jazz", "stop"][..]),
            ("two and a half hours", &["two and a half hours"]),
            ("one hundred and five", &["one hundred and five"]),
            ("", &[]),
        ] {
            let words = words_of(text);
            let clauses: Vec<String> =
                clauses_of(&words).into_iter().map(|clause| original_text(words.get(clause).unwrap_or(&[]))).collect();
            assert_eq!(clauses, expected, "{text}");
        }
    }

    #[test]
    fn the_last_correction_counts() {
        for (text, expected) in [
            ("take 2, no wait, 3 of them", Some(("take 2 ,", "3 of them"))),
            ("add milk. Scratch that, add eggs", Some(("add milk .", "add eggs"))),
            ("scratch that, add eggs", Some(("", "add eggs"))),
            ("add milk", None),
            ("Actually that was 4 points, not 3", Some(("", "4 points ,"))),
        ] {
            let spaced = |words: &[Word]| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let found = correction_in(&words_of(text)).map(|found| (spaced(&found.before), spaced(&found.after)));
            assert_eq!(found, expected.map(|(before, after)| (before.to_owned(), after.to_owned())), "{text}");
        }
    }
}
