//! Two sides from the speaker's point of view: own and other.
//!
//! "my", "our", "I" are the own side; "your", "his", "their" and "the opponent" are the other. A parameter is sided when its
//! values name both.

use super::catalogue::Choice;

/// The own or the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Own,
    Other,
}

impl Side {
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Own => Self::Other,
            Self::Other => Self::Own,
        }
    }
}

const OWN_NOUNS: &[&str] = &["player", "me", "self", "mine", "us", "own", "user", "friendly", "ally", "allied", "ours"];
const OTHER_NOUNS: &[&str] =
    &["opponent", "opponents", "enemy", "enemies", "them", "foe", "rival", "other", "hostile", "adversary", "theirs"];

/// The side that a noun or an enum value names.
pub(super) fn side_of_noun(lower: &str) -> Option<Side> {
    if OWN_NOUNS.contains(&lower) {
        Some(Side::Own)
    } else if OTHER_NOUNS.contains(&lower) {
        Some(Side::Other)
    } else {
        None
    }
}

/// The side that a pronoun or noun means when the user says it.
pub(super) fn side_of_speech(lower: &str) -> Option<Side> {
    match lower {
        "i" | "we" | "me" | "us" | "my" | "our" | "mine" | "ours" | "myself" => Some(Side::Own),
        "you" | "your" | "yours" | "he" | "him" | "his" | "she" | "her" | "hers" | "they" | "them" | "their"
        | "theirs" => Some(Side::Other),
        "other" | "own" => None,
        noun => side_of_noun(noun),
    }
}

/// The values of both sides, if the choices name exactly two.
pub(super) fn sided(choices: &[Choice]) -> Option<(&Choice, &Choice)> {
    let of = |side: Side| {
        let mut named = choices.iter().filter(move |choice| {
            choice.value.as_str().is_some_and(|value| side_of_noun(&value.to_lowercase()) == Some(side))
        });
        named.next().filter(|_| named.next().is_none())
    };
    Some((of(Side::Own)?, of(Side::Other)?))
}
