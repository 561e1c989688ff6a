//! Writes text into channels, with the rule for whitespace around markup.
//!
//! Whitespace in prose is kept exactly. Whitespace that touches markup belongs to the markup: it is
//! dropped at the beginning and the end of a channel, and between words only one of the two runs
//! is kept. So trailing whitespace is buffered until the next text or markup arrives.

use super::piece::TextPiece;

/// The audience of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    Text,
    Reasoning,
}

/// The whitespace between the last words of a channel and its next ones.
#[derive(Debug, Default)]
struct Gap {
    before_markup: String,
    after_markup: String,
    markup: bool,
    /// The next words begin another part of the channel and need a separator.
    apart: bool,
    has_words: bool,
}

impl Gap {
    fn widen(&mut self, whitespace: &str) {
        if self.markup {
            self.after_markup.push_str(whitespace);
        } else {
            self.before_markup.push_str(whitespace);
        }
    }

    fn mark(&mut self) {
        self.markup = true;
        self.after_markup.clear();
    }

    /// The whitespace to write before `words`.
    fn close(&mut self, words: &str) -> String {
        let between = if !self.markup {
            self.before_markup.as_str()
        } else if !self.has_words {
            ""
        } else if !self.before_markup.is_empty() {
            self.before_markup.as_str()
        } else if !self.after_markup.is_empty() {
            self.after_markup.as_str()
        } else if self.apart {
            "\n"
        } else {
            ""
        };
        let mut written = String::with_capacity(between.len() + words.len());
        written.push_str(between);
        written.push_str(words);
        self.before_markup.clear();
        self.after_markup.clear();
        (self.markup, self.apart, self.has_words) = (false, false, true);
        written
    }
}

/// Writes words into the current channel, and calls between them.
#[derive(Debug)]
pub(super) struct ChannelWriter {
    channel: Channel,
    text: Gap,
    reasoning: Gap,
}

impl ChannelWriter {
    pub(super) fn new() -> Self {
        Self { channel: Channel::Text, text: Gap::default(), reasoning: Gap::default() }
    }

    pub(super) fn channel(&self) -> Channel {
        self.channel
    }

    pub(super) fn write(&mut self, text: &str, out: &mut Vec<TextPiece>) {
        let gap = self.gap();
        let words = if gap.markup { text.trim_ascii_start() } else { text };
        let (leading, _) = text.split_at(text.len() - words.len());
        let (words, trailing) = words.split_at(words.trim_ascii_end().len());
        gap.widen(leading);
        if !words.is_empty() {
            let written = gap.close(words);
            gap.widen(trailing);
            push(self.channel, written, out);
        } else {
            gap.widen(trailing);
        }
    }

    /// Notes markup at the current position.
    pub(super) fn mark(&mut self) {
        self.gap().mark();
    }

    pub(super) fn switch_to(&mut self, channel: Channel) {
        self.mark();
        self.channel = channel;
        self.mark();
        self.gap().apart = true;
    }

    /// The whitespace at the very end, where no markup touches it.
    pub(super) fn finish(&mut self, out: &mut Vec<TextPiece>) {
        let gap = self.gap();
        let whitespace = std::mem::take(&mut gap.before_markup);
        if !gap.markup && !whitespace.is_empty() {
            push(self.channel, whitespace, out);
        }
    }

    fn gap(&mut self) -> &mut Gap {
        match self.channel {
            Channel::Text => &mut self.text,
            Channel::Reasoning => &mut self.reasoning,
        }
    }
}

fn push(channel: Channel, written: String, out: &mut Vec<TextPiece>) {
    match (channel, out.last_mut()) {
        (Channel::Text, Some(TextPiece::Text(last))) | (Channel::Reasoning, Some(TextPiece::Reasoning(last))) => {
            last.push_str(&written);
        }
        (Channel::Text, _) => out.push(TextPiece::Text(written)),
        (Channel::Reasoning, _) => out.push(TextPiece::Reasoning(written)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_two_stretches_around_markup_is_kept() {
        for (before, after, expected) in [
            ("A.\n", "\n\nB", "A.\nB"),
            ("A.", "\n\nB", "A.\n\nB"),
            ("A.", "B", "A.B"),
            ("\n", " B", "B"),
            ("A ", " ", "A"),
        ] {
            let (mut writer, mut out) = (ChannelWriter::new(), Vec::new());
            writer.write(before, &mut out);
            writer.mark();
            writer.write(after, &mut out);
            writer.finish(&mut out);
            assert_eq!(out, [TextPiece::Text(expected.to_owned())], "{before:?} | {after:?}");
        }
    }

    #[test]
    fn another_stretch_of_a_channel_begins_on_its_own_line() {
        let (mut writer, mut out) = (ChannelWriter::new(), Vec::new());
        for (channel, words) in [(Channel::Reasoning, "one"), (Channel::Text, "A"), (Channel::Reasoning, "two")] {
            writer.switch_to(channel);
            writer.write(words, &mut out);
        }
        let expected =
            [TextPiece::Reasoning("one".into()), TextPiece::Text("A".into()), TextPiece::Reasoning("\ntwo".into())];
        assert_eq!(out, expected);
    }
}
