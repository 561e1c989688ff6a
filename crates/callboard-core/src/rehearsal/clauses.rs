//! Speech cut into clauses, and corrections within it ("no wait, 3").
//!
//! Clauses are only where one may begin or end: which of them belong together is decided by what can be made of them.

use std::ops::Range;

use super::words::Word;

/// Speech in which something was taken back while it was said.
pub(super) struct Correction {
    pub(super) before: Vec<Word>,
    pub(super) after: Vec<Word>,
}

const MARKERS: &[&[&str]] = &[
    &["no", "wait"],
    &["no", ",", "wait"],
    &["wait", ",", "no"],
    &["wait", "no"],
    &["scratch", "that"],
    &["strike", "that"],
    &["i", "mean"],
    &["i", "meant"],
    &["correction"],
    &["make", "that"],
    &["make", "it"],
    &["or", "rather"],
    &["no", "actually"],
    &["no", ",", "actually"],
    &[",", "actually"],
    &["never", "mind"],
    &["nevermind"],
    &["forget", "that"],
    &["forget", "it"],
    &[",", "no", ","],
    &[",", "sorry", ","],
    &[",", "wait", ","],
];

/// The clauses of the words, without the marks and joining words between them.
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

/// Whether a sentence ends between two words.
pub(super) fn sentence_ends(word: &Word) -> bool {
    word.is_any(&[".", "!", "?", "…"])
}

/// The last correction, where something came before it.
pub(super) fn correction_in(words: &[Word]) -> Option<Correction> {
    let (at, end) = (0..words.len()).rev().find_map(|at| marker_end(words, at).map(|end| (at, end)))?;
    let before = words.get(..at)?.to_vec();
    let after = words.get(skip_marks(words, end)..)?.to_vec();
    Some(Correction { before, after })
}

/// Where a correction marker that begins here ends.
fn marker_end(words: &[Word], at: usize) -> Option<usize> {
    MARKERS
        .iter()
        .filter(|marker| at > 0 || marker.first() != Some(&"make"))
        .filter(|marker| {
            marker.iter().enumerate().all(|(offset, part)| words.get(at + offset).is_some_and(|word| word.is(part)))
        })
        .map(|marker| at + marker.len())
        .max()
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
    use super::super::words::{said, words_of};
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
                clauses_of(&words).into_iter().map(|clause| said(words.get(clause).unwrap_or(&[]))).collect();
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
        ] {
            let spaced = |words: &[Word]| words.iter().map(|word| word.said.as_str()).collect::<Vec<_>>().join(" ");
            let found = correction_in(&words_of(text)).map(|found| (spaced(&found.before), spaced(&found.after)));
            assert_eq!(found, expected.map(|(before, after)| (before.to_owned(), after.to_owned())), "{text}");
        }
    }
}
