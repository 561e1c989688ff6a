//! Tokenises a text.
//!
//! A word keeps its original text, so that a span can be reproduced verbatim, with its lower-case form and its stem for
//! comparison. Contractions are split ("I'm" is "I" and "am"), a quotation is one word, and words with a distinctive
//! shape (addresses, links, files, times, dates) are tagged. Nothing here knows tools.

use super::stem::stem;
use super::word_form::{Form, form_of, is_formula, is_number};

/// One word, number, quote or mark.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// As written; a quote without its quotation marks.
    pub(super) text: String,
    pub(super) lower: String,
    pub(super) stem: String,
    pub(super) form: Form,
    /// It ends in a possessive "'s" or "'".
    pub(super) possessive: bool,
    /// It begins with a capital letter.
    pub(super) capital: bool,
    /// Whitespace precedes it.
    pub(super) spaced: bool,
}

impl Word {
    pub(super) fn is(&self, lower: &str) -> bool {
        self.lower == lower
    }

    pub(super) fn is_any(&self, lowers: &[&str]) -> bool {
        lowers.contains(&self.lower.as_str())
    }

    /// Whether it is one of these words, separated by spaces.
    pub(super) fn is_in(&self, words: &str) -> bool {
        words.split(' ').any(|word| word == self.lower)
    }

    pub(super) fn is_mark(&self) -> bool {
        self.form == Form::Mark
    }

    /// Whether it joins list items: a comma or "and".
    pub(super) fn joins(&self) -> bool {
        self.is_any(&[",", "and", "&", "plus"])
    }
}

/// The words of a text, in order.
pub(super) fn words_of(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text;
    let mut spaced = true;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            spaced = true;
            rest = skip(rest, first.len_utf8());
            continue;
        }
        let taken = match quote(rest) {
            Some((inner, length)) => {
                words.push(word(inner, Form::Quote, spaced));
                length
            }
            None => {
                let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
                push_piece(&mut words, rest.get(..length).unwrap_or(rest), spaced);
                length
            }
        };
        spaced = false;
        rest = skip(rest, taken.max(first.len_utf8()));
    }
    words
}

/// The stems of the plain words of a text; names are split at underscores and changes of case.
pub(super) fn stems_of(text: &str) -> Vec<String> {
    let mut open = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for letter in text.chars() {
        if letter.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
            open.push(' ');
        }
        open.push(if letter.is_alphanumeric() { letter } else { ' ' });
        before = letter;
    }
    open.split_whitespace().map(|part| stem(&part.to_lowercase())).collect()
}

/// The stems of a description, without the parts that say what the tool is *not* for.
pub(super) fn stems_of_description(text: &str) -> Vec<String> {
    const EXCLUDING: &[&str] =
        &["not", "except", "unless", "never", "apart from", "rather than", "other than", "instead of"];
    let excludes = |part: &str| {
        let part = part.trim_start().to_lowercase();
        EXCLUDING
            .iter()
            .any(|word| part.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    };
    let mut sentence = true;
    let mut stems = Vec::new();
    for part in text.split_inclusive(['.', ';', ',', ':', '(', ')', '?', '!']).filter(|part| !excludes(part)) {
        for (index, word) in part.split_whitespace().enumerate() {
            if !(is_example(word) && !(sentence && index == 0)) {
                stems.extend(stems_of(word));
            }
        }
        sentence = part.trim_end().ends_with(['.', ':', '(', '?', '!']);
    }
    stems
}

/// A capitalised word inside a sentence is an example, not the tool's subject; an acronym such as "CP" is not.
fn is_example(word: &str) -> bool {
    let letters: Vec<char> = word.chars().filter(|letter| letter.is_alphabetic()).collect();
    letters.len() > 1
        && letters.first().is_some_and(|first| first.is_uppercase())
        && letters.iter().any(|letter| letter.is_lowercase())
}

/// The original text of the words.
pub(super) fn original_text(words: &[Word]) -> String {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 && word.spaced {
            text.push(' ');
        }
        text.push_str(&word.text);
        if word.possessive && index + 1 < words.len() && !word.text.contains(['\'', '’']) {
            text.push_str("'s");
        }
    }
    text
}

