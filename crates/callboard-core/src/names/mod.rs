//! Fuzzy name resolution: maps the output of a speech recogniser or a model to one name of a known list.
//!
//! Articles, owners and plurals are ignored; words may be reordered, omitted, split or joined; sound counts more than
//! spelling. A [`NameBook`] is built once and queried often. Queries are names, never running text.
//! [`Resolution::Unknown`] and [`Resolution::Ambiguous`] carry the nearest names for a follow-up question.

mod adjacent_words;
mod arguments;
mod book;
mod exact;
mod numbers;
mod pronunciation;
#[cfg(test)]
mod property_tests;
mod resolution;
mod score;
mod shorthand;
mod sound_distance;
mod spelling;
#[cfg(test)]
mod tests;
mod words;

pub use arguments::{NameLists, ResolvedName, resolve_arguments};
pub use book::{NameBook, NameEntry};
pub use resolution::{CANDIDATES_AT_MOST, Candidate, FOUND, GAP, Method, NEAREST, Resolution};
pub use words::{fold, singular_of};
