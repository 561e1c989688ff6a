//! Numbers in digits or words: "5", "$1,200", "3rd", "twenty one", "a dozen", "half a dozen", "two and a half".
//!
//! A number carries the span it covers. `fill::numbers` assigns it to a parameter.

use std::ops::Range;

use serde_json::{Number, Value};

use super::word_form::Form;
use super::words::Word;

/// A number among the words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumberSpan {
    pub(super) words: Range<usize>,
    pub(super) value: f64,
    pub(super) ordinal: bool,
    /// Only an article: "a model" may mean one.
    pub(super) article: bool,
}

const SMALL: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen";
const TENS: &[&str] = &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ORDINALS: &[&str] = &[
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
];
/// After these, "one" is a pronoun.
const BEFORE_PRONOUN_ONE: &[&str] =
    &["no", "this", "that", "the", "any", "every", "some", "which", "each", "another", "good"];

/// All numbers in order, without overlap.
pub(super) fn numbers_in(words: &[Word]) -> Vec<NumberSpan> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match number_at(words, at) {
            Some(number) => {
                at = number.words.end.max(at + 1);
                found.push(number);
            }
            None => at += 1,
        }
    }
    found
}

/// The number as JSON: an integer if it has no fraction.
pub(super) fn json_number(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

/// Parses a number in digits, with currency signs and endings; true for an ordinal.
pub(super) fn written(text: &str) -> Option<(f64, bool)> {
    let negative = text.starts_with(['-', '−']);
    let bare =
        text.trim_start_matches(['-', '−', '+']).trim_start_matches(['$', '€', '£']).trim_end_matches(['%', '€', '°']);
    let digits = bare.chars().take_while(|letter| letter.is_ascii_digit() || matches!(letter, ',' | '.')).count();
    let (number, ending) = (bare.get(..digits)?, bare.get(digits..)?.to_lowercase());
    let (factor, ordinal) = match ending.as_str() {
        "" => (1.0, false),
        "k" => (1_000.0, false),
        "st" | "nd" | "rd" | "th" => (1.0, true),
        _ => return None,
    };
    if !number.starts_with(|letter: char| letter.is_ascii_digit()) || number.matches('.').count() > 1 {
        return None;
    }
    let value: f64 = number.replace(',', "").parse().ok()?;
    Some((if negative { -value } else { value } * factor, ordinal))
}

/// Whether a word is part of a spoken number.
pub(super) fn is_number_word(lower: &str) -> bool {
    small_or_tens(lower).is_some() || scale(lower).is_some() || lower == "dozen"
}

fn number_at(words: &[Word], at: usize) -> Option<NumberSpan> {
    let word = words.get(at)?;
    if word.is_any(&["minus", "negative"]) {
        let positive = number_at(words, at + 1).filter(|number| !number.article)?;
        return Some(NumberSpan { words: at..positive.words.end, value: -positive.value, ..positive });
    }
    if let Some(group) = grouped(words, at) {
        return Some(group);
    }
    if word.form == Form::Number {
        let (value, ordinal) = written(&word.lower)?;
        return Some(with_fraction(words, number_span(at..at + 1, value, ordinal)));
    }
    if let Some(index) = ORDINALS.iter().position(|ordinal| word.is(ordinal)) {
        return Some(number_span(at..at + 1, index as f64 + 1.0, true));
    }
    if word.is("one") && at > 0 && words.get(at - 1).is_some_and(|before| before.is_any(BEFORE_PRONOUN_ONE)) {
        return None;
    }
    if let Some((value, end)) = cardinal(words, at) {
        return Some(with_fraction(words, number_span(at..end, value, false)));
    }
    word.is_any(&["a", "an"]).then(|| NumberSpan { article: true, ..number_span(at..at + 1, 1.0, false) })
}

fn number_span(words: Range<usize>, value: f64, ordinal: bool) -> NumberSpan {
    NumberSpan { words, value, ordinal, article: false }
}

/// "a dozen", "half a dozen", "a couple of", "a hundred", "half an", "a single".
fn grouped(words: &[Word], at: usize) -> Option<NumberSpan> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let (value, length) = match (lower(at), lower(at + 1), lower(at + 2)) {
        ("half", "a" | "an", "dozen") => (6.0, 3),
        ("a", "dozen", _) => (12.0, 2),
        ("dozen", _, _) => (12.0, 1),
        ("a", "couple" | "pair", "of") => (2.0, 3),
        ("a", "couple" | "pair", _) => (2.0, 2),
        ("a", "hundred", _) => (100.0, 2),
        ("a", "thousand", _) => (1000.0, 2),
        ("a", "million", _) => (1_000_000.0, 2),
        ("a", "single", _) => (1.0, 2),
        ("half", "a" | "an", _) => (0.5, 2),
        _ => return None,
    };
    Some(number_span(at..at + length, value, false))
}

