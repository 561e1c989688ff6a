//! Similarity of two sound sequences: a weighted edit distance in which similar sounds cost little.
//!
//! Costs are in hundredths of a consonant. Sounds that listeners confuse are cheap (voiced and unvoiced, `m` and `n`, vowels);
//! the first sound of a word is expensive. [`Voice`] precomputes what it can, so that one bitwise comparison rejects most
//! pairs.

use std::sync::LazyLock;

use super::pronunciation::Sound::{
    self, A, B, Ch, D, E, F, G, H, I, J, K, L, M, N, O, P, R, S, Sh, T, Th, U, V, W, Y, Z,
};

const SOUNDS: usize = 26;

/// Longer sequences are not compared by sound.
const LONGEST: usize = 40;

/// Substitution of an unrelated sound.
const FOREIGN: u16 = 90;

/// Substitution of a weak sound (`w`, `y`, `h`).
const FAINT: u16 = 75;

/// Substitution of a vowel by one that is not in the table below.
const OTHER_VOWEL: u16 = 20;

/// Factor for the first sound, in hundredths.
const ONSET: u16 = 140;

/// Factor for the last consonant, in hundredths.
const CODA: u16 = 70;

/// Short sequences match by chance: at this weight differences count double, in longer ones hardly more than once.
const CHANCE: f64 = 240.0;

/// Differences are divided by this multiple of the weight: recognisers make large errors, and names are few.
const LENIENCE: f64 = 1.4;

/// Sequences below this similarity do not match.
const ALIKE: f64 = 0.75;

/// A sequence lighter than this share of the other, in hundredths, cannot match: the missing sounds cost more than [`ALIKE`]
/// allows.
const LIGHTER_AT_LEAST: u32 = 65;

/// From this many consonants on, any two sequences share most kinds, so the prefilter is stricter.
const LONG: u32 = 8;

/// Sequences that share fewer consonant kinds match only if they are equal.
const CONSONANTS_AT_LEAST: u32 = 2;

/// Substitution costs of sounds that listeners confuse.
const NEAR: &[(u16, &[(Sound, Sound)])] = &[
    (10, &[(A, E), (A, O), (E, I), (O, U), (S, Z)]),
    (15, &[(A, U)]),
    (20, &[(P, B), (T, D), (K, G), (F, V), (Ch, J)]),
    (30, &[(Sh, Ch), (S, Sh), (Th, F), (Th, T), (Th, D), (M, N), (G, J)]),
    (35, &[(Sh, J), (Z, J), (Th, S), (V, B), (K, Ch)]),
    (40, &[(Z, Sh), (Th, V), (Th, Z), (F, P), (V, W), (T, Ch), (D, J), (Y, W), (H, W), (H, Y)]),
    (45, &[(S, Ch), (R, W), (T, Sh)]),
    (50, &[(S, J), (F, B), (V, P), (L, R), (L, W), (Y, J), (H, R)]),
    (55, &[(T, K)]),
    (
        60,
        &[
            (B, W),
            (N, L),
            (M, B),
            (N, D),
            (K, J),
            (T, S),
            (D, Z),
            (P, T),
            (P, K),
            (B, D),
            (D, G),
            (B, G),
            (K, H),
            (D, R),
            (H, F),
        ],
    ),
    (65, &[(N, R)]),
    (70, &[(M, V), (M, P), (N, T), (K, S), (T, G), (D, K), (M, G), (N, G), (M, R), (M, L)]),
    (75, &[(T, R)]),
];

static REPLACED: LazyLock<[[u16; SOUNDS]; SOUNDS]> = LazyLock::new(|| {
    let is_vowel = |sound: usize| sound <= U as usize;
    let is_faint = |sound: usize| sound >= W as usize;
    let mut costs = std::array::from_fn(|one| {
        std::array::from_fn(|other| match (one, other) {
            _ if one == other => 0,
            _ if is_vowel(one) && is_vowel(other) => OTHER_VOWEL,
            _ if is_faint(one) || is_faint(other) => FAINT,
            _ => FOREIGN,
        })
    });
    for (cost, pairs) in NEAR {
        for (one, other) in *pairs {
            costs[*one as usize][*other as usize] = *cost;
            costs[*other as usize][*one as usize] = *cost;
        }
    }
    costs
});

