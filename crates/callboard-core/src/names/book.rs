//! The index of names: built once, then queried.
//!
//! Names and aliases are split into phrases, and equal phrases of different names are stored once. Every phrase of a query is
//! compared with every stored one; only names with a match are scored.

use std::collections::{HashMap, HashSet};

use super::adjacent_words::{Outline, Phrase};
use super::exact::ExactNames;
use super::resolution::{Candidate, Method, Resolution, decide};
use super::score::{self, Form, Pair, Query};
use super::words::{Role, Word, words_of};

/// Further words are ignored.
const WORDS_READ: usize = 64;

/// Further words count only in an exact match: longer names are rare, and comparing is slow.
const WORDS_COMPARED: usize = 16;

/// A word is common if at least three names and this share of all names have it.
const COMMON_SHARE: f64 = 0.25;
const COMMON_NAMES: usize = 3;
const COMMON_WEIGHT: f64 = 0.4;

/// A name and its aliases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameEntry {
    /// The canonical name, returned as written here.
    pub name: String,
    /// Nicknames and short forms.
    pub aliases: Vec<String>,
}

impl From<&str> for NameEntry {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), aliases: Vec::new() }
    }
}

/// Names prepared for lookup.
#[derive(Clone, Debug, Default)]
pub struct NameBook {
    names: Vec<String>,
    exact: ExactNames,
    exact_aliases: ExactNames,
    forms: Vec<Form>,
    phrases: Vec<KnownPhrase>,
    /// Prefilters, parallel to `phrases`.
    outlines: Vec<Outline>,
    weights: HashMap<String, f64>,
}

/// A phrase and where it occurs: form, first word, word after the last.
#[derive(Clone, Debug)]
struct KnownPhrase {
    phrase: Phrase,
    places: Vec<(usize, usize, usize)>,
}

impl NameBook {
    /// Indexes the names; a later entry of the same name only adds aliases.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = NameEntry>) -> Self {
        let mut book = Self::default();
        let mut forms = Vec::new();
        let mut entry_of: HashMap<String, usize> = HashMap::new();
        for NameEntry { name, aliases } in entries {
            let entry = *entry_of.entry(name.clone()).or_insert(book.names.len());
            if entry == book.names.len() {
                let words = words_of(&name, WORDS_READ);
                book.exact.insert(&words, entry);
                book.names.push(name);
                forms.push((entry, words));
            }
            for alias in aliases {
                let words = words_of(&alias, WORDS_READ);
                book.exact_aliases.insert(&words, entry);
                forms.push((entry, words));
            }
        }
        book.weights = weights_of(&forms, book.names.len());
        book.add_forms(&forms);
        book
    }

    fn add_forms(&mut self, forms: &[(usize, Vec<Word>)]) {
        let mut known: HashMap<String, usize> = HashMap::new();
        for (entry, words) in forms {
            let words = compared(words);
            let form = self.form_of(*entry, words);
            for phrase in Phrase::all(words).into_iter().filter(|phrase| is_indexed(phrase, words)) {
                let place = (self.forms.len(), phrase.start, phrase.end);
                match known.get(&phrase.letters.text).and_then(|index| self.phrases.get_mut(*index)) {
                    Some(kept) => kept.places.push(place),
                    None => {
                        known.insert(phrase.letters.text.clone(), self.phrases.len());
                        self.phrases.push(KnownPhrase { phrase, places: vec![place] });
                    }
                }
            }
            self.forms.push(form);
        }
        // Sorted by length, so that the branch in `rules_out` is predictable.
        self.phrases.sort_by_key(|known| known.phrase.letters.length());
        self.outlines = self.phrases.iter().map(|known| known.phrase.outline()).collect();
    }

    fn form_of(&self, entry: usize, words: &[Word]) -> Form {
        let mut weights: Vec<f64> = words.iter().map(|word| self.weight_in_name(word)).collect();
        if weights.iter().all(|weight| *weight <= 0.0) {
            weights.fill(1.0);
        }
        Form { entry, weights, numbers: words.iter().map(|word| word.number).collect() }
    }

    fn weight_in_name(&self, word: &Word) -> f64 {
        match word.role {
            _ if word.number.is_some() => 1.0,
            Role::Generic | Role::Silent => 0.0,
            Role::Weighty | Role::Owner => self.weights.get(&word.stem).copied().unwrap_or(1.0),
        }
    }

    fn weight_in_query(&self, word: &Word) -> f64 {
        score::unmatched_weight(word) * self.weights.get(&word.stem).copied().unwrap_or(1.0)
    }

    /// Resolves a query to a name.
    #[must_use]
    pub fn resolve(&self, query: &str) -> Resolution {
        let words = words_of(query, WORDS_READ);
        for (exact, method) in [(&self.exact, Method::Exact), (&self.exact_aliases, Method::Alias)] {
            let found = exact.find(&words);
            if !found.is_empty() {
                return decide(found.iter().filter_map(|entry| Some((self.candidate(*entry, 1.0)?, method))).collect());
            }
        }
        decide(self.score_all(compared(&words)))
    }

    fn score_all(&self, words: &[Word]) -> Vec<(Candidate, Method)> {
        let weights: Vec<f64> = words.iter().map(|word| self.weight_in_query(word)).collect();
        let query = Query { words, weights: &weights };
        let mut pairs = self.pairs(words);
        pairs.sort_by_key(|pair| pair.form);
        let mut best: HashMap<usize, (f64, Method)> = HashMap::new();
        for of_form in pairs.chunk_by(|one, other| one.form == other.form) {
            let Some(form) = of_form.first().and_then(|pair| self.forms.get(pair.form)) else { continue };
            let Some(scored) = score::score(form, &query, of_form) else { continue };
            let kept = best.entry(form.entry).or_insert(scored);
            if scored.0 > kept.0 {
                *kept = scored;
            }
        }
        let mut entries: Vec<_> = best.into_iter().collect();
        entries.sort_by_key(|(entry, _)| *entry);
        entries
            .into_iter()
            .filter_map(|(entry, (score, method))| Some((self.candidate(entry, score)?, method)))
            .collect()
    }

    /// All phrases of the query that match a phrase of a name.
    fn pairs(&self, words: &[Word]) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for query in Phrase::all(words).iter().filter(|phrase| is_queried(phrase, words)) {
            let outline = query.outline();
            let is_distinctive = is_distinctive(query, words);
            let possible = self.outlines.iter().zip(&self.phrases).filter(|(known, _)| !outline.rules_out(known));
            for (_, known) in possible {
                let Some((similarity, method)) = query.similarity(&known.phrase) else { continue };
                if similarity < 1.0 && !is_distinctive {
                    continue;
                }
                pairs.extend(known.places.iter().map(|&(form, start, end)| Pair {
                    form,
                    query: (query.start, query.end),
                    name: (start, end),
                    similarity,
                    method,
                }));
            }
        }
        pairs
    }

    fn candidate(&self, entry: usize, score: f64) -> Option<Candidate> {
        self.names.get(entry).map(|name| Candidate { name: name.clone(), score })
    }
}

