//! Days and times of day among the words: "tomorrow", "next Friday", "May 3rd", "at 5 pm", "7:30", "noon".
//!
//! They keep their wording: without a clock they cannot be resolved.

use std::ops::Range;

use super::word_form::Form;
use super::words::Word;

/// A day or a time of day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) words: Range<usize>,
    pub(super) clock: bool,
}

const DAYS: &str = "today tomorrow tonight yesterday";
const WEEK: &str = "monday tuesday wednesday thursday friday saturday sunday weekend mondays tuesdays wednesdays thursdays fridays \
    saturdays sundays";
const PERIODS: &str = "week month year weekend morning afternoon evening night";
const PARTS: &str = "morning afternoon evening night";
const MONTHS: &str = "january february march april may june july august september october november december jan feb mar apr jun jul \
    aug sept sep oct nov dec";

/// All moments in order, without overlap.
pub(super) fn moments_in(words: &[Word]) -> Vec<Moment> {
    let mut found: Vec<Moment> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match moment_at(words, at) {
            Some(moment) => {
                at = moment.words.end.max(at + 1);
                found.push(moment);
            }
            None => at += 1,
        }
    }
    found
}

fn moment_at(words: &[Word], at: usize) -> Option<Moment> {
    clock_at(words, at)
        .map(|end| Moment { words: at..end, clock: true })
        .or_else(|| day_at(words, at).map(|end| Moment { words: at..end, clock: false }))
}

fn clock_at(words: &[Word], at: usize) -> Option<usize> {
    let word = words.get(at)?;
    let next_is = |offset: usize, list: &str| words.get(at + offset).is_some_and(|word| word.is_in(list));
    let numeric = word.form == Form::Number || word.form == Form::Clock;
    if numeric && next_is(1, "am pm a.m p.m oclock o'clock") {
        return Some(at + 2);
    }
    if numeric && next_is(1, "in") && next_is(2, "the") && next_is(3, PARTS) {
        return Some(at + 4);
    }
    if word.form == Form::Clock || word.is_any(&["noon", "midnight", "midday"]) {
        return Some(at + 1);
    }
    None
}

fn day_at(words: &[Word], at: usize) -> Option<usize> {
    let word = words.get(at)?;
    let next_is = |offset: usize, list: &str| words.get(at + offset).is_some_and(|word| word.is_in(list));
    let number = |offset: usize| words.get(at + offset).is_some_and(|word| word.form == Form::Number);
    if word.form == Form::Date {
        return Some(at + 1);
    }
    if word.is_any(&["next", "this", "last"]) && (next_is(1, WEEK) || next_is(1, PERIODS)) {
        return Some(at + 2);
    }
    if word.is("the") && next_is(1, "day") && next_is(2, "after") && next_is(3, DAYS) {
        return Some(at + 4);
    }
    if word.is_in(DAYS) || word.is_in(WEEK) {
        return Some(if next_is(1, PARTS) { at + 2 } else { at + 1 });
    }
    if word.is_in(MONTHS) && number(1) && (word.capital || !word.is_any(&["may", "march"])) {
        return Some(year_after(words, at + 2));
    }
    if word.form == Form::Number && next_is(1, "of") && next_is(2, MONTHS) {
        return Some(year_after(words, at + 3));
    }
    (word.form == Form::Number && next_is(1, MONTHS)).then(|| year_after(words, at + 2))
}

fn year_after(words: &[Word], at: usize) -> usize {
    let year = |index: usize| words.get(index).is_some_and(|word| word.form == Form::Number && word.lower.len() == 4);
    if year(at) {
        at + 1
    } else if words.get(at).is_some_and(|word| word.is(",")) && year(at + 1) {
        at + 2
    } else {
        at
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::{original_text, words_of};
    use super::*;

    #[test]
    fn days_and_times_are_found() {
        for (text, expected) in [
            ("meet tomorrow at 10am", &["tomorrow", "10am"][..]),
            ("next friday at 5 pm", &["next friday", "5 pm"]),
            ("on May 3rd, 2025 please", &["May 3rd, 2025"]),
            ("the 4th of July", &["4th of July"]),
            ("I may 3 times", &[]),
            ("from 2025-03-01 on", &["2025-03-01"]),
            ("saturday morning at noon", &["saturday morning", "noon"]),
        ] {
            let words = words_of(text);
            let found: Vec<String> = moments_in(&words)
                .into_iter()
                .map(|moment| original_text(words.get(moment.words).unwrap_or(&[])))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
