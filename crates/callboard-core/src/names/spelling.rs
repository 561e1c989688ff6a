//! Similarity of two words by spelling: for typos, which a comparison by sound misses.

/// Words below this similarity do not match.
const ALIKE: f64 = 0.77;

/// Shorter words match only exactly: too many other words are one letter away.
const SHORTEST: usize = 4;

/// Longer words match only exactly: the comparison is quadratic.
const LONGEST: usize = 64;

/// The most typos in one word.
const CHANGES_AT_MOST: usize = 3;

/// The letters of a word, prepared for comparison.
#[derive(Clone, Debug)]
pub(super) struct Letters {
    pub(super) text: String,
    outline: Outline,
}

/// The prefilter of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outline {
    /// Two bits per letter of the alphabet, set for its first and second occurrence.
    present: u64,
    length: usize,
    /// The most edits to a word of this length.
    changes: usize,
}

impl Letters {
    pub(super) fn new(text: String) -> Self {
        let length = text.chars().count();
        let changes = (0..=CHANGES_AT_MOST).rev().find(|changes| similarity(*changes, length) >= ALIKE).unwrap_or(0);
        let outline = Outline { present: text.chars().fold(0, with_letter), length, changes };
        Self { text, outline }
    }

    pub(super) fn length(&self) -> usize {
        self.outline.length
    }

    pub(super) fn outline(&self) -> Outline {
        self.outline
    }

    /// Similarity from 0 to 1, or none if it is below [`ALIKE`].
    pub(super) fn similarity(&self, other: &Self) -> Option<f64> {
        if self.text == other.text {
            return Some(1.0);
        }
        if self.outline.rules_out(&other.outline) {
            return None;
        }
        let changes = strsim::osa_distance(&self.text, &other.text);
        let similarity = similarity(changes, self.outline.length.max(other.outline.length));
        (changes <= CHANGES_AT_MOST && similarity >= ALIKE).then_some(similarity)
    }
}

impl Outline {
    /// Whether two words certainly need too many edits.
    pub(super) fn rules_out(&self, other: &Self) -> bool {
        let changes = self.changes.max(other.changes);
        // An edit removes at most one letter and adds at most one.
        let vanished = || (self.present ^ other.present).count_ones().div_ceil(2) as usize;
        self.length.min(other.length) < SHORTEST
            || self.length.max(other.length) > LONGEST
            || self.length.abs_diff(other.length) > changes
            || vanished() > changes
    }
}

fn with_letter(present: u64, letter: char) -> u64 {
    let shift = u32::from(letter) % 32 * 2;
    let first = 1_u64 << shift;
    present | if present & first == 0 { first } else { first << 1 }
}

/// An edit costs more in a short word.
fn similarity(changes: usize, length: usize) -> f64 {
    let length = as_float(length);
    1.0 - as_float(changes) * (1.0 + 1.0 / (length - 3.0)) / length
}

fn as_float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_weighs_less_in_a_long_word() {
        let similarity = |one: &str, other: &str| Letters::new(one.into()).similarity(&Letters::new(other.into()));
        let table = [
            ("redemptor", "redemptor", Some(1.0..=1.0)),
            ("redemptor", "redemtpor", Some(0.85..=0.9)),
            ("redemptor", "rademptor", Some(0.85..=0.9)),
            ("станция", "станция", Some(1.0..=1.0)),
            ("станция", "стнация", Some(0.8..=0.85)),
            ("phase", "chase", None),
            ("ork", "orc", None),
            ("banana", "terminator", None),
        ];
        for (one, other, expected) in table {
            let found = similarity(one, other);
            let fits = expected.map_or(found.is_none(), |range| found.is_some_and(|found| range.contains(&found)));
            assert!(fits, "{one} {other} {found:?}");
        }
    }
}
