//! What stands before the place now being read: the beginning of a line, markup, words, or code.
//!
//! Markup that the model quotes, as code in backticks or in a fenced block, is something it talks
//! about. A span in backticks ends with its line at the latest, so that one stray backtick does not
//! hide a call further down.

/// The surroundings of the place now being read.
#[derive(Debug)]
pub(super) struct Surroundings {
    line_start: bool,
    after_markup: bool,
    after_backtick: bool,
    /// The last character, none before any text.
    last: Option<char>,
    /// Words have been said.
    spoken: bool,
    /// `<s>` stood in the text, so that `</s>` closes it.
    struck: bool,
    /// The last opening mark of a call was text, so that its closing mark is.
    mark_said: bool,
    /// Number of backticks that opened the current code span; 0 outside.
    span: usize,
    /// Number of backticks that opened the current fenced block; 0 outside.
    fence: usize,
}

impl Surroundings {
    pub(super) fn new() -> Self {
        Self {
            line_start: true,
            after_markup: false,
            after_backtick: false,
            last: None,
            spoken: false,
            struck: false,
            mark_said: false,
            span: 0,
            fence: 0,
        }
    }

    /// Only whitespace, or markup, stands before this place on its line.
    pub(super) fn line_start(&self) -> bool {
        self.line_start
    }

    /// Only whitespace stands between this place and the last markup.
    pub(super) fn after_markup(&self) -> bool {
        self.after_markup
    }

    pub(super) fn after_backtick(&self) -> bool {
        self.after_backtick
    }

    /// Words stand before this place, and markup does not stand right before it.
    pub(super) fn in_words(&self) -> bool {
        self.spoken && !self.after_markup
    }

    /// A special token here would not touch the end of a word or sentence.
    pub(super) fn apart(&self) -> bool {
        self.last.is_none_or(|last| !last.is_alphanumeric() && !matches!(last, '.' | '!' | '?' | '…' | '。'))
    }

    pub(super) fn mark_said(&self) -> bool {
        self.mark_said
    }

    /// An opening mark of a call was text, or one was read as such.
    pub(super) fn say_mark(&mut self, said: bool) {
        self.mark_said = said;
    }

    pub(super) fn struck(&self) -> bool {
        self.struck
    }

    pub(super) fn strike(&mut self) {
        self.struck = true;
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
                self.span = 0;
                text.get(at + 1..).unwrap_or_default()
            }
            None => text,
        };
        let blank = text.trim_ascii().is_empty();
        self.line_start &= line.trim_ascii().is_empty();
        self.after_markup &= blank;
        self.spoken |= !blank;
        self.last = text.chars().next_back().or(self.last);
        self.after_backtick = text.ends_with('`');
    }

    pub(super) fn pass_markup(&mut self) {
        self.line_start = true;
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
        (self.last, self.spoken) = (Some('`'), true);
        self.line_start = false;
        self.after_markup = false;
        self.after_backtick = true;
    }
}
