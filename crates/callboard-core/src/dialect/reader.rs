//! The incremental reader: text in, as it arrives; pieces out, as soon as they are certain.
//!
//! Words pass at once. Where a mark may begin, the text is held until a family has decided what it
//! is; a family only ever sees all of the text from its mark on, so the result does not depend on
//! how the text was cut.

use super::capture::Capture;
use super::fence;
use super::opener::{self, Opening, Search};
use super::outlet::{Channel, Outlet};
use super::piece::{End, Piece};
use super::plain::{Closing, Plain};
use super::sight::{Sight, Step};
use super::special;
use super::surroundings::Surroundings;
use super::tool_names::ToolNames;
use super::unmarked;

const WINDOW: usize = 512;
const SIGNS: [char; 4] = ['<', '[', '`', '{'];

/// Reads one reply of a model.
#[derive(Debug)]
pub struct TextReader {
    tools: ToolNames,
    fences: bool,
    /// Text that has arrived; what stands before `start` has been dealt with.
    held: String,
    start: usize,
    /// The family that is reading, from `start` on.
    capture: Option<Capture>,
    /// Calls without a mark are not looked for in so many bytes: one was, and it was text.
    plain_refused: usize,
    surroundings: Surroundings,
    outlet: Outlet,
}

impl TextReader {
    /// A reader for a reply in which the tools with these names were on offer. With none, only
    /// reasoning and control tokens are markup.
    pub fn new(tools: &[&str]) -> Self {
        Self {
            tools: ToolNames::new(tools),
            fences: true,
            held: String::new(),
            start: 0,
            capture: None,
            plain_refused: 0,
            surroundings: Surroundings::new(),
            outlet: Outlet::new(),
        }
    }

    /// A reader for the inside of a fence.
    pub(super) fn without_fences(tools: &[&str]) -> Self {
        Self { fences: false, ..Self::new(tools) }
    }

    /// Takes the next part of the text.
    pub fn feed(&mut self, text: &str, out: &mut Vec<Piece>) {
        if self.held.is_empty() && self.capture.is_none() && self.next_place(text).is_none() {
            self.surroundings.pass_text(text);
            self.outlet.say(text, out);
            return;
        }
        self.held.push_str(text);
        self.run(out);
        self.held.drain(..self.start);
        self.start = 0;
    }

    /// Takes note that no more text will come.
    pub fn finish(&mut self, end: End, out: &mut Vec<Piece>) {
        self.run(out);
        while self.start < self.held.len() {
            self.step(Some(end), out);
            self.run(out);
        }
        (self.held, self.start, self.capture) = (String::new(), 0, None);
        self.outlet.finish(out);
    }

    /// Goes as far as the text allows.
    fn run(&mut self, out: &mut Vec<Piece>) {
        while self.start < self.held.len() && self.step(None, out) {}
    }

    /// One step; false when it takes more text to go on.
    fn step(&mut self, end: Option<End>, out: &mut Vec<Piece>) -> bool {
        match self.capture.take() {
            Some(capture) => self.step_in_markup(capture, end, out),
            None => self.step_in_prose(end, out),
        }
    }

    fn step_in_prose(&mut self, end: Option<End>, out: &mut Vec<Piece>) -> bool {
        let rest = self.rest();
        match self.next_place(rest) {
            Some(0) if rest.starts_with('`') => self.step_at_backticks(end, out),
            Some(0) if rest.starts_with(SIGNS) => self.step_at_sign(end, out),
            Some(0) => {
                self.capture = Some(Capture::Unmarked);
                true
            }
            found => {
                let length = found.unwrap_or(rest.len());
                self.say(length, out);
                true
            }
        }
    }

    /// The first place that has to be looked at: a sign, or a line that may begin with a call whose mark is missing.
    fn next_place(&self, text: &str) -> Option<usize> {
        let sign = next_sign(text);
        if self.tools.is_empty() || self.surroundings.fenced() {
            return sign;
        }
        let line_start = self.surroundings.line_start() && !self.surroundings.quoted();
        unmarked::find(text, sign.unwrap_or(text.len()), line_start, &self.tools).or(sign)
    }

    /// A place where a mark, or a call without one, may begin.
    fn step_at_sign(&mut self, end: Option<End>, out: &mut Vec<Piece>) -> bool {
        let rest = self.rest();
        let opening = if !self.surroundings.quoted() {
            opener::find(rest, self.search(end))
        } else if self.outlet.channel() == Channel::Reasoning {
            opener::find_reasoning_end(rest, end.is_some())
        } else {
            Opening::None
        };
        match opening {
            Opening::Capture(capture) => self.capture = Some(capture),
            Opening::Perhaps => return false,
            Opening::Half { of_call } => self.drop_rest(of_call, end, out),
            Opening::None if rest.starts_with(['{', '[']) && self.at_call_without_mark() => {
                self.capture = Some(Capture::Plain(Plain::new(0, Closing::EndOfAnswer)));
            }
            Opening::None => self.say(1, out),
        }
        true
    }