fn skip(text: &str, bytes: usize) -> &str {
    text.get(bytes..).unwrap_or("")
}

/// A quotation at the start of the text: its content, and its length with the quotation marks.
fn quote(text: &str) -> Option<(&str, usize)> {
    let open = text.chars().next()?;
    let close = match open {
        '"' => '"',
        '“' | '„' => '”',
        '«' => '»',
        '`' => '`',
        '\'' => '\'',
        '‘' => '’',
        _ => return None,
    };
    let inside = skip(text, open.len_utf8());
    let end = if matches!(close, '\'' | '’') {
        inside.char_indices().find(|(at, letter)| *letter == close && ends_word(inside, at + letter.len_utf8()))?.0
    } else {
        inside.find(close)?
    };
    let inner = inside.get(..end)?;
    (!inner.trim().is_empty()).then(|| (inner.trim(), open.len_utf8() + end + close.len_utf8()))
}

fn ends_word(text: &str, at: usize) -> bool {
    text.get(at..).is_none_or(|rest| rest.chars().next().is_none_or(|letter| !letter.is_alphanumeric()))
}

fn push_piece(words: &mut Vec<Word>, piece: &str, spaced: bool) {
    if is_formula(piece) {
        words.push(word(piece.trim_end_matches(['?', '!', ',', '.', '=']), Form::Formula, spaced));
        return push_marks(words, piece.get(piece.trim_end_matches(['?', '!', ',', '.']).len()..).unwrap_or(""));
    }
    let core = piece.trim_start_matches(['(', '[', '{', '*', '#', '¿', '¡']);
    let inner = core.trim_end_matches([',', '.', '!', '?', ';', ':', ')', ']', '}', '…', '*']);
    if inner.is_empty() {
        push_marks(words, core);
        return;
    }
    match form_of(inner) {
        Form::Plain => push_plain(words, inner, spaced),
        form => words.push(word(inner, form, spaced)),
    }
    push_marks(words, core.get(inner.len()..).unwrap_or(""));
}

fn push_marks(words: &mut Vec<Word>, marks: &str) {
    words.extend(
        marks.chars().filter(|mark| !mark.is_alphanumeric()).map(|mark| word(&mark.to_string(), Form::Mark, false)),
    );
}

/// Plain words: split at hyphens and slashes, contractions split.
fn push_plain(words: &mut Vec<Word>, piece: &str, spaced: bool) {
    let mut first = true;
    for part in piece.split(['-', '/', '–', '—', '…', '_']) {
        if part.is_empty() {
            if !first || piece.len() < 4 {
                words.push(word("–", Form::Mark, false));
            }
            continue;
        }
        let (base, opened) = contraction(part);
        let form = if is_number(base.text) { Form::Number } else { Form::Plain };
        let mut own =
            Word { possessive: matches!(opened, Opened::Possessive), ..word(base.text, form, spaced && first) };
        if base.means != base.text {
            (own.lower, own.stem) = (base.means.to_owned(), base.means.to_owned());
        }
        words.push(own);
        if let Opened::Word(second) = opened {
            let (lower, stem) = (second.means.to_owned(), stem(second.means));
            words.push(Word { lower, stem, ..word(second.text, Form::Plain, false) });
        }
        first = false;
    }
}

/// A part of a contraction: its text, and the full word.
struct Piece<'a> {
    text: &'a str,
    means: &'a str,
}

enum Opened<'a> {
    Nothing,
    Possessive,
    Word(Piece<'a>),
}

