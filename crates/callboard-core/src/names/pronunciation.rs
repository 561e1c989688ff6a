//! Approximate grapheme-to-phoneme conversion by the rules of English spelling.
//!
//! At each letter the first matching rule of a table applies. The rules need not be right, only consistent between a name and
//! a transcript; errors cost little, since vowels and similar consonants are compared leniently.
//! Words with non-Latin letters have no sounds and are compared by spelling alone.

/// A phoneme. Vowels first; the order has no other meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum Sound {
    A,
    E,
    I,
    O,
    U,
    P,
    B,
    T,
    D,
    K,
    G,
    F,
    V,
    Th,
    S,
    Z,
    Sh,
    Ch,
    J,
    M,
    N,
    L,
    R,
    W,
    Y,
    H,
}

use Sound::{A, B, Ch, D, E, F, G, H, I, J, K, L, M, N, O, P, R, S, Sh, T, Th, U, V, W, Y, Z};

impl Sound {
    pub(super) fn is_vowel(self) -> bool {
        matches!(self, A | E | I | O | U)
    }
}

/// The left context of a rule.
#[derive(Clone, Copy)]
enum Before {
    Any,
    Start,
    /// Anything but the start of the word.
    Inside,
    Vowel,
    Consonant,
    /// A vowel sound somewhere before, and a consonant right before.
    Syllable,
}

/// The right context of a rule.
#[derive(Clone, Copy)]
enum After {
    Any,
    End,
    Vowel,
    /// A consonant or the end.
    NoVowel,
    /// `e`, `i` or `y`, which soften `c` and `g`.
    Front,
}

type Rule = (Before, &'static str, After, &'static [Sound]);

const RULES: &[Rule] = &[
    (Before::Start, "kn", After::Any, &[N]),
    (Before::Start, "gn", After::Any, &[N]),
    (Before::Start, "pn", After::Any, &[N]),
    (Before::Start, "ps", After::Any, &[S]),
    (Before::Start, "pt", After::Any, &[T]),
    (Before::Start, "wr", After::Any, &[R]),
    (Before::Start, "ts", After::Any, &[S]),
    (Before::Start, "x", After::Any, &[Z]),
    (Before::Start, "gh", After::Any, &[G]),
    (Before::Start, "y", After::Vowel, &[Y]),
    (Before::Any, "wh", After::Any, &[W]),
    (Before::Any, "eau", After::Any, &[O]),
    (Before::Inside, "sion", After::Any, &[Sh, O, N]),
    (Before::Inside, "ture", After::End, &[Ch, E, R]),
    (Before::Inside, "ti", After::Vowel, &[Sh]),
    (Before::Inside, "ci", After::Vowel, &[Sh]),
    (Before::Any, "sch", After::Any, &[S, K]),
    (Before::Any, "tch", After::Any, &[Ch]),
    (Before::Consonant, "ech", After::End, &[E, K]),
    (Before::Any, "ch", After::Vowel, &[Ch]),
    (Before::Inside, "ch", After::End, &[Ch]),
    (Before::Any, "ch", After::Any, &[K]),
    (Before::Any, "sh", After::Any, &[Sh]),
    (Before::Any, "sc", After::Front, &[S]),
    (Before::Any, "ck", After::Any, &[K]),
    (Before::Any, "cq", After::Any, &[K]),
    (Before::Any, "c", After::Front, &[S]),
    (Before::Any, "c", After::Any, &[K]),
    (Before::Any, "dg", After::Front, &[J]),
    (Before::Any, "dj", After::Any, &[J]),
    (Before::Vowel, "gh", After::Any, &[]),
    (Before::Any, "gh", After::Any, &[G]),
    (Before::Any, "gn", After::End, &[N]),
    (Before::Any, "gu", After::Vowel, &[G]),
    (Before::Any, "g", After::Front, &[J]),
    (Before::Any, "g", After::Any, &[G]),
    (Before::Any, "ng", After::End, &[N]),
    (Before::Any, "ph", After::Any, &[F]),
    (Before::Any, "que", After::End, &[K]),
    (Before::Any, "qu", After::Any, &[K, W]),
    (Before::Any, "q", After::Any, &[K]),
    (Before::Any, "th", After::Any, &[Th]),
    (Before::Any, "kh", After::Any, &[K]),
    (Before::Any, "rh", After::Any, &[R]),
    (Before::Any, "mb", After::End, &[M]),
    (Before::Any, "mn", After::End, &[M]),
    (Before::Any, "bt", After::End, &[T]),
    (Before::Any, "x", After::Any, &[K, S]),
    (Before::Vowel, "h", After::NoVowel, &[]),
    (Before::Vowel, "w", After::NoVowel, &[]),
    (Before::Vowel, "y", After::NoVowel, &[]),
    (Before::Consonant, "le", After::End, &[E, L]),
    (Before::Consonant, "re", After::End, &[E, R]),
    (Before::Syllable, "e", After::End, &[]),
    (Before::Any, "ai", After::Any, &[E]),
    (Before::Any, "ay", After::NoVowel, &[E]),
    (Before::Any, "ei", After::Any, &[E]),
    (Before::Any, "ey", After::NoVowel, &[E]),
    (Before::Start, "ae", After::Any, &[E]),
    (Before::Any, "ea", After::Any, &[I]),
    (Before::Any, "ee", After::Any, &[I]),
    (Before::Any, "ie", After::Any, &[I]),
    (Before::Any, "oy", After::NoVowel, &[O, I]),
    (Before::Any, "oo", After::Any, &[U]),
    (Before::Any, "ou", After::Any, &[O]),
    (Before::Any, "au", After::Any, &[O]),
    (Before::Any, "aw", After::NoVowel, &[O]),
    (Before::Any, "ew", After::NoVowel, &[U]),
    (Before::Any, "eu", After::Any, &[U]),
    (Before::Any, "ue", After::Any, &[U]),
    (Before::Any, "a", After::Any, &[A]),
    (Before::Any, "b", After::Any, &[B]),
    (Before::Any, "d", After::Any, &[D]),
    (Before::Any, "e", After::Any, &[E]),
    (Before::Any, "f", After::Any, &[F]),
    (Before::Any, "h", After::Any, &[H]),
    (Before::Any, "i", After::Any, &[I]),
    (Before::Any, "j", After::Any, &[J]),
    (Before::Any, "k", After::Any, &[K]),
    (Before::Any, "l", After::Any, &[L]),
    (Before::Any, "m", After::Any, &[M]),
    (Before::Any, "n", After::Any, &[N]),
    (Before::Any, "o", After::Any, &[O]),
    (Before::Any, "p", After::Any, &[P]),
    (Before::Any, "r", After::Any, &[R]),
    (Before::Any, "s", After::Any, &[S]),
    (Before::Any, "t", After::Any, &[T]),
    (Before::Any, "u", After::Any, &[U]),
    (Before::Any, "v", After::Any, &[V]),
    (Before::Any, "w", After::Any, &[W]),
    (Before::Any, "y", After::Any, &[I]),
    (Before::Any, "z", After::Any, &[Z]),
];

