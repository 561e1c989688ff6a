//! Noun phrase chunking: the spans that can name a thing, with their role in the sentence.
//!
//! There is no grammar, only boundaries: prepositions, verbs, function words and punctuation end a phrase. A phrase records
//! its preposition, its owner, its verb, and whether it precedes that verb.

use std::ops::Range;

use super::lexicon::{ANNOUNCING, AUXILIARIES, DETERMINERS, POSSESSIVES, PREPOSITIONS, PRONOUNS, VERBS, is_empty_word};
use super::numbers::is_number_word;
use super::own_or_other::{side_of_noun, side_of_speech};
use super::word_form::Form;
use super::words::Word;

/// A noun phrase.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    pub(super) words: Range<usize>,
    /// The preposition that governs it.
    pub(super) preposition: Option<String>,
    /// The stem of the nearest verb before it, or after it for a subject.
    pub(super) verb: Option<String>,
    /// It precedes the verb and has no preposition.
    pub(super) subject: bool,
    /// The owner: "my", "opponent", "player".
    pub(super) owner: Option<String>,
}

/// The phrases of the words; a taken word ends a phrase.
pub(super) fn chunks_in(words: &[Word], taken: &[bool]) -> Vec<Chunk> {
    let mut cutter = Cutter { words, chunks: Vec::new(), open: None, next: Chunk::default(), verb: None };
    for (at, word) in words.iter().enumerate() {
        cutter.take(at, word, taken.get(at).copied().unwrap_or(false));
    }
    cutter.close(words.len());
    cutter.chunks
}

struct Cutter<'a> {
    words: &'a [Word],
    chunks: Vec<Chunk>,
    open: Option<usize>,
    /// Attributes collected for the next phrase.
    next: Chunk,
    verb: Option<String>,
}

impl Cutter<'_> {
    fn take(&mut self, at: usize, word: &Word, taken: bool) {
        if taken {
            self.close(at);
            if word.form == Form::Plain && acts(self.words, at, self.verb.is_some()) {
                self.verb_seen(word);
            }
        } else if word.form == Form::Quote {
            self.close(at);
            self.open = Some(at);
            self.close(at + 1);
        } else if self.continues_name(at, word) {
        } else if self.begins_name(at, word) {
            self.open.get_or_insert(at);
        } else if word.is_mark() || word.is_any(&["and", "or", "but", "then", "&"]) {
            self.close(at);
            if word.is_any(&[".", "!", "?", ";"]) || !word.joins() {
                self.next = Chunk::default();
                self.verb = None;
            }
        } else if PREPOSITIONS.contains(&word.lower) {
            self.preposition(at, word);
        } else if POSSESSIVES.contains(&word.lower) || self.owns_next(at, word) {
            self.close(at);
            self.next.owner = Some(word.lower.clone());
        } else if DETERMINERS.contains(&word.lower) {
            self.close(at);
        } else if word.form == Form::Plain && acts(self.words, at, self.verb.is_some()) {
            self.close(at);
            self.verb_seen(word);
        } else if is_border(word) {
            self.close(at);
        } else if word.text.bytes().any(|byte| byte.is_ascii_digit()) {
            // A code such as LH400 is a phrase by itself.
            self.close(at);
            self.open = Some(at);
            self.close(at + 1);
        } else if self.open.is_none() {
            self.open = Some(at);
        }
    }

    /// A capitalised name continues with capitalised words, and with a number after one.
    fn continues_name(&self, at: usize, word: &Word) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.words.get(before));
        let after_capital = self.open.is_some() && before.is_some_and(|before| before.capital && !before.is_mark());
        let next_capital = || self.words.get(at + 1).is_some_and(|next| next.capital);
        after_capital && (word.capital && word.form == Form::Plain || word.is("of") || word.is("the") && next_capital())
            || self.open.is_some() && word.is("of")
            || self.open.is_some() && before.is_some_and(|before| before.is("of")) && (word.capital || word.is("the"))
    }

    /// "opponent's bishop", "enemy knight": the side is the owner, not part of the name.
    fn owns_next(&self, at: usize, word: &Word) -> bool {
        let noun = || {
            self.words.get(at + 1).is_some_and(|next| next.form == Form::Plain && !is_border(next))
                && !acts(self.words, at + 1, false)
        };
        side_of_speech(&word.lower).is_some()
            && (word.possessive || side_of_noun(&word.lower).is_some() && self.open.is_none() && noun())
    }

    /// A capitalised function word before another capitalised word begins a name: "New York".
    fn begins_name(&self, at: usize, word: &Word) -> bool {
        let next = self.words.get(at + 1).is_some_and(|next| next.capital && next.form == Form::Plain);
        at > 0 && word.capital && next && is_empty_word(&word.lower) && !word.is("i") && word.form == Form::Plain
    }

    fn preposition(&mut self, at: usize, word: &Word) {
        self.close(at);
        if !is_particle(self.words, at) {
            self.next = Chunk { preposition: Some(word.lower.clone()), ..Chunk::default() };
        }
    }

    fn verb_seen(&mut self, word: &Word) {
        if self.verb.is_none() {
            for chunk in self.chunks.iter_mut().filter(|chunk| chunk.verb.is_none() && chunk.preposition.is_none()) {
                chunk.subject = true;
                chunk.verb = Some(word.stem.clone());
            }
        }
        self.verb = Some(word.stem.clone());
        self.next = Chunk::default();
    }

    fn close(&mut self, end: usize) {
        let Some(start) = self.open.take() else { return };
        let chunk = Chunk { words: start..end, verb: self.verb.clone(), ..self.next.clone() };
        self.chunks.push(chunk);
        self.next.owner = None;
    }
}

