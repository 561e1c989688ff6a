//! Values with a distinctive shape: addresses, links, files, days and times.

use serde_json::Value;

use super::super::catalogue::Holds;
use super::super::stem::stem;
use super::super::text_sort::TextSort;
use super::super::word_form::Form;
use super::super::words::original_text;
use super::draft::{Draft, Origin};

/// Fills text parameters of such a sort with the words of that shape.
pub(super) fn fill_shapes(draft: &mut Draft<'_>) {
    fill_moments(draft);
    for (index, field) in draft.fields() {
        let Holds::Text(sort) = field.holds else { continue };
        let fits = |form: Form| match sort {
            TextSort::Email => form == Form::Email,
            TextSort::Person => form == Form::Email,
            TextSort::Link => form == Form::Link,
            TextSort::File => form == Form::File,
            TextSort::Notation => {
                form == Form::Date && field.summary.iter().chain(&field.title).any(|own| *own == stem("date"))
            }
            _ => false,
        };
        let place =
            draft.reading.words.iter().enumerate().position(|(at, word)| fits(word.form) && !draft.is_taken(at));
        if let (Some(at), true) = (place, draft.is_open(index)) {
            let value = draft.reading.words.get(at..at + 1).map(original_text).unwrap_or_default();
            draft.put(index, Value::String(value), Origin::Explicit);
            draft.take(at..at + 1);
        }
    }
}

fn fill_moments(draft: &mut Draft<'_>) {
    let wanted = |draft: &Draft<'_>, wants: fn(TextSort) -> bool| {
        draft
            .fields()
            .find(|(index, field)| draft.is_open(*index) && matches!(field.holds, Holds::Text(sort) if wants(sort)))
            .map(|(index, _)| index)
    };
    let moments = draft.reading.moments.clone();
    let alone =
        draft.fields().filter(|(_, field)| matches!(field.holds, Holds::Text(sort) if sort.is_moment())).count() == 1;
    if let (true, [first, .., last] | [first @ last]) = (alone, moments.as_slice())
        && let Some(field) = wanted(draft, TextSort::is_moment)
        && last.words.start <= first.words.end + 2
    {
        return put_moment(draft, field, first.words.start..last.words.end);
    }
    for moment in moments {
        let wants: fn(TextSort) -> bool = if moment.clock {
            |sort| matches!(sort, TextSort::Clock | TextSort::Moment)
        } else {
            |sort| matches!(sort, TextSort::Day | TextSort::Moment)
        };
        if let Some(field) = wanted(draft, wants) {
            put_moment(draft, field, moment.words);
        }
    }
}

fn put_moment(draft: &mut Draft<'_>, field: usize, words: std::ops::Range<usize>) {
    let value = draft.reading.words.get(words.clone()).map(original_text).unwrap_or_default();
    draft.put(field, Value::String(value), Origin::Explicit);
    let led = words.start.checked_sub(1).filter(|at| {
        draft.reading.words.get(*at).is_some_and(|word| word.is_any(&["at", "on", "for", "by", "from", "until"]))
    });
    draft.take(led.unwrap_or(words.start)..words.end);
}