/// The names of the letters `a` to `z`, for spelt-out words ("CP", "x").
const LETTER_NAMES: &str =
    "ah bee see dee ee ef jee ech ee jay kay el em en oh pee koo ar es tee oo vee doobloo eks wee zee";

/// Longer words are not compared by sound.
const LONGEST: usize = 64;

/// The sounds of a folded word; none if it is too long or has a non-Latin letter.
pub(super) fn sounds_of(word: &str) -> Option<Vec<Sound>> {
    if word.is_empty() || word.len() > LONGEST || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    if is_spelt_out(word) {
        return Some(word.bytes().flat_map(letter_name).collect());
    }
    let mut letters = word.as_bytes().to_vec();
    letters.dedup_by(|next, last| next == last && !is_vowel(*last));
    let mut sounds = Vec::with_capacity(letters.len());
    let mut place = 0;
    while place < letters.len() {
        let rule = RULES.iter().find(|rule| applies(rule, &letters, place, &sounds));
        let Some((_, spelt, _, spoken)) = rule else { break };
        sounds.extend_from_slice(spoken);
        place += spelt.len();
    }
    Some(sounds)
}

fn is_spelt_out(word: &str) -> bool {
    word.len() == 1 || (word.len() <= 4 && !word.bytes().any(is_vowel))
}

fn letter_name(letter: u8) -> Vec<Sound> {
    let name = LETTER_NAMES.split(' ').nth(usize::from(letter.wrapping_sub(b'a')));
    name.and_then(sounds_of).unwrap_or_default()
}

fn applies(&(before, spelt, after, _): &Rule, letters: &[u8], place: usize, sounds: &[Sound]) -> bool {
    let Some(rest) = letters.get(place..).and_then(|rest| rest.strip_prefix(spelt.as_bytes())) else { return false };
    let last = place.checked_sub(1).and_then(|place| letters.get(place)).copied();
    let before_fits = match before {
        Before::Any => true,
        Before::Start => last.is_none(),
        Before::Inside => last.is_some(),
        Before::Vowel => last.is_some_and(is_vowel),
        Before::Consonant => last.is_some_and(|letter| !is_vowel(letter)),
        Before::Syllable => last.is_some_and(|letter| !is_vowel(letter)) && sounds.iter().any(|sound| sound.is_vowel()),
    };
    let next = rest.first().copied();
    before_fits
        && match after {
            After::Any => true,
            After::End => next.is_none(),
            After::Vowel => next.is_some_and(is_vowel),
            After::NoVowel => !next.is_some_and(is_vowel),
            After::Front => matches!(next, Some(b'e' | b'i' | b'y')),
        }
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// Concatenates the sounds of words; a consonant doubled at a word boundary is kept once.
pub(super) fn join(parts: &[&[Sound]]) -> Vec<Sound> {
    let mut sounds = parts.concat();
    sounds.dedup_by(|next, last| next == last && !last.is_vowel());
    sounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_sound_the_same_have_the_same_sounds() {
        let table = [
            ("knight", "nite"),
            ("phase", "fase"),
            ("knob", "nob"),
            ("lokhust", "locust"),
            ("scepter", "septer"),
            ("write", "rite"),
            ("quick", "kwik"),
            ("x", "ex"),
            ("cp", "seepee"),
        ];
        for (one, other) in table {
            assert_eq!(sounds_of(one), sounds_of(other), "{one}");
        }
    }

    #[test]
    fn only_latin_words_have_sounds() {
        for word in ["", "мир", "x1", "東京"] {
            assert_eq!(sounds_of(word), None, "{word}");
        }
    }

    #[test]
    fn every_letter_has_a_rule() {
        for letter in 'a'..='z' {
            let word = format!("{letter}a{letter}a");
            assert!(sounds_of(&word).is_some_and(|sounds| !sounds.is_empty()), "{letter}");
        }
    }
}
