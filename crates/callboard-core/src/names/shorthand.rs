//! Abbreviated words: "devs" for "Devastators", "termies" for "Terminators", "fex" for "Carnifex".
//!
//! Prefixes are compared by letters, suffixes by sounds. The minimum length depends on how much the part looks like
//! a nickname.

use super::pronunciation::Sound;
use super::words::Word;

/// Base similarity of a part, and the bonus by its share of the word.
const PART: f64 = 0.82;
const BY_SHARE: f64 = 0.14;

/// Minimum letters of a prefix: with a nickname ending, as half of the word, and otherwise.
const NICKNAME: usize = 3;
const HALF: usize = 4;
const PLAIN: usize = 5;

/// One word, as a part of another or as the whole.
#[derive(Clone, Debug)]
pub(super) struct Single {
    text: String,
    /// The word without the ending that marks a nickname ("-s", "-ies", "-ie"), if it has one.
    nickname: Option<String>,
    sounds: Vec<Sound>,
}

/// First letter and last sound: a part shares one of them with the whole word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    first: Option<u8>,
    last: Option<Sound>,
}

impl Single {
    pub(super) fn new(word: &Word, sounds: &[Sound]) -> Self {
        let shortened = word.text.strip_suffix("ies").or_else(|| word.text.strip_suffix("ie"));
        let plural = (word.singular != word.text).then_some(word.singular.as_str());
        let nickname = shortened.or(plural).map(str::to_owned);
        Self { text: word.text.clone(), nickname, sounds: sounds.to_vec() }
    }

    pub(super) fn ends(&self) -> Ends {
        Ends { first: self.text.bytes().next(), last: self.sounds.last().copied() }
    }

    /// The similarity of this word as an abbreviation of `whole`.
    pub(super) fn similarity_as_part_of(&self, whole: &Self) -> Option<f64> {
        if self.sounds.len() >= whole.sounds.len() {
            return None;
        }
        let beginning = self.beginning_of(whole).map(|letters| share(letters, whole.text.len()));
        let ending = || self.is_ending_of(whole).then(|| share(self.sounds.len(), whole.sounds.len()));
        beginning.or_else(ending).map(|share| PART + BY_SHARE * share)
    }

    /// The length of this word as a prefix of `whole`, in letters.
    fn beginning_of(&self, whole: &Self) -> Option<usize> {
        let fits = |part: &str, at_least: usize| part.len() >= at_least && whole.text.starts_with(part);
        let nickname = self.nickname.as_deref().filter(|part| fits(part, NICKNAME));
        let is_plain = fits(&self.text, PLAIN) || (fits(&self.text, HALF) && self.text.len() * 2 >= whole.text.len());
        nickname.or(is_plain.then_some(self.text.as_str())).map(str::len)
    }

    /// A suffix that begins at a syllable: at least a third of the word, more if it is spelt differently.
    fn is_ending_of(&self, whole: &Self) -> bool {
        let Some(start) = whole.sounds.len().checked_sub(self.sounds.len()) else { return false };
        let (before, ending) = whole.sounds.split_at(start);
        let consonants = self.sounds.iter().filter(|sound| !sound.is_vowel()).count();
        let is_spelt_alike = self.sounds.len() * 3 > whole.sounds.len() && whole.text.ends_with(&self.text);
        consonants >= 3
            && (is_spelt_alike || self.sounds.len() * 5 > whole.sounds.len() * 2)
            && self.sounds.first().is_some_and(|sound| !sound.is_vowel())
            && before.last().is_some_and(|sound| closes_a_syllable(*sound))
            && self.sounds.iter().zip(ending).all(is_same)
    }
}

impl Ends {
    pub(super) fn rules_out(&self, whole: &Self) -> bool {
        self.first != whole.first && self.last != whole.last
    }
}

fn closes_a_syllable(sound: Sound) -> bool {
    sound.is_vowel() || matches!(sound, Sound::L | Sound::M | Sound::N | Sound::R)
}

fn is_same((one, other): (&Sound, &Sound)) -> bool {
    let open = |sound: &Sound| matches!(sound, Sound::A | Sound::O);
    one == other || (open(one) && open(other))
}

fn share(part: usize, whole: usize) -> f64 {
    let float = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    float(part) / float(whole.max(1))
}
