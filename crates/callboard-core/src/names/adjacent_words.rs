//! Phrases of adjacent words, compared as one because recognisers split and join words: "gene stealers", "car knife x".

use super::pronunciation::{self, Sound};
use super::resolution::Method;
use super::shorthand::{self, Single};
use super::sound_distance::{self, Voice};
use super::spelling::{self, Letters};
use super::words::Word;

/// The longest phrase.
const WORDS_AT_MOST: usize = 4;

/// The highest similarity of phrases that are not equal.
const SOUND_AT_BEST: f64 = 0.97;
const SPELLING_AT_BEST: f64 = 0.95;

/// A run of adjacent words, prepared for comparison.
#[derive(Clone, Debug)]
pub(super) struct Phrase {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) letters: Letters,
    voice: Option<Voice>,
    /// Set for a phrase of one word.
    single: Option<Single>,
}

/// A compact prefilter that rejects most phrases; stored contiguously for fast scans.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outline {
    voice: Option<sound_distance::Outline>,
    letters: spelling::Outline,
    ends: Option<shorthand::Ends>,
}

impl Phrase {
    /// Every run of up to [`WORDS_AT_MOST`] words, and all of them together.
    pub(super) fn all(words: &[Word]) -> Vec<Self> {
        let sounds: Vec<_> = words.iter().map(|word| pronunciation::sounds_of(&word.text)).collect();
        let last_sounds: Vec<_> = words.iter().map(|word| pronunciation::sounds_of(&word.singular)).collect();
        let mut phrases = Vec::new();
        for start in 0..words.len() {
            for end in start + 1..=words.len() {
                if end - start > WORDS_AT_MOST && end - start < words.len() {
                    continue;
                }
                phrases.extend(Self::new(words, (start, end), &sounds, &last_sounds));
            }
        }
        phrases
    }

    /// Only the last word of a phrase is made singular.
    fn new(
        words: &[Word],
        (start, end): (usize, usize),
        sounds: &[Option<Vec<Sound>>],
        last_sounds: &[Option<Vec<Sound>>],
    ) -> Option<Self> {
        let (last, before) = words.get(start..end)?.split_last()?;
        let text: String = before.iter().map(|word| word.text.as_str()).chain([last.stem.as_str()]).collect();
        let parts = sounds.get(start..end - 1)?.iter().chain(last_sounds.get(end - 1));
        let parts: Option<Vec<&[Sound]>> = parts.map(|part| part.as_deref()).collect();
        let voice = parts.and_then(|parts| Voice::new(pronunciation::join(&parts)));
        let single = voice.as_ref().filter(|_| before.is_empty()).map(|voice| Single::new(last, &voice.sounds));
        Some(Self { start, end, letters: Letters::new(text), voice, single })
    }

    pub(super) fn outline(&self) -> Outline {
        Outline {
            voice: self.voice.as_ref().map(Voice::outline),
            letters: self.letters.outline(),
            ends: self.single.as_ref().map(Single::ends),
        }
    }

    /// The similarity of this phrase of a query to the phrase of a name.
    pub(super) fn similarity(&self, name: &Self) -> Option<(f64, Method)> {
        if self.letters.text == name.letters.text {
            return Some((1.0, Method::Words));
        }
        let by_part = both(&self.single, &name.single).and_then(|(part, whole)| part.similarity_as_part_of(whole));
        let by_sound = both(&self.voice, &name.voice).and_then(|(query, name)| query.similarity(name));
        let by_spelling = self.letters.similarity(&name.letters);
        let ways = [
            (by_part, Method::Words),
            (by_sound.map(|similarity| similarity * SOUND_AT_BEST), Method::Sound),
            (by_spelling.map(|similarity| similarity * SPELLING_AT_BEST), Method::Spelling),
        ];
        let ways = ways.into_iter().filter_map(|(similarity, method)| Some((similarity?, method)));
        ways.reduce(|best, way| if way.0 > best.0 { way } else { best })
    }
}

impl Outline {
    /// Whether [`Phrase::similarity`] would find nothing.
    pub(super) fn rules_out(&self, name: &Self) -> bool {
        both(&self.voice, &name.voice).is_none_or(|(query, name)| query.rules_out(name))
            && self.letters.rules_out(&name.letters)
            && both(&self.ends, &name.ends).is_none_or(|(part, whole)| part.rules_out(whole))
    }
}

fn both<'a, T>(one: &'a Option<T>, other: &'a Option<T>) -> Option<(&'a T, &'a T)> {
    one.as_ref().zip(other.as_ref())
}