/// The cost of deleting a sound, which is also its weight.
fn left_out(sound: Sound) -> u16 {
    match sound {
        A | E | I | O | U => 30,
        H => 30,
        W | Y => 40,
        R => 60,
        L => 65,
        P | B | T | D | K | G | M | N => 75,
        F | V | Th | S | Z | Sh | Ch | J => 80,
    }
}

/// Consonant kinds for the prefilter; sounds that are often dropped have none.
fn kind(sound: Sound) -> Option<u32> {
    match sound {
        P | B | F | V => Some(0),
        T | D | Th => Some(1),
        K | G => Some(2),
        S | Z | Sh | Ch | J => Some(3),
        M | N => Some(4),
        L => Some(5),
        R => Some(6),
        A | E | I | O | U | W | Y | H => None,
    }
}

/// A sound sequence, prepared for comparison.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    pub(super) sounds: Vec<Sound>,
    outline: Outline,
}

/// The prefilter of a sequence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outline {
    /// A byte per consonant kind: its count in unary.
    kinds: u64,
    consonants: u32,
    /// A bit per pair of adjacent kinds.
    steps: u64,
    steps_taken: u32,
    weight: u16,
}

impl Voice {
    /// None for sequences that are empty or too long.
    pub(super) fn new(sounds: Vec<Sound>) -> Option<Self> {
        if sounds.is_empty() || sounds.len() > LONGEST {
            return None;
        }
        let outline = Outline::of(&sounds);
        Some(Self { sounds, outline })
    }

    pub(super) fn outline(&self) -> Outline {
        self.outline
    }

    /// Similarity from 0 to 1, or none if it is below [`ALIKE`].
    pub(super) fn similarity(&self, other: &Self) -> Option<f64> {
        if self.sounds == other.sounds {
            return Some(1.0);
        }
        if self.outline.rules_out(&other.outline) {
            return None;
        }
        let scale = scale(self.outline.weight.max(other.outline.weight));
        let cost = distance(&self.sounds, &other.sounds, (1.0 - ALIKE) * scale)?;
        Some(1.0 - f64::from(cost) / scale)
    }
}

impl Outline {
    fn of(sounds: &[Sound]) -> Self {
        let row: Vec<u32> = sounds.iter().filter_map(|sound| kind(*sound)).collect();
        let kinds = row.iter().copied().fold(0, one_more);
        let steps = row.iter().zip(row.iter().skip(1)).fold(0, |steps, (one, next)| steps | 1_u64 << (one * 8 + next));
        let weight = weights(sounds).sum();
        Self { kinds, consonants: kinds.count_ones(), steps, steps_taken: steps.count_ones(), weight }
    }

    /// Whether two sequences cannot match: lengths too different, too few common consonant kinds, or their order too different.
    pub(super) fn rules_out(&self, other: &Self) -> bool {
        let (lighter, heavier) = (self.weight.min(other.weight), self.weight.max(other.weight));
        u32::from(lighter) * 100 < u32::from(heavier) * LIGHTER_AT_LEAST || self.shares_too_little(other)
    }

    fn shares_too_little(&self, other: &Self) -> bool {
        let most = self.consonants.max(other.consonants);
        let shared = (self.kinds & other.kinds).count_ones();
        let steps = self.steps_taken.max(other.steps_taken);
        let shared_steps = (self.steps & other.steps).count_ones();
        let is_long = most >= LONG;
        shared < CONSONANTS_AT_LEAST
            || if is_long { shared * 4 < most * 3 } else { shared * 3 < most * 2 }
            || if is_long { shared_steps * 2 < steps } else { shared_steps * 3 < steps }
    }
}

/// The divisor of a distance: the weight of the longer sequence, less for a short one.
fn scale(weight: u16) -> f64 {
    let weight = f64::from(weight.max(1));
    LENIENCE * weight / (1.0 + (CHANCE / weight).powi(3))
}

