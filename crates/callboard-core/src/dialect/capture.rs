//! The families: everything that can be reading markup at a given moment.

use super::delimited::Delimited;
use super::fence::FencedMarkup;
use super::objects::{JsonArguments, JsonCalls};
use super::plain::Plain;
use super::pythonic::Pythonic;
use super::sight::{Sight, Step};
use super::tagged::Tagged;
use super::{control, fence, gemma, harmony, hermes, marks, mistral, think};

/// A family, with what it remembers of the text it has seen.
#[derive(Debug)]
pub(super) enum Capture {
    Think(&'static str),
    ThinkEnd(&'static str),
    Hermes(&'static str),
    JsonCalls(JsonCalls),
    JsonArguments(JsonArguments),
    Tagged(Tagged),
    Mistral,
    MistralChain,
    Control,
    Harmony,
    Delimited(Delimited),
    Gemma(&'static str),
    Plain(Plain),
    Pythonic(Pythonic),
    Fence,
    FencedMarkup(FencedMarkup),
    Closing(&'static str),
    Wrapping(&'static str),
}

impl Capture {
    /// Looks at the text that has arrived.
    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        match self {
            Self::Think(mark) => think::open(mark, sight),
            Self::ThinkEnd(mark) => think::close(mark, sight),
            Self::Hermes(mark) => hermes::next(mark, sight),
            Self::JsonCalls(calls) => calls.next(sight),
            Self::JsonArguments(arguments) => arguments.next(sight),
            Self::Tagged(tagged) => tagged.next(sight),
            Self::Mistral => mistral::next(sight),
            Self::MistralChain => mistral::next_in_chain(sight),
            Self::Control => control::next(sight),
            Self::Harmony => harmony::next(sight),
            Self::Delimited(delimited) => delimited.next(sight),
            Self::Gemma(mark) => gemma::next(mark, sight),
            Self::Plain(plain) => plain.next(sight),
            Self::Pythonic(pythonic) => pythonic.next(sight),
            Self::Fence => fence::next(sight),
            Self::FencedMarkup(markup) => markup.next(sight),
            Self::Closing(mark) => marks::close(mark, sight),
            Self::Wrapping(mark) => marks::wrap(mark, sight),
        }
    }

    /// How much of a text that was refused has been looked through for calls without a mark.
    pub(super) fn examined(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.examined(),
            Self::Pythonic(pythonic) => pythonic.examined(),
            Self::FencedMarkup(markup) => markup.examined(),
            _ => 0,
        }
    }
}
