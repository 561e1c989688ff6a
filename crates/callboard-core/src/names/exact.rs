//! The fast path: exact matches up to case, articles, plural and word order.

use std::collections::HashMap;

use super::words::{Role, Word};

const ARTICLES: [&str; 9] = ["a", "an", "the", "my", "your", "our", "his", "her", "their"];

/// Exact matches by normalised words.
#[derive(Clone, Debug, Default)]
pub(super) struct ExactNames {
    as_written: HashMap<String, Vec<usize>>,
    by_stems: HashMap<String, Vec<usize>>,
}

impl ExactNames {
    pub(super) fn insert(&mut self, words: &[Word], entry: usize) {
        remember(&mut self.as_written, written(words), entry);
        remember(&mut self.by_stems, stems(words), entry);
    }

    /// Matching entries in book order; several if names differ only in ignored words.
    pub(super) fn find(&self, words: &[Word]) -> &[usize] {
        let found = self.as_written.get(&written(words)).or_else(|| self.by_stems.get(&stems(words)));
        found.map(Vec::as_slice).unwrap_or_default()
    }
}

fn remember(names: &mut HashMap<String, Vec<usize>>, key: String, entry: usize) {
    if key.is_empty() {
        return;
    }
    let entries = names.entry(key).or_default();
    if !entries.contains(&entry) {
        entries.push(entry);
    }
}

fn written(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

fn stems(words: &[Word]) -> String {
    let mut stems: Vec<String> =
        counted(words).map(|word| word.number.map_or_else(|| word.stem.clone(), |number| number.to_string())).collect();
    stems.sort_unstable();
    stems.join(" ")
}

/// "The Who" has stop words only, so the words after the article count; "The The" has articles only.
fn counted(words: &[Word]) -> impl Iterator<Item = &Word> {
    let is_distinctive = |word: &Word| word.role != Role::Silent || word.number.is_some();
    let is_article = |word: &Word| ARTICLES.contains(&word.text.as_str());
    let (has_distinctive, has_others) = (words.iter().any(is_distinctive), !words.iter().all(is_article));
    words.iter().filter(move |word| match (has_distinctive, has_others) {
        (true, _) => is_distinctive(word),
        (false, true) => !is_article(word),
        (false, false) => true,
    })
}
