//! Runs a table of texts through the reader, whole and cut at every place.

use super::piece::{TextEnd, TextPiece};
use super::reader::TextReader;
use super::tool_names::ToolNames;

pub(super) const TOOLS: [&str; 4] = ["get_weather", "write_file", "search_notes", "list_files"];

/// A text, and the pieces it must come out as: `text …`, `reasoning …` or `call NAME ARGUMENTS`.
pub(super) type TextRow<'a> = (&'a str, &'a [&'a str]);

/// Checks texts that the model ended by itself.
pub(super) fn complete(rows: &[TextRow<'_>]) {
    check(TextEnd::Complete, rows);
}

/// Checks texts that the token limit cut off.
pub(super) fn cut(rows: &[TextRow<'_>]) {
    check(TextEnd::CutByLimit, rows);
}

/// Checks that texts pass unchanged.
pub(super) fn unchanged(texts: &[&str]) {
    for text in texts {
        complete(&[(text, &[&format!("text {text}")])]);
    }
}

pub(super) fn check(end: TextEnd, rows: &[TextRow<'_>]) {
    check_with(&ToolNames::new(&TOOLS), end, rows);
}

/// The same for other tools.
pub(super) fn check_with(tools: &ToolNames, end: TextEnd, rows: &[TextRow<'_>]) {
    for (text, expected) in rows {
        let whole = read_with(tools, [*text], end);
        assert_eq!(whole.iter().map(show).collect::<Vec<_>>(), *expected, "whole, {end:?}: {text}");
        let characters: Vec<String> = text.chars().map(String::from).collect();
        let single = read_with(tools, characters.iter().map(String::as_str), end);
        assert_eq!(whole, single, "in single characters, {end:?}: {text}");
        for at in text.char_indices().map(|(at, _)| at) {
            let (before, after) = text.split_at(at);
            assert_eq!(whole, read_with(tools, [before, after], end), "{end:?}: {before} ✂ {after}");
        }
    }
}

pub(super) fn split_everywhere(tools: &[&str], text: &str, end: TextEnd) -> Vec<TextPiece> {
    let characters: Vec<String> = text.chars().map(String::from).collect();
    read(tools, characters.iter().map(String::as_str), end)
}

/// Reads a text given in parts. Each part's pieces are taken away before the next, as in a stream.
pub(super) fn read<'a>(tools: &[&str], parts: impl IntoIterator<Item = &'a str>, end: TextEnd) -> Vec<TextPiece> {
    read_with(&ToolNames::new(tools), parts, end)
}

/// The same for tools whose parameters are known.
pub(super) fn read_with<'a>(
    tools: &ToolNames,
    parts: impl IntoIterator<Item = &'a str>,
    end: TextEnd,
) -> Vec<TextPiece> {
    let mut reader = TextReader::with_tools(tools.clone());
    let (mut joined, mut out) = (Vec::new(), Vec::new());
    for part in parts {
        reader.feed(part, &mut out);
        out.drain(..).for_each(|piece| join(&mut joined, piece));
    }
    reader.finish(end, &mut out);
    out.drain(..).for_each(|piece| join(&mut joined, piece));
    joined
}

fn join(pieces: &mut Vec<TextPiece>, piece: TextPiece) {
    match (pieces.last_mut(), piece) {
        (Some(TextPiece::Text(last)), TextPiece::Text(more))
        | (Some(TextPiece::Reasoning(last)), TextPiece::Reasoning(more)) => {
            last.push_str(&more);
        }
        (_, TextPiece::CutOffCall) => {}
        (_, piece) => pieces.push(piece),
    }
}

fn show(piece: &TextPiece) -> String {
    match piece {
        TextPiece::Text(text) => format!("text {text}"),
        TextPiece::Reasoning(text) => format!("reasoning {text}"),
        TextPiece::Call(call) => format!("call {} {}", call.name, call.arguments),
        TextPiece::CutOffCall => "cut off".to_owned(),
    }
}
