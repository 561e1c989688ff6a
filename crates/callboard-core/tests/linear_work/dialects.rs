//! Calls in text: every state of every dialect.

use std::collections::BTreeMap;

use callboard_core::dialect::{TextEnd, TextReader};
use callboard_core::model::Delta;
use callboard_core::wire::chat::ReplyReader;
use callboard_test_support::golden_page::{Page, StreamPiece, read_pages};

use super::cpu_time::Plain;
use super::runs::{CHARACTERS, WORDS, run};

const TOOLS: [&str; 4] = ["find_play", "book_seats", "send_note", "ring_bell"];
const SIZE: usize = 1000;

/// How many of the last characters tell states apart.
const LAST: usize = 1;

/// How many failures are reported.
const SHOWN: usize = 20;

/// How a text arrives.
#[derive(Debug, Clone, Copy)]
enum Arrival {
    ByCharacter,
    AtOnce,
}

/// Reads a beginning, a run and its end.
fn read(beginning: &str, unit: &str, end: &str, size: usize, arrival: Arrival) {
    let (mut reader, mut pieces) = (TextReader::new(&TOOLS), Vec::new());
    let run = run(unit, size);
    match arrival {
        Arrival::AtOnce => reader.feed(&format!("{beginning}{run}{end}"), &mut pieces),
        Arrival::ByCharacter => {
            reader.feed(beginning, &mut pieces);
            let mut buffer = [0; 4];
            for character in run.chars().chain(end.chars()) {
                reader.feed(character.encode_utf8(&mut buffer), &mut pieces);
                pieces.clear();
            }
        }
    }
    reader.finish(TextEnd::Complete, &mut pieces);
}

/// The texts of all replies on the pages about families.
fn texts() -> Vec<String> {
    let pages = read_pages();
    let families = pages.iter().filter(|page| page.stem.starts_with("family-"));
    families.flat_map(texts_of).filter(|text| !text.is_empty()).collect()
}

fn texts_of(page: &Page) -> Vec<String> {
    let streams = page.upstreams().into_iter().filter_map(|reply| reply.stream(1, false));
    streams.map(|pieces| text_of(&pieces)).collect()
}

fn text_of(pieces: &[StreamPiece]) -> String {
    let (mut reader, mut deltas) = (ReplyReader::stream(1 << 20), Vec::new());
    for piece in pieces {
        if let StreamPiece::Bytes(bytes) = piece {
            let _ = reader.feed(bytes.as_bytes(), &mut deltas);
        }
    }
    deltas.into_iter().filter_map(|delta| if let Delta::Text(text) = delta { Some(text) } else { None }).collect()
}

/// A beginning for each state in which a reader can be: what it reads, and the form of the last characters.
fn beginnings() -> Vec<String> {
    let mut beginnings = BTreeMap::new();
    for text in texts() {
        let (mut reader, mut pieces) = (TextReader::new(&TOOLS), Vec::new());
        for (at, character) in text.char_indices() {
            let beginning = &text[..at + character.len_utf8()];
            reader.feed(&text[at..beginning.len()], &mut pieces);
            beginnings.entry(state(&reader, beginning)).or_insert_with(|| beginning.to_owned());
        }
    }
    beginnings.into_values().collect()
}

fn state(reader: &TextReader, beginning: &str) -> String {
    let shown = format!("{reader:?}");
    let markup =
        shown.split_once("markup: ").and_then(|(_, rest)| rest.split_once("bare_refused")).unwrap_or_default().0;
    let last = shape(beginning).chars().rev().take(LAST).collect::<String>();
    format!("{last} {}", shape(markup))
}

/// A text with each run of letters and digits as one letter.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    for character in text.chars() {
        let sign = if character.is_alphanumeric() || character == '_' { 'a' } else { character };
        if sign != 'a' || !shape.ends_with('a') {
            shape.push(sign);
        }
    }
    shape
}

/// The runs after this beginning that take more than linear work.
fn slow_runs(beginning: &str, units: &[&str], ends: [(&str, Arrival); 2], plain: &Plain) -> Vec<String> {
    let mut slow = Vec::new();
    for (unit, (end, arrival)) in units.iter().flat_map(|unit| ends.map(|end| (*unit, end))) {
        if !plain.permits(&|size| read(beginning, unit, end, size, arrival)) {
            slow.push(format!("{beginning:?} and then {unit:?}, ended by {end:?}, {arrival:?}"));
        }
    }
    slow
}

fn check(units: &[&str], ends: [(&str, Arrival); 2]) {
    let (beginnings, plain) = (beginnings(), Plain::measure(SIZE));
    let slow = beginnings.iter().flat_map(|beginning| slow_runs(beginning, units, ends, &plain));
    let slow: Vec<String> = slow.take(SHOWN).collect();
    assert!(slow.is_empty(), "these take more than linear work:\n{}", slow.join("\n"));
}

#[test]
fn runs_of_characters() {
    check(&CHARACTERS, [("", Arrival::ByCharacter), ("x. ", Arrival::ByCharacter)]);
}

#[test]
fn runs_of_words_and_marks() {
    check(&WORDS, [("x. ", Arrival::ByCharacter), ("</arg_value>. ", Arrival::AtOnce)]);
}
