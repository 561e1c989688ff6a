//! How alike two words are as written: for typing errors, which sound like nothing.

/// Words less alike than this are different.
const ALIKE: f64 = 0.77;

/// Shorter words have no typing errors: too many other words are one letter away.
const SHORTEST: usize = 4;

/// Longer words are equal or different: comparing costs their length squared.
const LONGEST: usize = 64;

/// More typing errors than this make another word.
const CHANGES_AT_MOST: usize = 3;

/// Letters with what is needed to tell most pairs apart cheaply.
#[derive(Clone, Debug)]
pub(super) struct Letters {
    pub(super) text: String,
    outline: Outline,
}

/// What can be said about letters without going through them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outline {
    /// Two bits per letter of the alphabet, set for its first and second occurrence.
    present: u64,
    length: usize,
    /// With more changes it would be another word.
    changes: usize,
}

impl Letters {
    pub(super) fn new(text: String) -> Self {
        let length = text.chars().count();
        let changes = (0..=CHANGES_AT_MOST).rev().find(|changes| likeness(*changes, length) >= ALIKE).unwrap_or(0);
        let outline = Outline { present: text.chars().fold(0, with_letter), length, changes };
        Self { text, outline }
    }

    pub(super) fn length(&self) -> usize {
        self.outline.length
    }

    pub(super) fn outline(&self) -> Outline {
        self.outline
    }

    /// Likeness from 0 to 1, or none if it is below [`ALIKE`].
    pub(super) fn likeness(&self, other: &Self) -> Option<f64> {
        if self.text == other.text {
            return Some(1.0);
        }
        if self.outline.rules_out(&other.outline) {
            return None;
        }
        let changes = strsim::osa_distance(&self.text, &other.text);
        let likeness = likeness(changes, self.outline.length.max(other.outline.length));
        (changes <= CHANGES_AT_MOST && likeness >= ALIKE).then_some(likeness)
    }
}

impl Outline {
    /// Whether two words are certainly too many changes apart.
    pub(super) fn rules_out(&self, other: &Self) -> bool {
        let changes = self.changes.max(other.changes);
        // A change makes at most one letter vanish and one appear.
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

/// A change counts more in a short word.
fn likeness(changes: usize, length: usize) -> f64 {
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
        let likeness = |one: &str, other: &str| Letters::new(one.into()).likeness(&Letters::new(other.into()));
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
            let found = likeness(one, other);
            let fits = expected.map_or(found.is_none(), |range| found.is_some_and(|found| range.contains(&found)));
            assert!(fits, "{one} {other} {found:?}");
        }
    }
}