fn is_border(word: &Word) -> bool {
    is_empty_word(&word.lower)
        || word.form == Form::Number
        || is_number_word(&word.lower)
        || ANNOUNCING.contains(&word.lower)
}

/// Whether the preposition belongs to a phrasal verb, as in "turn on" or "pick up", and begins no phrase.
pub(super) fn is_particle(words: &[Word], at: usize) -> bool {
    const SWITCHING: &[&str] =
        &["turn", "turned", "switch", "switched", "put", "leave", "keep", "turning", "switching"];
    let Some(word) = words.get(at) else { return false };
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    word.is_any(&["off", "out", "up", "down"]) || word.is("on") && before.is_some_and(|before| before.is_any(SWITCHING))
}

/// Whether the word is a verb in this position; many verbs are nouns as well.
pub(super) fn acts(words: &[Word], at: usize, verb_seen: bool) -> bool {
    let Some(word) = words.get(at) else { return false };
    let lower = word.lower.as_str();
    if AUXILIARIES.contains(lower) {
        return true;
    }
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    if !VERBS.contains(&word.stem) {
        return false;
    }
    let Some(before) = before else { return true };
    let after = before.lower.as_str();
    let sentence_start = before.is_any(&[".", "!", "?", "…", ":"]);
    if word.capital && !sentence_start {
        return false;
    }
    if before.is_mark() || before.is_any(&["and", "then", "to", "not", "please", "just", "also", "now", "but"]) {
        return true;
    }
    if PRONOUNS.contains(after) || AUXILIARIES.contains(after) {
        return true;
    }
    if DETERMINERS.contains(after)
        || POSSESSIVES.contains(after)
        || before.possessive
        || before.form == Form::Number
        || is_number_word(after)
    {
        return false;
    }
    if PREPOSITIONS.contains(after) {
        return lower.ends_with("ing") && !before.is_any(&["to", "in", "on"]);
    }
    !verb_seen || ends_question(words, at)
}

/// In "what does it mean" the verb comes last.
fn ends_question(words: &[Word], at: usize) -> bool {
    let last = words.get(at + 1).is_none_or(Word::is_mark);
    last && words.iter().take(at).take(3).any(|word| word.is_any(&["do", "does", "did"]))
}

#[cfg(test)]
mod tests {
    use super::super::words::{original_text, words_of};
    use super::*;

    #[test]
    fn phrases_are_found_with_their_ties() {
        for (text, expected) in [
            ("Using Cup of Sorrows on the Gardeners", &["- Cup of Sorrows", "on Gardeners"][..]),
            ("my old tomcat killed three field mice", &["[my] subject old tomcat", "- field mice"]),
            ("River Foxes take 6 hits", &["subject River Foxes", "- hits"]),
            ("drawing Wear Them Out for the win", &["- Wear Them Out", "for win"]),
            ("weather in New York tomorrow", &["- weather", "in New York tomorrow"]),
            ("the opponent's Black Queen is old", &["[opponent] subject Black Queen", "- old"]),
            ("a cup of tea with milk", &["- cup of tea", "with milk"]),
        ] {
            let words = words_of(text);
            let shown: Vec<String> = chunks_in(&words, &[])
                .iter()
                .map(|chunk| {
                    let owner = chunk.owner.as_ref().map_or(String::new(), |owner| format!("[{owner}] "));
                    let tie = chunk.preposition.as_deref().unwrap_or(if chunk.subject { "subject" } else { "-" });
                    format!("{owner}{tie} {}", original_text(words.get(chunk.words.clone()).unwrap_or(&[])))
                })
                .collect();
            assert_eq!(shown, expected, "{text}");
        }
    }
}