fn compared(words: &[Word]) -> &[Word] {
    words.get(..WORDS_COMPARED).unwrap_or(words)
}

/// Inverse document frequency: the fewer names have a word, the higher its weight.
fn weights_of(forms: &[(usize, Vec<Word>)], names: usize) -> HashMap<String, f64> {
    let mut holders: HashMap<String, HashSet<usize>> = HashMap::new();
    for (entry, words) in forms {
        for word in words {
            holders.entry(word.stem.clone()).or_default().insert(*entry);
        }
    }
    let float = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    let weight = |count: usize| {
        let common = count >= COMMON_NAMES && float(count) >= COMMON_SHARE * float(names);
        (if common { COMMON_WEIGHT } else { 1.0 }) / (1.0 + 0.25 * float(count).ln())
    };
    holders.into_iter().map(|(stem, entries)| (stem, weight(entries.len()))).collect()
}

/// Indexed phrases begin and end with content words, except whole names; numbers are compared separately.
fn is_indexed(phrase: &Phrase, words: &[Word]) -> bool {
    let Some(part) = words.get(phrase.start..phrase.end) else { return false };
    let counts = |word: Option<&Word>| word.is_some_and(|word| !matches!(word.role, Role::Silent | Role::Generic));
    let is_whole = part.len() == words.len();
    let is_allowed = is_whole || part.len() == 1 || (counts(part.first()) && counts(part.last()));
    part.iter().all(|word| word.number.is_none()) && is_allowed
}

/// A phrase of generic words only ("squad") matches exactly or not at all.
fn is_distinctive(phrase: &Phrase, words: &[Word]) -> bool {
    let part = words.get(phrase.start..phrase.end).unwrap_or_default();
    part.iter().any(|word| matches!(word.role, Role::Weighty | Role::Owner))
}

/// A stop word or number may be a fragment of a split name, but not a phrase alone. Stop words begin or end a phrase only at
/// the ends of the query.
fn is_queried(phrase: &Phrase, words: &[Word]) -> bool {
    let Some(part) = words.get(phrase.start..phrase.end) else { return false };
    let silent = |word: Option<&Word>| word.is_some_and(|word| word.role == Role::Silent);
    let loose_start = phrase.start > 0 && silent(part.first());
    let loose_end = phrase.end < words.len() && silent(part.last());
    !loose_start && !loose_end && part.iter().any(|word| word.role != Role::Silent && word.number.is_none())
}
