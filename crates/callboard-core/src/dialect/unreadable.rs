//! What stands behind the opening mark of a call in no form that is known.
//!
//! If it names a tool on offer, a call was meant: it leaves as it was written, so that the model is asked for it again. Between
//! `<tool_call>` and its closing mark, prose is told apart by the line it stands on. Everything else is text.

use super::objects::is_json;
use super::piece::{End, TextCall};
use super::sight::{Begins, Sight, Step};
use super::special;

/// Texts that do not name a tool, or are not closed, by then are no calls.
const LONGEST: usize = 2000;

/// What ends an unreadable call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// The closing tag, which must be there.
    Tags,
    /// A control token, or the end of the answer.
    Tokens,
    /// The same, or the next mark in brackets.
    Brackets,
}

impl Frame {
    fn closings(self) -> &'static [&'static str] {
        match self {
            Self::Tags => &["</tool_call>"],
            Self::Tokens => &["<|", "<｜"],
            Self::Brackets => &["[TOOL_CALLS]", "[/TOOL_CALLS]", "</s>", "<|"],
        }
    }
}

/// A text that no family could read.
#[derive(Debug)]
pub(super) struct Unreadable {
    /// The name, where it was read.
    name: Option<String>,
    frame: Frame,
    start: usize,
    searched: usize,
    /// A tool is known to be named.
    meant: bool,
}

impl Unreadable {
    /// The text begins at `start`, behind its mark.
    pub(super) fn new(frame: Frame, start: usize) -> Self {
        Self { name: None, frame, start, searched: start, meant: false }
    }

    /// The arguments of a tool whose name was read begin at `start`.
    pub(super) fn named(name: String, frame: Frame, start: usize) -> Self {
        Self { name: Some(name), meant: true, ..Self::new(frame, start) }
    }

    /// Whether a call may begin behind `mark`, and not a sentence about it.
    pub(super) fn may_begin(mark: &str, sight: &Sight<'_>) -> bool {
        let line = sight.from(mark.len()).trim_start_matches([' ', '\t']);
        let sentence = line.len() < sight.from(mark.len()).len() && !line.starts_with(['\n', '\r']);
        sight.surroundings.line_start() && !sentence && mark == "<tool_call>"
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        while let Some(offset) = memchr::memchr2(b'<', b'[', sight.from(self.searched).as_bytes()) {
            self.searched += offset;
            match sight.begins_any(self.searched, self.frame.closings()) {
                Begins::Yes => return self.take(sight),
                Begins::Perhaps => return Step::Wait,
                Begins::No => self.searched += 1,
            }
        }
        self.searched = sight.body.len();
        if self.searched - self.start > LONGEST && (self.frame == Frame::Tags || !self.is_meant(sight)) {
            return self.refuse(sight);
        }
        match sight.end {
            None => Step::Wait,
            Some(End::Complete) if self.frame != Frame::Tags => self.take(sight),
            Some(End::CutByLimit) if self.is_meant(sight) => Step::Wait,
            Some(_) => self.refuse(sight),
        }
    }

    /// Whether a tool on offer is named in the first part of the text.
    fn is_meant(&mut self, sight: &Sight<'_>) -> bool {
        let end = sight.body.floor_char_boundary(self.searched.min(self.start + LONGEST));
        self.meant = self.meant || sight.tools.are_named_in(sight.body.get(self.start..end).unwrap_or_default());
        self.meant
    }

    fn take(&mut self, sight: &Sight<'_>) -> Step {
        let is_long = self.frame == Frame::Tags && self.searched - self.start > LONGEST;
        if is_long || !self.is_meant(sight) {
            return self.refuse(sight);
        }
        let written = sight.body.get(self.start..self.searched).unwrap_or_default().trim_ascii();
        Step::call(self.searched, meant(self.name.take(), written, sight))
    }

    fn refuse(&self, sight: &Sight<'_>) -> Step {
        if self.frame == Frame::Tokens { special::drop(sight, "", self.start) } else { Step::Text }
    }
}

/// A call that has to be asked for again. The only tool that it names is taken for the one that was meant where the text
/// cannot be taken for arguments.
pub(super) fn meant(name: Option<String>, written: &str, sight: &Sight<'_>) -> TextCall {
    let is_prose = !written.starts_with(['{', '`']) && !is_json(written);
    let named = || sight.tools.only_named_in(written).filter(|_| is_prose).map(str::to_owned);
    TextCall { name: name.or_else(named).unwrap_or_default(), arguments: written.to_owned() }
}
