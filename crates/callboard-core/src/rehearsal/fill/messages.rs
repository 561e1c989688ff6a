//! Longer texts: messages, notes, search queries, formulas, and remarks about the call itself.
//!
//! A message begins after its cue ("saying", "that", "to", a colon) or after the command, and ends before words taken by
//! other parameters.

use std::ops::Range;

use serde_json::Value;

use super::super::catalogue::{Field, Holds};
use super::super::lexicon::{POSSESSIVES, VERBS, is_empty_word};
use super::super::noun_phrases::acts;
use super::super::role::Role;
use super::super::synonyms::alike;
use super::super::text_sort::TextSort;
use super::super::vocabulary::is_content;
use super::super::word_form::Form;
use super::super::words::{Word, original_text};
use super::draft::{Draft, Origin};

/// Fills messages, formulas and remarks.
pub(super) fn fill_messages(draft: &mut Draft<'_>) {
    for (index, field) in draft.fields() {
        let Holds::Text(sort) = field.holds else { continue };
        if !draft.is_open(index) {
            continue;
        }
        let span = match sort {
            TextSort::Message => message(draft, field),
            TextSort::Formula => formula(draft),
            _ => None,
        };
        if let Some(span) = span.filter(|span| !span.is_empty()) {
            let words = draft.reading.words.get(span.clone()).unwrap_or_default();
            let text = if sort == TextSort::Formula { written_out(words) } else { original_text(words) };
            draft.put(index, Value::String(text), Origin::Guessed);
            draft.take(span);
        }
    }
}

/// Fills required remarks with their own phrase, or with the whole utterance.
pub(super) fn fill_remarks(draft: &mut Draft<'_>) {
    for (index, field) in draft.fields().filter(|(_, field)| matches!(field.holds, Holds::Text(TextSort::Remark))) {
        if !draft.is_open(index)
            || !field.required && !because(draft.reading.words).is_some_and(|_| field.is(Role::Reason))
        {
            continue;
        }
        let words = draft.reading.words;
        let cue = because(words).or_else(|| led_by(draft, &["from", "for"]));
        let span = cue.and_then(|cue| words.get(cue..)).map(trim_marks).filter(|span| span.iter().any(is_content));
        let text = original_text(trim_marks(span.unwrap_or(words)));
        if !text.is_empty() {
            draft.put(index, Value::String(text), Origin::Implied);
            if let Some(cue) = cue {
                (cue..words.len()).for_each(|at| draft.use_word(at));
            }
        }
    }
}

fn because(words: &[Word]) -> Option<usize> {
    words.iter().position(|word| word.is("because")).map(|at| at + 1)
}

fn led_by(draft: &Draft<'_>, prepositions: &[&str]) -> Option<usize> {
    let words = draft.reading.words;
    let at = (0..words.len())
        .rev()
        .find(|at| words.get(*at).is_some_and(|word| word.is_any(prepositions)) && !draft.is_taken(at + 1))?;
    words.get(at + 1).map(|_| at + 1)
}

fn message(draft: &Draft<'_>, field: &Field) -> Option<Range<usize>> {
    let words = draft.reading.words;
    let quote = words.iter().enumerate().position(|(at, word)| word.form == Form::Quote && !draft.is_taken(at));
    if let Some(at) = quote {
        return Some(at..at + 1);
    }
    let cue = cue(draft, field);
    let start = match cue {
        Some(cue) => cue,
        None if field.required => order_end(draft, field),
        None => return None,
    };
    let start =
        (start..words.len()).find(|at| !draft.is_taken(*at) && words.get(*at).is_some_and(|word| !word.is_mark()))?;
    let mut end = (start..words.len()).find(|at| draft.is_taken(*at)).unwrap_or(words.len());
    end = without_tail(draft, start, end, cue.is_some());
    let meaning = words.get(start..end)?.iter().any(|word| !is_empty_word(&word.lower) || word.form != Form::Plain);
    meaning.then_some(start..end)
}

/// The position after the cue of a message.
fn cue(draft: &Draft<'_>, field: &Field) -> Option<usize> {
    let words = draft.reading.words;
    let after = |found: Option<usize>| found.map(|at| at + 1).filter(|at| *at < words.len());
    let saying = words.iter().position(|word| word.is_any(&["saying", "says", ":"]));
    let telling = words
        .iter()
        .enumerate()
        .position(|(at, word)| word.is("that") && at > 0 && !words.get(at + 1).is_some_and(|next| next.is_mark()));
    let tasked = (1..words.len()).find(|at| {
        words.get(*at).is_some_and(|word| word.is("to"))
            && words
                .get(at + 1)
                .is_some_and(|next| VERBS.contains(&next.stem) || next.is_any(&["be", "go", "have", "do"]))
            && words.get(at - 1).is_some_and(|before| {
                before.is_any(&[
                    "me", "us", "him", "her", "them", "need", "remember", "forget", "reminder", "task", "todo",
                ]) || before.capital
            })
    });
    let sought = field.is(Role::Search).then(|| words.iter().position(|word| word.is_any(&["for", "about"]))).flatten();
    let topic = || words.iter().position(|word| word.is("about")).filter(|_| field.is(Role::Topic));
    after(saying)
        .or_else(|| after(tasked))
        .or_else(|| after(sought))
        .or_else(|| after(telling))
        .or_else(|| after(topic()))
}

