//! What precedes the current position: the beginning of a line, markup, words, or code.
//!
//! Markup in backticks or in a fenced block is a quotation and stays text. A span in backticks ends
//! with its line at the latest, so that one stray backtick does not hide a call further down.

/// Lines that are indented so far are code, in Markdown.
const CODE_INDENT: usize = 4;

/// What precedes the current position.
#[derive(Debug, Default)]
pub(super) struct TextContext {
    /// Only whitespace or markup precedes this position on its line.
    pub(super) line_start: bool,
    /// Only whitespace separates this position from the last markup.
    pub(super) after_markup: bool,
    pub(super) after_backtick: bool,
    /// `<s>` was text, so `</s>` closes it.
    pub(super) in_strikethrough: bool,
    /// The last opening mark of a call was text, so its closing mark is text too.
    pub(super) opening_mark_was_text: bool,
    /// The last character, none before any text.
    last: Option<char>,
    /// How far the words on this line are indented, or will be.
    indent: usize,
    /// Words have passed.
    has_words: bool,
    /// Number of backticks that opened the current code span; 0 outside.
    span: usize,
    /// Number of backticks that opened the current fenced block; 0 outside.
    fence: usize,
}

impl TextContext {
    pub(super) fn new() -> Self {
        Self { line_start: true, ..Self::default() }
    }

    /// Words precede this position, and no markup directly.
    pub(super) fn in_words(&self) -> bool {
        self.has_words && !self.after_markup
    }

    /// A special token here would not touch the end of a word or sentence.
    pub(super) fn apart(&self) -> bool {
        self.last.is_none_or(|last| !last.is_alphanumeric() && !matches!(last, '.' | '!' | '?' | '…' | '。'))
    }

    /// This position begins an indented block, which quotes as a fence does.
    pub(super) fn indented(&self) -> bool {
        self.line_start && self.indent >= CODE_INDENT
    }

    /// The last character is a space.
    pub(super) fn after_space(&self) -> bool {
        self.last.is_some_and(char::is_whitespace)
    }

    pub(super) fn fenced(&self) -> bool {
        self.fence > 0
    }

    pub(super) fn quoted(&self) -> bool {
        self.span > 0 || self.fence > 0
    }

    pub(super) fn pass_text(&mut self, text: &str) {
        let line = match memchr::memrchr(b'\n', text.as_bytes()) {
            Some(at) => {
                self.line_start = true;
                (self.span, self.indent) = (0, 0);
                text.get(at + 1..).unwrap_or_default()
            }
            None => text,
        };
        if self.line_start {
            let indent = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
            self.indent += indent.map(|byte| if byte == b'\t' { CODE_INDENT } else { 1 }).sum::<usize>();
        }
        let blank = text.trim_ascii().is_empty();
        self.line_start &= line.trim_ascii().is_empty();
        self.after_markup &= blank;
        self.has_words |= !blank;
        self.last = text.chars().next_back().or(self.last);
        self.after_backtick = text.ends_with('`');
    }

    pub(super) fn pass_markup(&mut self) {
        (self.line_start, self.indent) = (true, 0);
        self.after_markup = true;
        self.after_backtick = false;
    }

    /// A run of backticks inside a code span or block, which may end it.
    pub(super) fn pass_backticks(&mut self, count: usize, line_ends: bool) {
        if self.fence > 0 {
            if count >= self.fence && (self.line_start || line_ends) {
                self.fence = 0;
            }
        } else if self.span == count {
            self.span = 0;
        } else if self.span == 0 {
            self.span = count;
        }
        self.close_run();
    }

    pub(super) fn open_fence(&mut self, count: usize) {
        self.fence = count;
        self.close_run();
    }

    fn close_run(&mut self) {
        (self.last, self.has_words) = (Some('`'), true);
        self.line_start = false;
        self.after_markup = false;
        self.after_backtick = true;
    }
}
