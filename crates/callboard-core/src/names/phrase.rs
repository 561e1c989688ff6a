//! Neighbouring words taken as one, since recognisers split and join them: "gene stealers", "car knife x".

use super::pronunciation::{self, Sound};
use super::resolution::Method;
use super::shorthand::{self, Single};
use super::sound_distance::{self, Voice};
use super::spelling::{self, Letters};
use super::words::Word;

/// As many neighbours are taken together.
const WORDS_AT_MOST: usize = 4;

/// What sounds or looks alike is never as sure as what is the same.
const SOUND_AT_BEST: f64 = 0.97;
const SPELLING_AT_BEST: f64 = 0.95;

/// Some neighbouring words, ready to be compared.
#[derive(Clone, Debug)]
pub(super) struct Phrase {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) letters: Letters,
    voice: Option<Voice>,
    /// The word, if it is only one.
    single: Option<Single>,
}

/// The little that tells most phrases apart; kept together, so that a thousand of them are passed over quickly.
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

    /// Inside a phrase words sound as they are; only its last word loses its plural.
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

    /// How alike the phrase of a name is to this one, which was heard.
    pub(super) fn likeness(&self, name: &Self) -> Option<(f64, Method)> {
        if self.letters.text == name.letters.text {
            return Some((1.0, Method::Words));
        }
        let by_part = both(&self.single, &name.single).and_then(|(said, whole)| said.likeness_as_part_of(whole));
        let by_sound = both(&self.voice, &name.voice).and_then(|(heard, voice)| heard.likeness(voice));
        let by_spelling = self.letters.likeness(&name.letters);
        let ways = [
            (by_part, Method::Words),
            (by_sound.map(|likeness| likeness * SOUND_AT_BEST), Method::Sound),
            (by_spelling.map(|likeness| likeness * SPELLING_AT_BEST), Method::Spelling),
        ];
        let ways = ways.into_iter().filter_map(|(likeness, method)| Some((likeness?, method)));
        ways.reduce(|best, way| if way.0 > best.0 { way } else { best })
    }
}

impl Outline {
    /// Whether [`Phrase::likeness`] would find nothing.
    pub(super) fn rules_out(&self, name: &Self) -> bool {
        both(&self.voice, &name.voice).is_none_or(|(heard, voice)| heard.rules_out(voice))
            && self.letters.rules_out(&name.letters)
            && both(&self.ends, &name.ends).is_none_or(|(said, whole)| said.rules_out(whole))
    }
}

fn both<'a, T>(one: &'a Option<T>, other: &'a Option<T>) -> Option<(&'a T, &'a T)> {
    one.as_ref().zip(other.as_ref())
}
