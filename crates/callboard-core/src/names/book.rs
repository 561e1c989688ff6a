//! The book of names: prepared once, then asked for what was heard.
//!
//! Names and aliases are cut into phrases, equal phrases of different names are kept once, and every heard phrase is compared
//! with every kept one; only names that share something are scored.

use std::collections::{HashMap, HashSet};

use super::exact::ExactNames;
use super::phrase::{Outline, Phrase};
use super::resolution::{Candidate, Method, Resolution, decide};
use super::score::{self, Form, Heard, Pair};
use super::words::{Role, Word, words_of};

/// Words beyond these are not read.
const WORDS_READ: usize = 64;

/// Words beyond these count only where a name is said exactly: longer names are rare, and comparing is slow.
const WORDS_COMPARED: usize = 16;

/// A word of this share of all names, and of three at least, says little.
const COMMON_SHARE: f64 = 0.25;
const COMMON_NAMES: usize = 3;
const COMMON_WEIGHT: f64 = 0.4;

/// A name and what else it is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameEntry {
    /// The real name, which an answer gives back as written here.
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
    /// Of `phrases`, in their order.
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
    /// Prepares the names; of entries with the same name the later ones only add aliases.
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
            for phrase in Phrase::all(words).into_iter().filter(|phrase| is_worth_keeping(phrase, words)) {
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
        // Neighbours of like length are ruled out together, which the processor predicts well.
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

    fn weight_heard(&self, word: &Word) -> f64 {
        score::weight_beside(word) * self.weights.get(&word.stem).copied().unwrap_or(1.0)
    }

    /// What `heard` names.
    #[must_use]
    pub fn resolve(&self, heard: &str) -> Resolution {
        let words = words_of(heard, WORDS_READ);
        for (exact, method) in [(&self.exact, Method::Exact), (&self.exact_aliases, Method::Alias)] {
            let found = exact.find(&words);
            if !found.is_empty() {
                return decide(found.iter().filter_map(|entry| Some((self.candidate(*entry, 1.0)?, method))).collect());
            }
        }
        decide(self.score_all(compared(&words)))
    }

    fn score_all(&self, words: &[Word]) -> Vec<(Candidate, Method)> {
        let weights: Vec<f64> = words.iter().map(|word| self.weight_heard(word)).collect();
        let heard = Heard { words, weights: &weights };
        let mut pairs = self.pairs(words);
        pairs.sort_by_key(|pair| pair.form);
        let mut best: HashMap<usize, (f64, Method)> = HashMap::new();
        for of_form in pairs.chunk_by(|one, other| one.form == other.form) {
            let Some(form) = of_form.first().and_then(|pair| self.forms.get(pair.form)) else { continue };
            let Some(scored) = score::score(form, &heard, of_form) else { continue };
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

    /// Everything heard that is like something in a name.
    fn pairs(&self, words: &[Word]) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for heard in Phrase::all(words).iter().filter(|phrase| is_worth_asking(phrase, words)) {
            let outline = heard.outline();
            let is_telling = is_telling(heard, words);
            let possible = self.outlines.iter().zip(&self.phrases).filter(|(known, _)| !outline.rules_out(known));
            for (_, known) in possible {
                let Some((likeness, method)) = heard.likeness(&known.phrase) else { continue };
                if likeness < 1.0 && !is_telling {
                    continue;
                }
                pairs.extend(known.places.iter().map(|&(form, start, end)| Pair {
                    form,
                    heard: (heard.start, heard.end),
                    name: (start, end),
                    likeness,
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

/// How much each word tells: the fewer names have it, the more.
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

/// Phrases of a name begin and end with words that count, except the whole name; numbers are compared on their own.
fn is_worth_keeping(phrase: &Phrase, words: &[Word]) -> bool {
    let Some(part) = words.get(phrase.start..phrase.end) else { return false };
    let counts = |word: Option<&Word>| word.is_some_and(|word| !matches!(word.role, Role::Silent | Role::Generic));
    let is_whole = part.len() == words.len();
    let is_allowed = is_whole || part.len() == 1 || (counts(part.first()) && counts(part.last()));
    part.iter().all(|word| word.number.is_none()) && is_allowed
}

/// A phrase of nothing but words like "squad" is not taken for anything else.
fn is_telling(phrase: &Phrase, words: &[Word]) -> bool {
    let part = words.get(phrase.start..phrase.end).unwrap_or_default();
    part.iter().any(|word| matches!(word.role, Role::Weighty | Role::Owner))
}

/// A silent word or a number heard may be a piece of a name that was split, but is no name alone; at the rim of a phrase only
/// where nothing else is said.
fn is_worth_asking(phrase: &Phrase, words: &[Word]) -> bool {
    let Some(part) = words.get(phrase.start..phrase.end) else { return false };
    let silent = |word: Option<&Word>| word.is_some_and(|word| word.role == Role::Silent);
    let loose_start = phrase.start > 0 && silent(part.first());
    let loose_end = phrase.end < words.len() && silent(part.last());
    !loose_start && !loose_end && part.iter().any(|word| word.role != Role::Silent && word.number.is_none())
}
