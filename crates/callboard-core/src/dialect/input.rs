//! The input of a family's reader, and its decisions.

use super::active_reader::MarkupReader;
use super::channel_writer::Channel;
use super::piece::{TextCall, TextEnd};
use super::text_context::TextContext;
use super::tool_names::ToolNames;

/// More text is needed to decide. At the end of the text: markup that carries nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Incomplete;

pub(super) type ReadResult<T = Decision> = Result<T, Incomplete>;

/// The text from a family's opening mark on, as far as it has arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) body: &'a str,
    /// Set once the text has ended.
    pub(super) end: Option<TextEnd>,
    pub(super) tools: &'a ToolNames,
    pub(super) context: &'a TextContext,
    pub(super) channel: Channel,
    /// Calls without a mark are allowed here.
    pub(super) without_mark: bool,
}

impl<'a> Input<'a> {
    pub(super) fn from(&self, at: usize) -> &'a str {
        self.between(at, self.body.len())
    }

    pub(super) fn between(&self, start: usize, end: usize) -> &'a str {
        self.body.get(start..end).unwrap_or_default()
    }

    pub(super) fn ended(&self) -> bool {
        self.end.is_some()
    }

    /// The model stopped by itself, so open markup stays open.
    pub(super) fn complete(&self) -> bool {
        self.end == Some(TextEnd::Complete)
    }

    /// Waits for more text; at the end of the text, decides `at_end`.
    pub(super) fn wait_or(&self, at_end: Decision) -> ReadResult {
        if self.ended() { Ok(at_end) } else { Err(Incomplete) }
    }

    pub(super) fn begins(&self, at: usize, mark: &str) -> ReadResult<bool> {
        begins_any(self.from(at), &[mark], self.ended())
    }

    /// Whether one of `marks` begins at `at`.
    pub(super) fn begins_any(&self, at: usize, marks: &[&str]) -> ReadResult<bool> {
        begins_any(self.from(at), marks, self.ended())
    }

    /// Searches for the first of `marks` from `at` on and moves `at` to it; without one, to the end of the text.
    pub(super) fn find_any(&self, at: &mut usize, marks: &[&str]) -> ReadResult<bool> {
        self.find_any_before(self.body.len(), at, marks)
    }

    /// The same for marks that begin before `last`.
    pub(super) fn find_any_before(&self, last: usize, at: &mut usize, marks: &[&str]) -> ReadResult<bool> {
        while let Some(offset) = memchr::memchr2(b'<', b'[', self.between(*at, last).as_bytes()) {
            *at += offset;
            if self.begins_any(*at, marks)? {
                return Ok(true);
            }
            *at += 1;
        }
        *at = last;
        Ok(false)
    }

    /// The position after `mark`, which may be at `at` once, or twice by mistake.
    pub(super) fn behind(&self, at: usize, mark: &str) -> usize {
        if !self.from(at).starts_with(mark) {
            return at;
        }
        let once = at + mark.len();
        let next = skip_whitespace(self.body, once);
        if self.from(next).starts_with(mark) { next + mark.len() } else { once }
    }

    /// Whether a sentence continues after a mark of this length: after a space, or with a character that `joins` a word.
    pub(super) fn sentence_continues(&self, length: usize, joins: impl Fn(char) -> bool) -> ReadResult<bool> {
        let after = self.from(length);
        let line = after.trim_start_matches([' ', '\t']);
        match line.chars().next() {
            None if self.ended() => Ok(false),
            None => Err(Incomplete),
            Some('\n' | '\r' | '<' | '{' | '[') => Ok(false),
            Some(character) => Ok(line.len() < after.len() || joins(character)),
        }
    }
}

/// A reader's decision. Lengths count bytes from the opening mark on.
#[derive(Debug)]
pub(super) enum Decision {
    /// No markup after all: the opening mark is text.
    Text,
    /// Markup that carries nothing.
    Markup(usize),
    /// Markup after which the text belongs to another channel.
    Switch(usize, Channel),
    /// Calls, and the reader that continues after them, if any.
    Calls { length: usize, calls: Vec<TextCall>, then: Option<MarkupReader> },
    /// The same text, to be read by another reader.
    Become(MarkupReader),
}

impl Decision {
    pub(super) fn call(length: usize, call: TextCall) -> Self {
        Self::Calls { length, calls: vec![call], then: None }
    }
}

/// Whether `text` begins with one of `marks`.
pub(super) fn begins_any(text: &str, marks: &[&str], ended: bool) -> ReadResult<bool> {
    if marks.iter().any(|mark| text.starts_with(mark)) {
        return Ok(true);
    }
    let may_begin = !ended && marks.iter().any(|mark| mark.starts_with(text));
    if may_begin { Err(Incomplete) } else { Ok(false) }
}

/// `text` without the beginning of one of `marks` at its end.
pub(super) fn without_half<'a>(text: &'a str, marks: &[&str]) -> &'a str {
    match memchr::memrchr(b'<', text.as_bytes()).and_then(|at| text.split_at_checked(at)) {
        Some((before, last)) if marks.iter().any(|mark| mark.starts_with(last)) => before,
        _ => text,
    }
}

/// The characters that `text` begins with and that `belongs` accepts.
pub(super) fn leading(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let length = text.find(|character| !belongs(character)).unwrap_or(text.len());
    text.get(..length).unwrap_or_default()
}

/// The position after the characters at `at` that `skipped` accepts.
pub(super) fn skip(text: &str, at: usize, skipped: impl Fn(char) -> bool) -> usize {
    at + leading(text.get(at..).unwrap_or_default(), skipped).len()
}

pub(super) fn skip_whitespace(text: &str, at: usize) -> usize {
    skip(text, at, |character| character.is_ascii_whitespace())
}

/// The length of the text before `at`, without the whitespace at its end.
pub(super) fn trimmed_length(body: &str, at: usize) -> usize {
    body.get(..at).unwrap_or_default().trim_ascii_end().len()
}
