//! The incremental reader: text in, as it arrives; pieces out, as soon as they are certain.
//!
//! Words pass immediately. Where a mark may begin, the text is held until a family's reader has decided
//! what it is; that reader always sees all of the text from its mark on, so the result does not
//! depend on how the text was cut.

use super::active_reader::MarkupReader;
use super::bare_json::{BareJson, Closing};
use super::channel_writer::{Channel, ChannelWriter};
use super::fence;
use super::input::{Decision, Incomplete, Input, ReadResult};
use super::missing_mark;
use super::opening_marks::{self, MarkMatch, MarkSearch};
use super::piece::{TextEnd, TextPiece};
use super::reasoning_tags;
use super::retry::retry_length;
use super::text_context::TextContext;
use super::tool_names::ToolNames;
use super::unlisted_form::UnlistedForm;

const WINDOW: usize = 512;
const PART: usize = 4 * WINDOW;
const SIGNS: [char; 4] = ['<', '[', '`', '{'];

/// Reads one reply of a model.
#[derive(Debug)]
pub struct TextReader {
    tools: ToolNames,
    fences: bool,
    /// Text that has arrived; everything before `start` is done.
    held: String,
    start: usize,
    /// Reads from `start` on.
    markup: Option<MarkupReader>,
    /// The reader is undecided until this much text follows `start`.
    retry_at: usize,
    /// This many bytes are not searched for calls without a mark: they were refused before.
    bare_refused: usize,
    context: TextContext,
    writer: ChannelWriter,
}

impl TextReader {
    /// A reader for a reply in which the tools with these names were on offer. With none, only
    /// reasoning and control tokens are markup.
    pub fn new(tools: &[&str]) -> Self {
        Self::with_tools(ToolNames::new(tools))
    }

    /// The same for tools whose parameters are known.
    #[must_use]
    pub fn with_tools(tools: ToolNames) -> Self {
        Self { fences: true, ..Self::without_fences(tools) }
    }

    /// A reader for the inside of a fence.
    pub(super) fn without_fences(tools: ToolNames) -> Self {
        Self {
            tools,
            fences: false,
            held: String::new(),
            start: 0,
            markup: None,
            retry_at: 0,
            bare_refused: 0,
            context: TextContext::new(),
            writer: ChannelWriter::new(),
        }
    }

    /// Takes the next part of the text.
    pub fn feed(&mut self, text: &str, out: &mut Vec<TextPiece>) {
        if self.held.is_empty() && self.markup.is_none() && self.next_candidate(text).is_none() {
            self.context.pass_text(text);
            self.writer.write(text, out);
            return;
        }
        self.held.push_str(text);
        self.run(out);
        self.forget_read();
    }

    /// Ends the text.
    pub fn finish(&mut self, end: TextEnd, out: &mut Vec<TextPiece>) {
        self.retry_at = 0;
        self.run(out);
        while self.start < self.held.len() {
            self.step(Some(end), out);
            self.run(out);
        }
        (self.held, self.start, self.markup) = (String::new(), 0, None);
        self.writer.finish(out);
    }

    /// Drops the text that is done once it is the larger part, so that each byte is moved only a few times.
    fn forget_read(&mut self) {
        if self.start >= self.held.len() / 2 {
            self.held.drain(..self.start);
            self.start = 0;
        }
    }

    /// Reads as far as the text allows.
    fn run(&mut self, out: &mut Vec<TextPiece>) {
        while self.start < self.held.len() && self.step(None, out) {}
    }

    /// One step; false when more text is needed.
    fn step(&mut self, end: Option<TextEnd>, out: &mut Vec<TextPiece>) -> bool {
        match self.markup.take() {
            Some(markup) if end.is_none() && self.rest().len() < self.retry_at => {
                self.markup = Some(markup);
                false
            }
            Some(markup) => self.step_in_markup(markup, end, out),
            None => self.step_in_prose(end, out),
        }
    }