/// Where the content of a command begins: after the verb and the tool's own words.
fn order_end(draft: &Draft<'_>, field: &Field) -> usize {
    let words = draft.reading.words;
    let verb = words.iter().position(|word| {
        word.form == Form::Plain && (VERBS.contains(&word.stem) || draft.tool.title.contains(&word.stem))
    });
    let Some(verb) = verb else { return 0 };
    let speaks =
        |word: &Word| draft.tool.names(&word.stem) || draft.tool.title.iter().any(|own| alike(own, &word.stem));
    if !words.get(verb).is_some_and(speaks) && field.is(Role::Content) && !acts(words, 0, false) {
        return 0;
    }
    let small = |word: &Word| {
        is_empty_word(&word.lower)
            && (!word
                .is_any(&["i", "we", "you", "he", "she", "they", "it", "not", "how", "what", "who", "where", "why"]))
            || POSSESSIVES.contains(&word.lower)
    };
    (verb + 1..words.len())
        .find(|at| {
            words.get(*at).is_some_and(|word| {
                !small(word) && !word.is_mark() && !(draft.tool.names(&word.stem)) && !draft.is_taken(*at)
            })
        })
        .unwrap_or(words.len())
}

/// Trims a trailing phrase that names the tool, not the content: "… to my shopping list", "… in my notes".
fn without_tail(draft: &Draft<'_>, start: usize, end: usize, announced: bool) -> usize {
    const TIES: &[&str] = &["to", "in", "on", "into", "onto", "at", "for", "from", "with", "under", "below", "as"];
    let words = draft.reading.words;
    let own = |word: &Word| draft.tool.names(&word.stem) || draft.tool.summary.contains(&word.stem);
    let mut end = end;
    while let Some(at) = (start + 1..end).rev().find(|at| words.get(*at).is_some_and(|word| word.is_any(TIES))) {
        let rest = words.get(at + 1..end).unwrap_or_default();
        let ties = rest.iter().all(|word| is_empty_word(&word.lower) || own(word) || word.is_mark());
        if !ties || announced && !rest.is_empty() && !rest.iter().any(own) {
            break;
        }
        end = at;
    }
    end
}

/// The span from the first number or operator to the last.
fn formula(draft: &Draft<'_>) -> Option<Range<usize>> {
    let words = draft.reading.words;
    let counts = |word: &Word| matches!(word.form, Form::Formula | Form::Number);
    let first = words
        .iter()
        .position(counts)
        .or_else(|| draft.reading.numbers.iter().find(|number| !number.article).map(|number| number.words.start))?;
    let spoken_end = draft.reading.numbers.iter().filter(|number| !number.article).map(|number| number.words.end).max();
    let last = words.iter().rposition(counts).map(|at| at + 1).max(spoken_end)?;
    let sum = words.get(first..last)?.iter().any(|word| word.form == Form::Formula || operator(&word.lower).is_some());
    sum.then_some(first..last)
}

fn operator(lower: &str) -> Option<&'static str> {
    match lower {
        "plus" => Some("+"),
        "minus" | "–" => Some("-"),
        "times" | "multiplied" | "×" | "x" => Some("*"),
        "divided" | "over" | "÷" => Some("/"),
        _ => None,
    }
}

fn written_out(words: &[Word]) -> String {
    let numbers = super::super::numbers::numbers_in(words);
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let number = numbers.iter().find(|number| number.words.start == at && !number.article);
        if let Some(number) = number.filter(|_| word.form == Form::Plain && operator(&word.lower).is_none()) {
            parts.push(number.value.to_string());
            at = number.words.end.max(at + 1);
            continue;
        }
        if !word.is("by") {
            parts.push(operator(&word.lower).map_or_else(|| word.text.clone(), str::to_owned));
        }
        at += 1;
    }
    parts.join(" ")
}

fn trim_marks(words: &[Word]) -> &[Word] {
    let start = words.iter().position(|word| !word.is_mark()).unwrap_or(words.len());
    let end = words.iter().rposition(|word| !word.is_mark()).map_or(start, |at| at + 1);
    words.get(start..end).unwrap_or_default()
}
