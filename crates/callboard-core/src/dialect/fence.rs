//! Code fences: a call may stand in one, and everything else in one is quoted.
//!
//! A fence that holds JSON is read like bare JSON. One that begins with a family's mark holds calls
//! only if it holds nothing else and names tools on offer; otherwise the model explains something.

use super::capture::Capture;
use super::opener;
use super::piece::{End, Piece, TextCall};
use super::plain::{Closing, Plain};
use super::pythonic::Pythonic;
use super::reader::TextReader;
use super::sight::{Begins, Sight, Step, skip_whitespace};

/// The fence in which Gemma 3 writes calls.
const PYTHON_CALLS: &str = "tool_code";
const LONGEST_INFO: usize = 32;
const LONGEST_RUN: usize = 16;

/// Looks at what a fence begins with.
pub(super) fn next(sight: &Sight<'_>) -> Step {
    let backticks = count_backticks(sight.body);
    let info = info(sight.body, backticks);
    let inside = skip_whitespace(sight.body, backticks + info.len());
    if info.len() > LONGEST_INFO || !sight.without_mark && inside < sight.body.len() {
        return Step::Text;
    }
    let rest = sight.from(inside);
    if rest.is_empty() {
        return sight.wait_or(Step::Text);
    }
    match opener::markup_begins(rest, sight.ended()) {
        Begins::Yes => Step::Become(Capture::FencedMarkup(FencedMarkup::new(inside))),
        Begins::Perhaps => Step::Wait,
        Begins::No if rest.starts_with(['{', '[']) => Step::Become(Capture::Plain(Plain::new(inside, Closing::Fence))),
        Begins::No if info == PYTHON_CALLS => Step::Become(Capture::Pythonic(Pythonic::plain(inside, Closing::Fence))),
        Begins::No => Step::Text,
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

/// The word behind the backticks.
fn info(text: &str, backticks: usize) -> &str {
    let rest = text.get(backticks..).unwrap_or_default();
    let length =
        rest.find(|character: char| !character.is_ascii_alphanumeric() && !matches!(character, '_' | '-' | '+'));
    rest.get(..length.unwrap_or(rest.len())).unwrap_or_default()
}

/// A fence that begins with a family's mark.
#[derive(Debug)]
pub(super) struct FencedMarkup {
    start: usize,
    /// Everything before it has been searched for the closing fence.
    searched: usize,
}

impl FencedMarkup {
    fn new(start: usize) -> Self {
        Self { start, searched: start }
    }

    /// How much of the text has been read to its end and need not be tried again.
    pub(super) fn examined(&self) -> usize {
        self.searched
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        while let Some(offset) = memchr::memmem::find(sight.from(self.searched).as_bytes(), b"```") {
            let at = self.searched + offset;
            let line = sight.body.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
            if line.ends_with('\n') {
                if !sight.ended() && count_backticks(sight.from(at)) == sight.from(at).len() {
                    return Step::Wait;
                }
                return self.take(sight, at, at + count_backticks(sight.from(at)), End::Complete);
            }
            self.searched = at + 3;
        }
        // The last backticks may be the beginning of the fence.
        let backticks = sight.body.len() - sight.body.trim_end_matches('`').len();
        self.searched = self.searched.max(sight.body.len() - backticks.min(2));
        match sight.end {
            Some(end) => self.take(sight, sight.body.len(), sight.body.len(), end),
            None => Step::Wait,
        }
    }

    fn take(&mut self, sight: &Sight<'_>, end: usize, length: usize, how: End) -> Step {
        self.searched = end;
        let inside = sight.body.get(self.start..end).unwrap_or_default();
        let mut pieces = Vec::new();
        let mut reader = TextReader::without_fences(&sight.tools.as_slices());
        reader.feed(inside, &mut pieces);
        reader.finish(how, &mut pieces);
        let calls: Option<Vec<TextCall>> = pieces
            .into_iter()
            .filter(|piece| *piece != Piece::CutOffCall)
            .map(|piece| match piece {
                Piece::Call(call) if sight.tools.offer(&call.name) => Some(call),
                _ => None,
            })
            .collect();
        match calls {
            Some(calls) if !calls.is_empty() => Step::Calls { length, calls, then: None },
            Some(_) if how == End::CutByLimit => Step::Wait,
            _ => Step::Text,
        }
    }
}
