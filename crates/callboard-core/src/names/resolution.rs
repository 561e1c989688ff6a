//! The result of a name lookup, and the thresholds that decide it.

/// A score from here on is an answer; below it the name is unknown.
///
/// 1.0 is the name itself, or all its words that count, rightly spelt. A part of a name gives 0.85 to 0.90, a nickname 0.82 to
/// 0.96 of that; words that only sound or look alike give at most 0.97, and below 0.75 they are not taken for alike at all.
pub const FOUND: f64 = 0.72;

/// An answer must be this far ahead of the next name, else both are candidates.
pub const GAP: f64 = 0.05;

/// Names from this score on are worth mentioning when none was found.
pub const NEAREST: f64 = 0.5;

/// No list of candidates is longer.
pub const CANDIDATES_AT_MOST: usize = 8;

/// The answer of a [`super::NameBook`].
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// One name is meant.
    Found {
        /// The name as the book has it.
        name: String,
        /// From [`FOUND`] to 1.
        score: f64,
        /// What led to it.
        method: Method,
    },
    /// Several names may be meant.
    Ambiguous {
        /// At least two, best first.
        candidates: Vec<Candidate>,
    },
    /// No name is meant, or it is unclear which.
    Unknown {
        /// Names that come nearest, best first; may be empty.
        nearest: Vec<Candidate>,
    },
}

/// A name that may have been meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The name as the book has it.
    pub name: String,
    /// From 0 to 1.
    pub score: f64,
}

/// How a name was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The name itself; case, articles, plural and the order of words aside.
    Exact,
    /// Another name given for it, in the same way.
    Alias,
    /// Its words, or enough of them, rightly spelt.
    Words,
    /// Words with typing errors.
    Spelling,
    /// Words that sound like it.
    Sound,
}

impl Method {
    /// The method's name in results and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Alias => "alias",
            Self::Words => "words",
            Self::Spelling => "spelling",
            Self::Sound => "sound",
        }
    }
}

/// Decides from scored names, in the order of the book.
pub(super) fn decide(mut scored: Vec<(Candidate, Method)>) -> Resolution {
    scored.sort_by(|(one, _), (other, _)| other.score.total_cmp(&one.score));
    let Some((best, method)) = scored.first().cloned() else { return Resolution::Unknown { nearest: Vec::new() } };
    let from = if best.score < FOUND { NEAREST } else { best.score - GAP };
    let near = scored.into_iter().map(|(candidate, _)| candidate).take_while(|candidate| candidate.score >= from);
    let near: Vec<_> = near.take(CANDIDATES_AT_MOST).collect();
    match near.len() {
        _ if best.score < FOUND => Resolution::Unknown { nearest: near },
        1 => Resolution::Found { name: best.name, score: best.score, method },
        _ => Resolution::Ambiguous { candidates: near },
    }
}