    fn step_in_prose(&mut self, end: Option<TextEnd>, out: &mut Vec<TextPiece>) -> bool {
        let rest = self.rest();
        match self.next_candidate(rest) {
            Some(0) if rest.starts_with('`') => self.step_at_backticks(end, out),
            Some(0) if rest.starts_with(SIGNS) => self.step_at_sign(end, out),
            Some(0) => {
                self.markup = Some(MarkupReader::MissingMark);
                true
            }
            found => {
                let length = found.unwrap_or(rest.len());
                self.write(length, out);
                true
            }
        }
    }

    /// The first position that may begin markup, or up to which there is none. Text is searched in parts, so that the search
    /// for a rare sign does not scan all text before each frequent one.
    fn next_candidate(&self, text: &str) -> Option<usize> {
        let part = text.get(..text.floor_char_boundary(PART)).unwrap_or_default();
        self.find_candidate(part).or_else(|| (part.len() < text.len()).then_some(part.len()))
    }

    /// A sign, a line that may begin with a call whose mark is missing, or the address of one.
    fn find_candidate(&self, text: &str) -> Option<usize> {
        let sign = next_sign(text);
        if self.tools.is_empty() || self.context.fenced() {
            return sign;
        }
        let (last, quoted) = (sign.unwrap_or(text.len()), self.context.quoted());
        let line = missing_mark::find(text, last, self.context.line_start && !quoted, &self.tools);
        let after_space = self.context.after_space() && !quoted;
        missing_mark::find_address(text, line.unwrap_or(last), quoted, after_space).or(line).or(sign)
    }

    /// A mark, or a call without one, may begin here.
    fn step_at_sign(&mut self, end: Option<TextEnd>, out: &mut Vec<TextPiece>) -> bool {
        let rest = self.rest();
        match self.find_mark(rest, end.is_some()) {
            Err(Incomplete) => return false,
            Ok(MarkMatch::Whole(markup)) => self.markup = Some(markup),
            Ok(MarkMatch::Half { of_call }) => self.drop_rest(of_call, end, out),
            Ok(MarkMatch::None) if rest.starts_with(['<', '[']) && self.may_call_without_mark() => {
                self.markup = Some(MarkupReader::Unlisted(UnlistedForm::default()));
            }
            Ok(MarkMatch::None) if rest.starts_with('{') && self.at_call_without_mark() => {
                self.markup = Some(MarkupReader::BareJson(BareJson::new(0, Closing::EndOfAnswer)));
            }
            Ok(MarkMatch::None) => self.write(1, out),
        }
        true
    }

    /// The mark that the text begins with. Quoted text holds none but the end of the reasoning that quotes it.
    fn find_mark(&self, rest: &str, ended: bool) -> ReadResult<MarkMatch> {
        let reasoning = self.writer.channel() == Channel::Reasoning;
        let found = if !self.context.quoted() {
            let (with_tools, after_markup) = (!self.tools.is_empty(), self.context.after_markup);
            opening_marks::find(rest, MarkSearch { ended, with_tools, after_markup })?
        } else if reasoning {
            opening_marks::find_reasoning_end(rest, ended)?
        } else {
            MarkMatch::None
        };
        let may_reason = reasoning || !self.context.quoted() && self.context.line_start;
        match found {
            MarkMatch::None if may_reason && rest.starts_with('<') && reasoning_tags::begins(rest, ended)? => {
                Ok(MarkMatch::Whole(MarkupReader::ReasoningTag))
            }
            found => Ok(found),
        }
    }

    /// Whether to search for calls without a mark or in a fence. In reasoning they are drafts.
    fn may_call_without_mark(&self) -> bool {
        self.bare_refused == 0
            && !self.tools.is_empty()
            && self.writer.channel() == Channel::Text
            && !self.context.quoted()
    }

    fn at_call_without_mark(&self) -> bool {
        self.context.line_start && self.may_call_without_mark()
    }

    fn step_at_backticks(&mut self, end: Option<TextEnd>, out: &mut Vec<TextPiece>) -> bool {
        let rest = self.rest();
        let count = fence::count_backticks(rest);
        if count == rest.len() && end.is_none() {
            return false;
        }
        if count >= 3 && self.fences && !self.context.quoted() {
            self.markup = Some(MarkupReader::Fence);
            return true;
        }
        let after = rest.get(count..).unwrap_or_default();
        let line_ends = after.is_empty() || after.starts_with(['\r', '\n']);
        self.write_backticks(count, out);
        self.context.pass_backticks(count, line_ends);
        true
    }