/// Cardinal words: "three hundred and five", "twenty one", "two point five".
fn cardinal(words: &[Word], at: usize) -> Option<(f64, usize)> {
    let (mut total, mut part, mut end) = (0.0, 0.0, at);
    let mut last = f64::INFINITY;
    while let Some(word) = words.get(end).filter(|_| end < at + 12) {
        if let Some(value) = small_or_tens(&word.lower).filter(|value| fits_after(*value, last)) {
            part += value;
            last = value;
        } else if let Some(scale) = scale(&word.lower).filter(|_| end > at) {
            if scale == 100.0 {
                part *= 100.0;
            } else {
                total += part * scale;
                part = 0.0;
            }
            last = scale;
        } else if !(word.is("and") && last >= 100.0 && last.is_finite() && continues(words, end + 1)) {
            break;
        }
        end += 1;
    }
    (end > at).then(|| decimals(words, end, total + part))
}

fn small_or_tens(lower: &str) -> Option<f64> {
    let small = SMALL.split(' ').position(|name| name == lower).map(|index| index as f64);
    small.or_else(|| TENS.iter().position(|name| *name == lower).map(|index| (index as f64 + 2.0) * 10.0))
}

/// "twenty one" is one number, "five six" are two.
fn fits_after(value: f64, last: f64) -> bool {
    last >= 100.0 || (last >= 20.0 && value < 10.0 && value > 0.0)
}

fn scale(lower: &str) -> Option<f64> {
    match lower {
        "hundred" => Some(100.0),
        "thousand" => Some(1_000.0),
        "million" => Some(1_000_000.0),
        "billion" => Some(1_000_000_000.0),
        _ => None,
    }
}

fn continues(words: &[Word], at: usize) -> bool {
    words.get(at).is_some_and(|word| small_or_tens(&word.lower).is_some())
}

fn decimals(words: &[Word], end: usize, whole: f64) -> (f64, usize) {
    let digit = |index: usize| {
        let word = words.get(index)?;
        let named = SMALL.split(' ').take(10).position(|name| word.is(name)).map(|index| index as f64);
        named.or_else(|| written(&word.lower).map(|(value, _)| value).filter(|value| (0.0..10.0).contains(value)))
    };
    if !words.get(end).is_some_and(|word| word.is("point")) || digit(end + 1).is_none() {
        return (whole, end);
    }
    let (mut value, mut at, mut place) = (whole, end + 1, 0.1);
    while let Some(next) = digit(at).filter(|_| place > 1e-7) {
        value += next * place;
        place /= 10.0;
        at += 1;
    }
    ((value * 1e6).round() / 1e6, at)
}

/// "two and a half", "3 hundred", "5 million".
fn with_fraction(words: &[Word], number: NumberSpan) -> NumberSpan {
    let end = number.words.end;
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    if (lower(end), lower(end + 1), lower(end + 2)) == ("and", "a", "half") {
        return NumberSpan { words: number.words.start..end + 3, value: number.value + 0.5, ..number };
    }
    match scale(lower(end)).filter(|_| number.words.len() == 1) {
        Some(scale) => NumberSpan { words: number.words.start..end + 1, value: number.value * scale, ..number },
        None => number,
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words_of;
    use super::*;

    #[test]
    fn numbers_are_read() {
        for (text, expected) in [
            ("5 damage", &[5.0][..]),
            ("twenty one of them", &[21.0]),
            ("twenty-one", &[21.0]),
            ("half a dozen eggs", &[6.0]),
            ("dozen eggs, a couple of pears", &[12.0, 2.0]),
            ("three hundred and five", &[305.0]),
            ("two thousand five hundred", &[2500.0]),
            ("five six seven", &[5.0, 6.0, 7.0]),
            ("1, 2, and 3", &[1.0, 2.0, 3.0]),
            ("two point five", &[2.5]),
            ("two and a half hours", &[2.5]),
            ("$1,200.50 or 30%", &[1200.5, 30.0]),
            ("minus five, -3", &[-5.0, -3.0]),
            ("the third time", &[3.0]),
            ("5 million", &[5_000_000.0]),
            ("no one, this one", &[]),
            ("10k steps", &[10_000.0]),
        ] {
            let found: Vec<f64> = numbers_in(&words_of(text))
                .iter()
                .filter(|number| !number.article)
                .map(|number| number.value)
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
