//! The result of a name lookup, and the thresholds that decide it.

/// The lowest score of a match.
///
/// 1.0 is the name itself, or all its content words, correctly spelt. A part of a name scores 0.85 to 0.90, a nickname 0.82 to
/// 0.96 of that. Words that only sound or look similar score at most 0.97; below 0.75 they do not match.
pub const FOUND: f64 = 0.72;

/// The lead a match needs over the next name; otherwise both are candidates.
pub const GAP: f64 = 0.05;

/// The lowest score of a suggestion when there is no match.
pub const NEAREST: f64 = 0.5;

/// The longest list of candidates.
pub const CANDIDATES_AT_MOST: usize = 8;

/// The result of [`super::NameBook::resolve`].
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// A single match.
    Found {
        /// The name as the book has it.
        name: String,
        /// From [`FOUND`] to 1.
        score: f64,
        /// How it was matched.
        method: Method,
    },
    /// Several matches.
    Ambiguous {
        /// At least two, best first.
        candidates: Vec<Candidate>,
    },
    /// No match.
    Unknown {
        /// Nearest names, best first; may be empty.
        nearest: Vec<Candidate>,
    },
}

/// A possible match.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The name as the book has it.
    pub name: String,
    /// From 0 to 1.
    pub score: f64,
}

/// How a name was matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The name itself, up to case, articles, plural and word order.
    Exact,
    /// An alias, likewise.
    Alias,
    /// All or enough of its words, correctly spelt.
    Words,
    /// Words with typos.
    Spelling,
    /// Words that sound like it.
    Sound,
    /// The only candidate of several that was used lately.
    Recent,
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
            Self::Recent => "recent",
        }
    }
}

/// Applies the thresholds to scored names, given in book order.
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