    fn step_in_markup(&mut self, mut markup: MarkupReader, end: Option<TextEnd>, out: &mut Vec<TextPiece>) -> bool {
        let input = Input {
            body: self.held.get(self.start..).unwrap_or_default(),
            end,
            tools: &self.tools,
            context: &self.context,
            channel: self.writer.channel(),
            without_mark: self.may_call_without_mark(),
        };
        self.retry_at = 0;
        match markup.next(&input) {
            Err(Incomplete) if end.is_none() => {
                let length = self.rest().len();
                self.retry_at = retry_length(length, length.saturating_sub(markup.resumes_at()));
                self.markup = Some(markup);
                return false;
            }
            Err(Incomplete) => self.drop_rest(markup.cuts_call(self.rest()), end, out),
            Ok(Decision::Text) => self.write_opening(&markup, out),
            Ok(Decision::Markup(length)) => self.drop_markup(length),
            Ok(Decision::Switch(length, channel)) => {
                self.drop_markup(length);
                self.writer.switch_to(channel);
            }
            Ok(Decision::Calls { length, calls, then }) => {
                self.drop_markup(length);
                self.context.opening_mark_was_text = false;
                out.extend(calls.into_iter().map(TextPiece::Call));
                self.markup = then;
            }
            Ok(Decision::Become(next)) => self.markup = Some(next),
        }
        true
    }

    /// The text has ended: what is left is markup, or a call that the limit cut off.
    fn drop_rest(&mut self, of_call: bool, end: Option<TextEnd>, out: &mut Vec<TextPiece>) {
        if of_call && end == Some(TextEnd::CutByLimit) {
            out.push(TextPiece::CutOffCall);
        }
        self.drop_markup(self.rest().len());
    }

    /// What looked like markup is text: its first character is written, the rest is read again.
    fn write_opening(&mut self, markup: &MarkupReader, out: &mut Vec<TextPiece>) {
        self.bare_refused = self.bare_refused.max(markup.examined());
        if markup.opens_strikethrough() {
            self.context.in_strikethrough = true;
        } else if markup.is_marked() {
            self.context.opening_mark_was_text = true;
        }
        let backticks = fence::count_backticks(self.rest());
        if backticks == 0 {
            let first = self.rest().chars().next().map_or(1, char::len_utf8);
            return self.write(first, out);
        }
        let block = fence::opens_block(self.rest(), self.context.line_start);
        self.write_backticks(backticks, out);
        if block {
            self.context.open_fence(backticks);
        } else {
            self.context.pass_backticks(backticks, false);
        }
    }

    fn rest(&self) -> &str {
        self.held.get(self.start..).unwrap_or_default()
    }

    fn write(&mut self, length: usize, out: &mut Vec<TextPiece>) {
        let text = self.held.get(self.start..self.start + length).unwrap_or_default();
        self.context.pass_text(text);
        self.writer.write(text, out);
        self.pass(length);
    }

    fn write_backticks(&mut self, count: usize, out: &mut Vec<TextPiece>) {
        let text = self.held.get(self.start..self.start + count).unwrap_or_default();
        self.writer.write(text, out);
        self.pass(count);
    }

    fn drop_markup(&mut self, length: usize) {
        if length > 0 {
            self.context.pass_markup();
            self.writer.mark();
        }
        self.pass(length);
    }

    fn pass(&mut self, length: usize) {
        self.start += length;
        self.bare_refused = self.bare_refused.saturating_sub(length);
    }
}

/// The first character with which a mark, a call without one, or a quotation can begin.
fn next_sign(text: &str) -> Option<usize> {
    // In windows, so that the search for a rare sign does not scan all text before a frequent one.
    text.as_bytes().chunks(WINDOW).zip(0..).find_map(|(window, number)| {
        let first = memchr::memchr3(b'<', b'[', b'`', window);
        let before = window.get(..first.unwrap_or(window.len())).unwrap_or_default();
        memchr::memchr(b'{', before).or(first).map(|at| number * WINDOW + at)
    })
}