fn contraction(part: &str) -> (Piece<'_>, Opened<'_>) {
    let whole = |text| Piece { text, means: text };
    let Some(at) = part.find(['\'', '’']) else { return (whole(part), Opened::Nothing) };
    let (base, suffix) = (part.get(..at).unwrap_or(part), part.get(at..).unwrap_or(""));
    let lower = base.to_lowercase();
    let opened = |means| (whole(base), Opened::Word(Piece { text: suffix, means }));
    match suffix.trim_start_matches(['\'', '’']).to_lowercase().as_str() {
        "m" => opened("am"),
        "re" => opened("are"),
        "ve" => opened("have"),
        "ll" => opened("will"),
        "d" => opened("would"),
        "t" if lower.ends_with('n') && lower.len() > 2 => negation(part, at, &lower),
        "s" if OPENS_TO_IS.contains(&lower.as_str()) => opened("is"),
        "s" | "" => (whole(base), Opened::Possessive),
        _ => (whole(part), Opened::Nothing),
    }
}

/// "don't" is "do not"; "can't" keeps its letter, "won't" is "will not".
fn negation<'a>(part: &'a str, at: usize, lower: &str) -> (Piece<'a>, Opened<'a>) {
    let cut = if lower == "can" { at } else { at.saturating_sub(1) };
    let (text, suffix) = (part.get(..cut).unwrap_or(part), part.get(cut..).unwrap_or(""));
    let means = match lower {
        "won" => "will",
        "shan" => "shall",
        _ => text,
    };
    (Piece { text, means }, Opened::Word(Piece { text: suffix, means: "not" }))
}

const OPENS_TO_IS: &[&str] =
    &["what", "who", "where", "when", "how", "why", "it", "that", "there", "here", "he", "she", "let", "this"];

fn word(text: &str, form: Form, spaced: bool) -> Word {
    let lower = text.to_lowercase();
    Word {
        stem: if form == Form::Plain { stem(&lower) } else { lower.clone() },
        capital: text.chars().next().is_some_and(char::is_uppercase),
        text: text.to_owned(),
        lower,
        form,
        possessive: false,
        spaced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        words_of(text).iter().map(|word| format!("{}{}", word.lower, if word.possessive { "'s" } else { "" })).collect()
    }

    #[test]
    fn text_is_cut_into_words() {
        for (text, expected) in [
            ("I'm done, your turn", &["i", "am", "done", ",", "your", "turn"][..]),
            ("Opponent's well-fed cat.", &["opponent's", "well", "fed", "cat", "."]),
            ("don't can't won't", &["do", "not", "can", "not", "will", "not"]),
            ("What's at 7:30pm?", &["what", "is", "at", "7:30pm", "?"]),
            ("say \"good night\" now", &["say", "good night", "now"]),
            ("umm… maybe…", &["umm", "…", "maybe", "…"]),
            ("mail a@b.org notes.txt", &["mail", "a@b.org", "notes.txt"]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn words_with_a_shape_are_marked() {
        for (text, form) in [
            ("a@b.org", Form::Email),
            ("https://b.org/x", Form::Link),
            ("report.pdf", Form::File),
            ("/etc/hosts", Form::File),
            ("2025-03-01", Form::Date),
            ("7pm", Form::Clock),
            ("19:30", Form::Clock),
            ("$12.50", Form::Number),
            ("3rd", Form::Number),
            ("hello", Form::Plain),
        ] {
            assert_eq!(words_of(text).first().map(|word| word.form), Some(form), "{text}");
        }
    }

    #[test]
    fn a_span_keeps_its_original_text() {
        let words = words_of("Tell Anna's friend: it's over, e.g. now");
        assert_eq!(original_text(words.get(1..3).unwrap_or(&[])), "Anna's friend");
    }

    #[test]
    fn names_are_split_at_case_and_underscore() {
        assert_eq!(stems_of("getUser_name"), ["get", "user", "name"]);
        assert_eq!(stems_of("math.areaOf2D"), ["math", "area", "of2", "d"]);
    }
}
