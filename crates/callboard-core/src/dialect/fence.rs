//! Code fences: a fence may hold a call; everything else in one is quoted.
//!
//! A fence that holds JSON is read like bare JSON. One that begins with a family's mark holds calls
//! only if it holds nothing else and names tools on offer; otherwise it is an example.

use super::active_reader::MarkupReader;
use super::bare_json::{BareJson, Closing};
use super::call_words::announces_call;
use super::input::{Decision, Incomplete, Input, ReadResult, leading, skip_whitespace};
use super::opening_marks;
use super::piece::{TextCall, TextEnd, TextPiece};
use super::pythonic::Pythonic;
use super::reader::TextReader;
use super::tool_names::{is_name, leading_name};
use super::unlisted_form::UnlistedForm;

/// The fence in which Gemma 3 writes calls.
const PYTHON_CALLS: &str = "tool_code";
const LONGEST_INFO: usize = 32;
const LONGEST_RUN: usize = 16;

/// Dispatches on the beginning of a fence.
pub(super) fn next(input: &Input<'_>) -> ReadResult {
    let backticks = count_backticks(input.body);
    let info = info(input.body, backticks);
    let inside = skip_whitespace(input.body, backticks + info.len());
    if info.len() > LONGEST_INFO || !input.without_mark && inside < input.body.len() {
        return Ok(Decision::Text);
    }
    let rest = input.from(inside);
    if rest.is_empty() {
        return input.wait_or(Decision::Text);
    }
    let reader = if opening_marks::markup_begins(rest, input.ended())? {
        MarkupReader::FencedMarkup(FencedMarkup { start: inside, searched: inside })
    } else if is_call_by_word(info, rest, input)? {
        MarkupReader::Unlisted(UnlistedForm::default())
    } else if rest.starts_with(['{', '[']) {
        MarkupReader::BareJson(BareJson::new(inside, Closing::Fence))
    } else if info == PYTHON_CALLS {
        MarkupReader::Pythonic(Pythonic::bare(inside, Closing::Fence))
    } else {
        return Ok(Decision::Text);
    };
    Ok(Decision::Become(reader))
}

/// Whether the word of a fence says that it holds a call, which has no other reader.
fn is_call_by_word(info: &str, rest: &str, input: &Input<'_>) -> ReadResult<bool> {
    if rest.starts_with(['{', '[']) {
        return Ok(input.tools.resolve(info).is_some());
    }
    let name = leading_name(rest);
    match rest.get(name.len()..).and_then(|behind| behind.chars().next()) {
        None if announces_call(info) && !input.ended() && is_name(name) => Err(Incomplete),
        Some('(') if info == PYTHON_CALLS && input.tools.offer(name) => Ok(false),
        _ => Ok(announces_call(info)),
    }
}

/// Whether the backticks that `text` begins with open a block rather than a span within a line.
pub(super) fn opens_block(text: &str, line_start: bool) -> bool {
    let backticks = count_backticks(text);
    let info = info(text, backticks);
    let after = text.get(backticks + info.len()..).unwrap_or_default();
    line_start || info.len() <= LONGEST_INFO && after.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
}

/// The number of backticks that `text` begins with. A longer run counts as several.
pub(super) fn count_backticks(text: &str) -> usize {
    text.bytes().take(LONGEST_RUN).take_while(|byte| *byte == b'`').count()
}

/// The word after the backticks.
fn info(text: &str, backticks: usize) -> &str {
    let rest = text.get(backticks..).unwrap_or_default();
    leading(rest, |character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '+'))
}

/// A fence that begins with a family's mark.
#[derive(Debug)]
pub(super) struct FencedMarkup {
    start: usize,
    /// Everything before it has been searched for the closing fence.
    searched: usize,
}

impl FencedMarkup {
    /// How many bytes have been read completely and are not retried.
    pub(super) fn examined(&self) -> usize {
        self.searched
    }

    pub(super) fn resumes_at(&self) -> usize {
        self.searched
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        while let Some(offset) = memchr::memmem::find(input.from(self.searched).as_bytes(), b"```") {
            let at = self.searched + offset;
            let line = input.between(0, at).trim_end_matches([' ', '\t']);
            if line.ends_with('\n') {
                if !input.ended() && count_backticks(input.from(at)) == input.from(at).len() {
                    return Err(Incomplete);
                }
                return self.take(input, at, at + count_backticks(input.from(at)), TextEnd::Complete);
            }
            self.searched = at + 3;
        }
        // The last backticks may be the beginning of the fence.
        let backticks = input.body.bytes().rev().take(2).take_while(|byte| *byte == b'`').count();
        self.searched = self.searched.max(input.body.len() - backticks);
        match input.end {
            Some(end) => self.take(input, input.body.len(), input.body.len(), end),
            None => Err(Incomplete),
        }
    }

    fn take(&mut self, input: &Input<'_>, end: usize, length: usize, how: TextEnd) -> ReadResult {
        self.searched = end;
        let inside = input.between(self.start, end);
        let mut pieces = Vec::new();
        let mut reader = TextReader::without_fences(input.tools.clone());
        reader.feed(inside, &mut pieces);
        reader.finish(how, &mut pieces);
        let calls: Option<Vec<TextCall>> = pieces
            .into_iter()
            .filter(|piece| *piece != TextPiece::CutOffCall)
            .map(|piece| match piece {
                TextPiece::Call(call) if input.tools.offer(&call.name) => Some(call),
                _ => None,
            })
            .collect();
        match calls {
            Some(calls) if !calls.is_empty() => Ok(Decision::Calls { length, calls, then: None }),
            Some(_) if how == TextEnd::CutByLimit => Err(Incomplete),
            _ => Ok(Decision::Text),
        }
    }
}
