//! What the reader of a family sees of the text, and what it may decide.

use super::channel_writer::Channel;
use super::markup_reader::MarkupReader;
use super::piece::{TextCall, TextEnd};
use super::text_context::TextContext;
use super::tool_names::ToolNames;

/// The text from a family's opening mark on, as far as it has arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) body: &'a str,
    /// Set once no more text will come.
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

    /// The model stopped by itself, so what it left open stays open.
    pub(super) fn complete(&self) -> bool {
        self.end == Some(TextEnd::Complete)
    }

    /// Waits for more text; at the end of the text, decides `at_end`.
    pub(super) fn wait_or(&self, at_end: Decision) -> Decision {
        if self.ended() { at_end } else { Decision::Wait }
    }

    pub(super) fn begins(&self, at: usize, mark: &str) -> PrefixMatch {
        begins(self.from(at), mark, self.ended())
    }

    /// Whether one of `marks` begins at `at`.
    pub(super) fn begins_any(&self, at: usize, marks: &[&str]) -> PrefixMatch {
        begins_any(self.from(at), marks, self.ended())
    }

    /// Searches for the first of `marks` from `at` on and moves `at` to it; without one, to the end of the text.
    pub(super) fn find_any(&self, at: &mut usize, marks: &[&str]) -> PrefixMatch {
        while let Some(offset) = memchr::memchr2(b'<', b'[', self.from(*at).as_bytes()) {
            *at += offset;
            match self.begins_any(*at, marks) {
                PrefixMatch::No => *at += 1,
                found => return found,
            }
        }
        *at = self.body.len();
        PrefixMatch::No
    }
}

/// What a reader makes of the text it sees. Lengths count bytes from the opening mark on.
#[derive(Debug)]
pub(super) enum Decision {
    /// Not decided before more text arrives. At the end of the text: markup that carries nothing.
    Wait,
    /// No markup after all: the opening mark is text.
    Text,
    /// Markup that carries nothing.
    Markup(usize),
    /// Markup after which the text belongs to another channel.
    Switch(usize, Channel),
    /// Calls, and the reader that continues behind them, if any.
    Calls { length: usize, calls: Vec<TextCall>, then: Option<MarkupReader> },
    /// The same text, to be read by another reader.
    Become(MarkupReader),
}

impl Decision {
    pub(super) fn call(length: usize, call: TextCall) -> Self {
        Self::Calls { length, calls: vec![call], then: None }
    }
}

/// Whether a text begins with a mark, as far as can be told. Of several answers the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PrefixMatch {
    No,
    /// The text ends within the mark.
    Partial,
    Yes,
}

impl PrefixMatch {
    /// Decides `yes` or `no`, and waits while that cannot be told.
    pub(super) fn decide(self, yes: Decision, no: Decision) -> Decision {
        match self {
            Self::Yes => yes,
            Self::Partial => Decision::Wait,
            Self::No => no,
        }
    }
}

/// What a text begins with, as far as can be told.
#[derive(Debug)]
pub(super) enum Found<T> {
    Whole(T),
    /// More text has to arrive.
    Partial,
    None,
}

pub(super) fn begins(text: &str, mark: &str, ended: bool) -> PrefixMatch {
    if text.starts_with(mark) {
        PrefixMatch::Yes
    } else if !ended && mark.starts_with(text) {
        PrefixMatch::Partial
    } else {
        PrefixMatch::No
    }
}

pub(super) fn begins_any(text: &str, marks: &[&str], ended: bool) -> PrefixMatch {
    marks.iter().map(|mark| begins(text, mark, ended)).max().unwrap_or(PrefixMatch::No)
}

/// The characters that `text` begins with and that `belongs` accepts.
pub(super) fn leading(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let length = text.find(|character| !belongs(character)).unwrap_or(text.len());
    text.get(..length).unwrap_or_default()
}

/// The position behind the characters at `at` that `skipped` accepts.
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
