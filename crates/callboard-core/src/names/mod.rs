//! Spoken names -> real ones: what a speech recogniser or a model wrote, resolved to one name of a known list.
//!
//! Articles, owners and plurals do not count; words may come in any order, be left out, be split or joined; sound counts more
//! than spelling. A [`NameBook`] is built once and queried often. It works on names, never on running text, and says so when it
//! does not know: [`Resolution::Unknown`] and [`Resolution::Ambiguous`] carry the nearest names for a question back.

mod arguments;
mod book;
mod exact;
mod numbers;
mod phrase;
mod pronunciation;
#[cfg(test)]
mod properties;
mod resolution;
mod score;
mod shorthand;
mod sound_distance;
mod spelling;
#[cfg(test)]
mod tests;
mod words;

pub use arguments::resolve_arguments;
pub use book::{NameBook, NameEntry};
pub use resolution::{CANDIDATES_AT_MOST, Candidate, FOUND, GAP, Method, NEAREST, Resolution};
