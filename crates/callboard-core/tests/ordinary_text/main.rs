//! Ordinary texts, with tools on offer: all of them must pass unchanged, without a call, however they are cut.
//!
//! The texts are those of `tests/ordinary_text`, separated by `%%%%`, and the documentation and code of this repository, as
//! they are and in a fence. `cargo test -p callboard-core --test ordinary_text -- --nocapture` prints how many there are.

#[cfg(test)]
mod texts;

use callboard_core::dialect::{TextEnd, TextPiece, TextReader, ToolNames};

use texts::{texts, tools};

/// The beginning of a call is decided on within this many bytes, and in most texts far earlier.
const LONGEST_WAIT: usize = 1100;
const LONG_WAIT: usize = 200;

/// What comes out of a text that arrives in parts of `size` characters.
fn read(text: &str, size: usize, tools: &ToolNames) -> Vec<TextPiece> {
    let (mut reader, mut pieces) = (TextReader::with_tools(tools.clone()), Vec::new());
    let characters: Vec<char> = text.chars().collect();
    for part in characters.chunks(size) {
        reader.feed(&part.iter().collect::<String>(), &mut pieces);
    }
    reader.finish(TextEnd::Complete, &mut pieces);
    pieces
}

#[test]
fn ordinary_texts_pass_unchanged() {
    let (tools, texts) = (tools(), texts());
    let lines: usize = texts.iter().map(|(_, text)| text.lines().count()).sum();
    let mut changed = Vec::new();
    for (path, text) in &texts {
        for size in [1, 6, text.len()] {
            let (mut passed, mut others) = (String::new(), Vec::new());
            for piece in read(text, size, &tools) {
                match piece {
                    TextPiece::Text(part) => passed.push_str(&part),
                    other => others.push(other),
                }
            }
            if passed != *text || !others.is_empty() {
                changed.push(format!("{path}, {size} characters at a time: {others:?}\n{}", difference(text, &passed)));
                break;
            }
        }
    }
    println!("{} texts of {lines} lines, {} changed", texts.len(), changed.len());
    assert!(changed.is_empty(), "these are no calls, and were not passed on as they are:\n{}", changed.join("\n"));
    assert!(texts.len() > 200 && lines > 20_000, "only {} texts of {lines} lines were found", texts.len());
}

/// The longest part of a text that arrives before anything is passed on, when it comes character by character.
fn longest_wait(text: &str, tools: &ToolNames) -> usize {
    let (mut reader, mut buffer) = (TextReader::with_tools(tools.clone()), [0; 4]);
    let (mut waiting, mut longest) = (0, 0);
    for character in text.chars() {
        let mut pieces = Vec::new();
        reader.feed(character.encode_utf8(&mut buffer), &mut pieces);
        waiting = if pieces.is_empty() { waiting + character.len_utf8() } else { 0 };
        longest = longest.max(waiting);
    }
    longest
}

#[test]
fn ordinary_texts_are_not_held_for_long() {
    let tools = tools();
    let mut waits: Vec<(usize, String)> =
        texts().into_iter().map(|(path, text)| (longest_wait(&text, &tools), path)).collect();
    waits.sort();
    let long = waits.iter().filter(|(bytes, _)| *bytes > LONG_WAIT).count();
    println!(
        "{long} of {} texts wait for more than {LONG_WAIT} bytes, none for more than {:?}",
        waits.len(),
        waits.last()
    );
    assert!(waits.last().is_some_and(|(bytes, _)| *bytes <= LONGEST_WAIT), "{:?}", waits.last());
    assert!(long * 10 < waits.len(), "{long} texts wait for more than {LONG_WAIT} bytes");
}

/// The part of a text from where another differs from it.
fn difference(text: &str, other: &str) -> String {
    let same = text.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
    text.chars().skip(same.saturating_sub(40)).take(160).collect()
}