fn one_more(kinds: u64, kind: u32) -> u64 {
    let shift = kind * 8;
    let byte = (kinds >> shift) & 0xff;
    let grown = ((byte << 1) | 1) & 0xff;
    (kinds & !(0xff << shift)) | (grown << shift)
}

/// The deletion cost of each sound: raised for an initial consonant, lowered for a final one.
fn weights(sounds: &[Sound]) -> impl Iterator<Item = u16> {
    let last = sounds.len().saturating_sub(1);
    sounds.iter().enumerate().map(move |(place, sound)| match place {
        _ if sound.is_vowel() => left_out(*sound),
        0 => left_out(*sound) * ONSET / 100,
        _ if place == last => left_out(*sound) * CODA / 100,
        _ => left_out(*sound),
    })
}

/// Weighted edit distance, or none if it is above `budget`. Costs stay far below `u16`: at most 80 sounds of at most 126.
fn distance(one: &[Sound], other: &[Sound], budget: f64) -> Option<u16> {
    let replaced_by = &*REPLACED;
    let (mut row, added) = first_row(other);
    for (line, (sound, dropped)) in one.iter().zip(weights(one)).enumerate() {
        let costs = &replaced_by[*sound as usize];
        let mut diagonal = row[0];
        let mut left = row[0] + dropped;
        row[0] = left;
        let mut cheapest = left;
        for (place, ((cell, target), cost)) in row.iter_mut().skip(1).zip(other).zip(&added).enumerate() {
            let replaced = diagonal + replacement(costs[*target as usize], line == 0 || place == 0);
            diagonal = *cell;
            left = replaced.min(*cell + dropped).min(left + cost);
            *cell = left;
            cheapest = cheapest.min(left);
        }
        if f64::from(cheapest) > budget {
            return None;
        }
    }
    row.get(other.len()).copied().filter(|cost| f64::from(*cost) <= budget)
}

/// The first row of the distance matrix, and the cost of each sound.
fn first_row(sounds: &[Sound]) -> ([u16; LONGEST + 1], [u16; LONGEST]) {
    let mut row = [0; LONGEST + 1];
    let mut added = [0; LONGEST];
    let mut total = 0;
    for ((cell, cost), weight) in row.iter_mut().skip(1).zip(&mut added).zip(weights(sounds)) {
        total += weight;
        *cost = weight;
        *cell = total;
    }
    (row, added)
}

fn replacement(cost: u16, at_onset: bool) -> u16 {
    if at_onset && cost > OTHER_VOWEL { cost * ONSET / 100 } else { cost }
}

#[cfg(test)]
mod tests {
    use super::super::pronunciation::sounds_of;
    use super::*;

    fn similarity(one: &str, other: &str) -> Option<f64> {
        let voice = |word: &str| sounds_of(word).and_then(Voice::new);
        voice(one)?.similarity(&voice(other)?)
    }

    #[test]
    fn what_is_mixed_up_is_nearer_than_what_is_not() {
        let table = [
            ("genestealer", "jeansdealer", "generals"),
            ("termagant", "tournament", "elephant"),
            ("paddington", "pattington", "washington"),
            ("lictor", "lector", "factor"),
            ("metformin", "medforeman", "performer"),
        ];
        for (name, near, far) in table {
            assert!(similarity(name, near) > similarity(name, far), "{name}: {near} {far}");
            assert_eq!(similarity(name, near), similarity(near, name), "{name}");
        }
    }

    #[test]
    fn short_words_must_be_nearly_the_same() {
        let table = [("nob", "knob", true), ("nob", "job", false), ("bow", "bee", false), ("ant", "aunt", true)];
        for (one, other, alike) in table {
            assert_eq!(similarity(one, other).is_some(), alike, "{one} {other}");
        }
    }

    #[test]
    fn rows_without_end_are_not_compared() {
        assert!(Voice::new(vec![M; LONGEST + 1]).is_none());
        assert!(Voice::new(Vec::new()).is_none());
    }
}
