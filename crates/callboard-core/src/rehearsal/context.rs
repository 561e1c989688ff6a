//! Current state read from the system messages: the value of a field, and the side a name belongs to.
//!
//! Reads only short statements such as "Season: Summer", and lists under the name of a side. A statement
//! that names several values is ignored.

use super::catalogue::{Choice, Field};
use super::own_or_other::{Side, side_of_noun};
use super::words::{Word, words_of};

/// Only the end of a long prompt is read: state usually comes last.
const MOST_LETTERS: usize = 24_000;

/// The words of the system messages, cut into short statements.
#[derive(Default)]
pub(super) struct Context {
    statements: Vec<Vec<Word>>,
}

impl Context {
    pub(super) fn read(text: &str) -> Self {
        let mut start = text.len().saturating_sub(MOST_LETTERS);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        let recent = text.get(start..).unwrap_or(text);
        let statements = recent
            .split(['\n', ';', '|', '·', '{', '}'])
            .flat_map(|line| line.split(". "))
            .map(words_of)
            .filter(|words| !words.is_empty())
            .collect();
        Self { statements }
    }

    /// The choice named by a short statement about this field, if it names exactly one.
    pub(super) fn choice<'a>(&self, field: &Field, choices: &'a [Choice]) -> Option<&'a Choice> {
        let head = field.distinctive_stems().last()?;
        let named = |part: &[Word]| {
            let mut named = choices.iter().filter(|choice| holds_all(part, &choice.title));
            named.next().filter(|_| named.next().is_none())
        };
        self.about(head).filter_map(named).last()
    }

    /// The side named by a short statement about this stem.
    pub(super) fn side_about(&self, stem: &str) -> Option<Side> {
        let named = |part: &[Word]| {
            let mut sides = part.iter().filter_map(|word| side_of_noun(&word.lower));
            sides.next().filter(|side| sides.all(|other| other == *side))
        };
        self.about(stem).filter_map(named).last()
    }

    /// The side under which a thing is listed, or the one in brackets after it.
    pub(super) fn side_of(&self, stems: &[&str]) -> Option<Side> {
        let mut current = None;
        let mut found: Option<(usize, Side)> = None;
        let mut disputed = false;
        for statement in &self.statements {
            for (at, word) in statement.iter().enumerate() {
                if !is_tag(statement, at) {
                    current = side_of_noun(&word.lower).or(current);
                }
                let Some(rank) = stems.iter().position(|stem| word.stem == *stem) else { continue };
                let Some(side) = tag_after(statement, at).or(current) else { continue };
                match found {
                    Some((best, other)) if best == rank => disputed |= other != side,
                    Some((best, _)) if best < rank => {}
                    _ => (found, disputed) = (Some((rank, side)), false),
                }
            }
        }
        found.filter(|_| !disputed).map(|(_, side)| side)
    }

    /// Comma-separated parts of statements that contain this stem and are short enough to be about it.
    fn about<'a>(&'a self, stem: &'a str) -> impl Iterator<Item = &'a [Word]> {
        self.statements
            .iter()
            .flat_map(|statement| statement.split(|word| word.is(",")))
            .filter(move |part| part.len() <= 10 && part.iter().any(|word| word.stem == *stem))
    }
}

/// A side in brackets applies to the preceding name: "Foxes (opponent)".
fn is_tag(words: &[Word], at: usize) -> bool {
    words.get(at).is_some_and(|word| side_of_noun(&word.lower).is_some())
        && words.get(at + 1).is_some_and(|next| next.is(")"))
}

fn tag_after(words: &[Word], at: usize) -> Option<Side> {
    let tag = (at + 1..at + 5).find(|place| is_tag(words, *place))?;
    words.get(tag).and_then(|word| side_of_noun(&word.lower))
}

fn holds_all(part: &[Word], stems: &[String]) -> bool {
    !stems.is_empty() && stems.iter().all(|stem| part.iter().any(|word| word.stem == *stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "You keep score. Seasons are Spring, Summer, Autumn.\nRound: 2. Season: Summer. Turn: opponent.\n\
                        player team: River Foxes (5 left), Badgers\nopponent team: Ravens, Herons\n- Badgers (player) against Ravens (opponent)";

    #[test]
    fn current_values_are_read() {
        let context = Context::read(TEXT);
        assert_eq!(context.side_about("turn"), Some(Side::Other));
        assert_eq!(context.side_of(&["raven"]), Some(Side::Other));
        assert_eq!(context.side_of(&["badger"]), Some(Side::Own));
        assert_eq!(context.side_of(&["banana"]), None);
    }
}