    fn search(&self, end: Option<End>) -> Search {
        Search {
            ended: end.is_some(),
            with_tools: !self.tools.is_empty(),
            after_markup: self.surroundings.after_markup(),
        }
    }

    /// Whether a call without a mark, or in a fence, is looked for. In reasoning it would be a draft.
    fn may_call_without_mark(&self) -> bool {
        self.plain_refused == 0
            && !self.tools.is_empty()
            && self.outlet.channel() == Channel::Text
            && !self.surroundings.quoted()
    }

    fn at_call_without_mark(&self) -> bool {
        self.surroundings.line_start() && self.may_call_without_mark()
    }

    fn step_at_backticks(&mut self, end: Option<End>, out: &mut Vec<Piece>) -> bool {
        let rest = self.rest();
        let count = fence::count_backticks(rest);
        if count == rest.len() && end.is_none() {
            return false;
        }
        if count >= 3 && self.fences && !self.surroundings.quoted() {
            self.capture = Some(Capture::Fence);
            return true;
        }
        let after = rest.get(count..).unwrap_or_default();
        let line_ends = after.is_empty() || after.starts_with(['\r', '\n']);
        self.say_backticks(count, out);
        self.surroundings.pass_backticks(count, line_ends);
        true
    }

    fn step_in_markup(&mut self, mut capture: Capture, end: Option<End>, out: &mut Vec<Piece>) -> bool {
        let sight = Sight {
            body: self.held.get(self.start..).unwrap_or_default(),
            end,
            tools: &self.tools,
            surroundings: &self.surroundings,
            channel: self.outlet.channel(),
            without_mark: self.may_call_without_mark(),
        };
        match capture.next(&sight) {
            Step::Wait if end.is_none() => {
                self.capture = Some(capture);
                return false;
            }
            Step::Wait => self.drop_rest(capture.cuts_call(self.rest()), end, out),
            Step::Text => self.say_opening(&capture, out),
            Step::Markup(length) => self.drop_markup(length),
            Step::Turn(length, channel) => {
                self.drop_markup(length);
                self.outlet.turn_to(channel);
            }
            Step::Calls { length, calls, then } => {
                self.drop_markup(length);
                self.surroundings.say_mark(false);
                out.extend(calls.into_iter().map(Piece::Call));
                self.capture = then;
            }
            Step::Become(next) => self.capture = Some(next),
        }
        true
    }

    /// Nothing more will come: what is left is markup, or a call that the limit cut off.
    fn drop_rest(&mut self, of_call: bool, end: Option<End>, out: &mut Vec<Piece>) {
        if of_call && end == Some(End::CutByLimit) {
            out.push(Piece::CutOffCall);
        }
        self.drop_markup(self.rest().len());
    }

    /// What looked like markup is text: its first sign is said, the rest is read anew.
    fn say_opening(&mut self, capture: &Capture, out: &mut Vec<Piece>) {
        self.plain_refused = self.plain_refused.max(capture.examined());
        match capture {
            Capture::Special(mark) if special::strikes(mark) => self.surroundings.strike(),
            capture if capture.is_marked() => self.surroundings.say_mark(true),
            _ => {}
        }
        let backticks = fence::count_backticks(self.rest());
        if backticks == 0 {
            return self.say(1, out);
        }
        let block = fence::opens_block(self.rest(), self.surroundings.line_start());
        self.say_backticks(backticks, out);
        if block {
            self.surroundings.open_fence(backticks);
        } else {
            self.surroundings.pass_backticks(backticks, false);
        }
    }

    fn rest(&self) -> &str {
        self.held.get(self.start..).unwrap_or_default()
    }

    fn say(&mut self, length: usize, out: &mut Vec<Piece>) {
        let text = self.held.get(self.start..self.start + length).unwrap_or_default();
        self.surroundings.pass_text(text);
        self.outlet.say(text, out);
        self.pass(length);
    }

    fn say_backticks(&mut self, count: usize, out: &mut Vec<Piece>) {
        let text = self.held.get(self.start..self.start + count).unwrap_or_default();
        self.outlet.say(text, out);
        self.pass(count);
    }

    fn drop_markup(&mut self, length: usize) {
        if length > 0 {
            self.surroundings.pass_markup();
            self.outlet.mark();
        }
        self.pass(length);
    }

    fn pass(&mut self, length: usize) {
        self.start += length;
        self.plain_refused = self.plain_refused.saturating_sub(length);
    }
}

/// The first character with which a mark, a call without one, or a quotation can begin.
fn next_sign(text: &str) -> Option<usize> {
    // In windows, so that a rare sign is not searched through all of the text before a frequent one.
    text.as_bytes().chunks(WINDOW).zip(0..).find_map(|(window, number)| {
        let first = memchr::memchr3(b'<', b'[', b'`', window);
        let before = window.get(..first.unwrap_or(window.len())).unwrap_or_default();
        memchr::memchr(b'{', before).or(first).map(|at| number * WINDOW + at)
    })
}
