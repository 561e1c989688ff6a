//! Property tests: invariants for any name and any text.

use proptest::prelude::*;

use super::tests::{BOOKS, MEDICINES, PEOPLE, STATIONS, SWARM, book, found};
use super::{FOUND, Method, NameBook, NameEntry, Resolution};

/// Lists in which no name is one typo away from another.
const FAR_APART: [&[&str]; 3] = [STATIONS, PEOPLE, MEDICINES];

fn found_in(book: &NameBook, query: &str) -> Option<(String, Method)> {
    found(&book.resolve(query)).map(|(name, method)| (name.to_owned(), method))
}

fn plural_of(name: &str) -> String {
    match name.strip_suffix('y') {
        Some(root) => format!("{root}ies"),
        None if name.ends_with(['s', 'x', 'z']) || name.ends_with("ch") || name.ends_with("sh") => format!("{name}es"),
        None => format!("{name}s"),
    }
}

/// A random word that resembles words of names.
fn invented_word() -> impl Strategy<Value = String> {
    "([bdfgklmnprstvz][aeiou]){2,4}[lnrtk]?"
}

fn known_name(books: &[&'static [&'static str]]) -> impl Strategy<Value = (&'static [&'static str], &'static str)> {
    proptest::sample::select(books.to_vec()).prop_flat_map(|names| (Just(names), proptest::sample::select(names)))
}

/// One letter replaced, inserted, deleted, or swapped with the next.
fn with_slip(name: &str, place: usize, kind: u8, letter: char) -> String {
    let mut letters: Vec<char> = name.to_lowercase().chars().collect();
    let place = place % (letters.len() - 1);
    match kind {
        0 => letters[place] = letter,
        1 => letters.insert(place, letter),
        2 => drop(letters.remove(place)),
        _ => letters.swap(place, place + 1),
    }
    letters.into_iter().collect()
}

proptest! {
    #[test]
    fn any_text_gets_the_same_answer_twice(names in proptest::collection::vec(".{0,40}", 0..8), query in ".{0,80}") {
        let entries = || names.iter().map(|name| NameEntry { name: name.clone(), aliases: vec![query.chars().rev().collect()] });
        let (one, other) = (NameBook::new(entries()), NameBook::new(entries()));
        let resolution = one.resolve(&query);
        if let Resolution::Found { score, .. } = &resolution {
            prop_assert!((FOUND..=1.0).contains(score));
        }
        prop_assert_eq!(resolution, other.resolve(&query));
        for name in &names {
            let _ = one.resolve(name);
        }
    }

    #[test]
    fn text_near_a_name_never_panics(query in "((the|my|hive|ty|rant|fex|car|x|one|two|hundred|s|'s|é|-| ){1,3} ?){0,16}") {
        let _ = book(SWARM).resolve(&query);
    }

    #[test]
    fn every_name_is_itself(words in proptest::collection::hash_set(invented_word(), 2..24), upper: bool) {
        let words: Vec<_> = words.into_iter().collect();
        let names: Vec<String> = words.chunks(2).map(|pair| pair.join(" ")).collect();
        let book = NameBook::new(names.iter().map(|name| NameEntry::from(name.as_str())));
        for name in &names {
            let query = if upper { format!("The {}", name.to_uppercase()) } else { format!("my {name}") };
            prop_assert_eq!(found_in(&book, &query), Some((name.clone(), Method::Exact)));
        }
    }

    #[test]
    fn dress_does_not_count(
        (names, name) in known_name(&BOOKS),
        before in proptest::sample::select(vec!["", "the ", "my ", "Your ", "his ", "a ", "um, the "]),
        plural: bool,
    ) {
        prop_assume!(!plural || !name.ends_with(|c: char| c.is_ascii_digit()));
        let query = format!("{before}{}", if plural { plural_of(name) } else { name.to_lowercase() });
        prop_assert_eq!(found_in(&book(names), &query).map(|(name, _)| name), Some(name.to_owned()), "{}", query);
    }

    #[test]
    fn one_slip_in_a_long_name_is_forgiven(
        (names, name) in known_name(&FAR_APART),
        place in 0_usize..64,
        kind in 0_u8..4,
        letter in proptest::char::range('a', 'z'),
    ) {
        prop_assume!(name.len() >= 9);
        let query = with_slip(name, place, kind, letter);
        prop_assert_eq!(found_in(&book(names), &query).map(|(name, _)| name), Some(name.to_owned()), "{}", query);
    }

    #[test]
    fn a_split_word_is_put_together((names, name) in known_name(&BOOKS), place in 0_usize..64) {
        prop_assume!(name.len() >= 9 && name.is_ascii() && !name.contains(|c: char| c.is_ascii_digit()));
        let (one, other) = name.split_at(2 + place % (name.len() - 4));
        let query = format!("{one} {other}");
        prop_assert_eq!(found_in(&book(names), &query).map(|(name, _)| name), Some(name.to_owned()), "{}", query);
    }
}
