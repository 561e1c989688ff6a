//! Text after the opening mark of a call in no known form.
//!
//! If it names a tool on offer, it is passed on unchanged as a call, for a re-ask. Everything else is text. What `unlisted_form`
//! reads is not read here.

use super::dropped_tokens;
use super::input::{Decision, Incomplete, Input, ReadResult};
use super::marked_json::is_json;
use super::piece::{TextCall, TextEnd};

/// A text that does not name a tool, or is not closed, within this many bytes is no call.
const LONGEST: usize = 2000;

/// What ends an unreadable call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallEnd {
    /// A control token, or the end of the answer.
    Token,
    /// The same, or the next mark in brackets.
    Bracket,
}

impl CallEnd {
    fn marks(self) -> &'static [&'static str] {
        match self {
            Self::Token => &["<|", "<｜"],
            Self::Bracket => &["[TOOL_CALLS]", "[/TOOL_CALLS]", "</s>", "<|"],
        }
    }
}

/// A text that no family could read.
#[derive(Debug)]
pub(super) struct Unreadable {
    /// The name, where it was read.
    name: Option<String>,
    call_end: CallEnd,
    start: usize,
    searched: usize,
    /// The text names a tool on offer.
    meant: bool,
}

impl Unreadable {
    /// The text begins at `start`, after its mark.
    pub(super) fn new(call_end: CallEnd, start: usize) -> Self {
        Self { name: None, call_end, start, searched: start, meant: false }
    }

    /// The arguments of a tool whose name was read begin at `start`.
    pub(super) fn named(name: &str, call_end: CallEnd, start: usize) -> Self {
        Self { name: Some(name.to_owned()), meant: true, ..Self::new(call_end, start) }
    }

    pub(super) fn resumes_at(&self) -> usize {
        self.searched
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        // A text that is refused is read again, so it is searched no further than a call can reach.
        let reach = input.body.ceil_char_boundary(self.start + LONGEST + 1);
        if !self.is_long() && input.find_any_before(reach, &mut self.searched, self.call_end.marks())? {
            return self.take(input);
        }
        if self.is_long() {
            if !self.is_meant(input) {
                return self.refuse(input);
            }
            if input.find_any(&mut self.searched, self.call_end.marks())? {
                return self.take(input);
            }
        }
        match input.end {
            None => Err(Incomplete),
            Some(TextEnd::Complete) => self.take(input),
            Some(TextEnd::CutByLimit) if self.is_meant(input) => Err(Incomplete),
            Some(_) => self.refuse(input),
        }
    }

    fn is_long(&self) -> bool {
        self.searched - self.start > LONGEST
    }

    /// Whether a tool on offer is named in the first part of the text.
    fn is_meant(&mut self, input: &Input<'_>) -> bool {
        let end = input.body.floor_char_boundary(self.searched.min(self.start + LONGEST));
        self.meant = self.meant || input.tools.are_named_in(input.between(self.start, end));
        self.meant
    }

    fn take(&mut self, input: &Input<'_>) -> ReadResult {
        if !self.is_meant(input) {
            return self.refuse(input);
        }
        let written = input.between(self.start, self.searched).trim_ascii();
        Ok(Decision::call(self.searched, unreadable_call(self.name.take(), written, input)))
    }

    fn refuse(&self, input: &Input<'_>) -> ReadResult {
        if self.call_end == CallEnd::Token { dropped_tokens::drop(input, "", self.start) } else { Ok(Decision::Text) }
    }
}

/// A call to re-ask. If the text is not arguments, the only tool that it names becomes the name of the call.
pub(super) fn unreadable_call(name: Option<String>, written: &str, input: &Input<'_>) -> TextCall {
    let is_prose = !written.starts_with(['{', '`']) && !is_json(written);
    let named = || input.tools.only_named_in(written).filter(|_| is_prose).map(str::to_owned);
    TextCall { name: name.or_else(named).unwrap_or_default(), arguments: written.to_owned() }
}
