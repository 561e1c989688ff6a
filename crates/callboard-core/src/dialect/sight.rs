//! What a family sees of the text, and what it may answer.

use super::capture::Capture;
use super::outlet::Channel;
use super::piece::{End, TextCall};
use super::surroundings::Surroundings;
use super::tool_names::ToolNames;

/// The text from a family's opening mark on, as far as it has arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight<'a> {
    pub(super) body: &'a str,
    /// Set once no more text will come.
    pub(super) end: Option<End>,
    pub(super) tools: &'a ToolNames,
    pub(super) surroundings: &'a Surroundings,
    pub(super) channel: Channel,
    /// Calls without a mark may stand here.
    pub(super) without_mark: bool,
}

impl<'a> Sight<'a> {
    pub(super) fn from(&self, at: usize) -> &'a str {
        self.body.get(at..).unwrap_or_default()
    }

    pub(super) fn ended(&self) -> bool {
        self.end.is_some()
    }

    /// The model stopped by itself, so what it left open will not be closed any more.
    pub(super) fn complete(&self) -> bool {
        self.end == Some(End::Complete)
    }

    /// Waits for more text; at the end of the text, gives the answer `at_end`.
    pub(super) fn wait_or(&self, at_end: Step) -> Step {
        if self.ended() { at_end } else { Step::Wait }
    }

    pub(super) fn begins(&self, at: usize, mark: &str) -> Begins {
        begins(self.from(at), mark, self.ended())
    }

    /// Whether one of `marks` begins at `at`.
    pub(super) fn begins_any(&self, at: usize, marks: &[&str]) -> Begins {
        begins_any(self.from(at), marks, self.ended())
    }
}

/// What a family makes of the text it sees. Lengths count bytes from the opening mark on.
#[derive(Debug)]
pub(super) enum Step {
    /// Not decided before more text arrives. At the end of the text: markup that carries nothing.
    Wait,
    /// No markup after all: the opening mark is text.
    Text,
    /// Markup that carries nothing.
    Markup(usize),
    /// Markup after which the words are for another channel.
    Turn(usize, Channel),
    /// Calls, and perhaps the family that goes on reading behind them.
    Calls { length: usize, calls: Vec<TextCall>, then: Option<Capture> },
    /// The same text, to be read by another family.
    Become(Capture),
}

impl Step {
    pub(super) fn call(length: usize, call: TextCall) -> Self {
        Self::Calls { length, calls: vec![call], then: None }
    }
}

/// Whether a text begins with a mark, as far as can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    Yes,
    No,
    /// The text ends within the mark.
    Perhaps,
}

pub(super) fn begins(text: &str, mark: &str, ended: bool) -> Begins {
    if text.starts_with(mark) {
        Begins::Yes
    } else if !ended && mark.starts_with(text) {
        Begins::Perhaps
    } else {
        Begins::No
    }
}

pub(super) fn begins_any(text: &str, marks: &[&str], ended: bool) -> Begins {
    let mut answer = Begins::No;
    for mark in marks {
        match begins(text, mark, ended) {
            Begins::Yes => return Begins::Yes,
            Begins::Perhaps => answer = Begins::Perhaps,
            Begins::No => {}
        }
    }
    answer
}

/// The place of the first character at or after `at` that is no whitespace.
pub(super) fn skip_whitespace(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + (rest.len() - rest.trim_ascii_start().len())
}

/// The length of what stands before `at`, without the whitespace at its end.
pub(super) fn trimmed_length(body: &str, at: usize) -> usize {
    body.get(..at).unwrap_or_default().trim_ascii_end().len()
}
