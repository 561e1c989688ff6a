//! What stands between `<tool_call>` and `</tool_call>` in no form that is known.
//!
//! If it begins a line, is closed and names a tool on offer, a call was meant: it leaves as it was written, so that the
//! model is asked for it again. Everything else is text.

use super::piece::{End, TextCall};
use super::sight::{Begins, Sight, Step};

const CLOSING: &str = "</tool_call>";

/// Longer texts are no calls.
const LONGEST: usize = 2000;

/// A text that no family could read.
#[derive(Debug)]
pub(super) struct Unreadable {
    start: usize,
    searched: usize,
}

impl Unreadable {
    /// The text begins at `start`, behind its mark.
    pub(super) fn new(start: usize) -> Self {
        Self { start, searched: start }
    }

    /// Whether such a call may begin here.
    pub(super) fn may_begin(mark: &str, sight: &Sight<'_>) -> bool {
        let line = sight.from(mark.len()).trim_start_matches([' ', '\t']);
        let sentence = line.len() < sight.from(mark.len()).len() && !line.starts_with(['\n', '\r']);
        sight.surroundings.line_start() && !sentence && mark == "<tool_call>"
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        while let Some(offset) = memchr::memchr(b'<', sight.from(self.searched).as_bytes()) {
            self.searched += offset;
            match sight.begins(self.searched, CLOSING) {
                Begins::Yes => return self.take(sight),
                Begins::Perhaps => return Step::Wait,
                Begins::No => self.searched += 1,
            }
        }
        self.searched = sight.body.len();
        match sight.end {
            _ if self.searched > LONGEST => Step::Text,
            None => Step::Wait,
            Some(End::CutByLimit) if sight.tools.are_named_in(sight.body) => Step::Wait,
            Some(_) => Step::Text,
        }
    }

    fn take(&self, sight: &Sight<'_>) -> Step {
        let written = sight.body.get(self.start..self.searched).unwrap_or_default().trim_ascii();
        if self.searched > LONGEST || !sight.tools.are_named_in(written) {
            return Step::Text;
        }
        let is_prose = written.starts_with(char::is_alphanumeric);
        let name = sight.tools.only_named_in(written).filter(|_| is_prose).unwrap_or_default();
        Step::call(self.searched, TextCall { name: name.to_owned(), arguments: written.to_owned() })
    }
}
