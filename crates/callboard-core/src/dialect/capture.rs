//! The families: everything that can be reading markup at a given moment.

use super::delimited::Delimited;
use super::fence::FencedMarkup;
use super::objects::{JsonArguments, JsonCalls};
use super::plain::Plain;
use super::pythonic::Pythonic;
use super::sight::{Sight, Step};
use super::tagged::Tagged;
use super::unreadable::Unreadable;
use super::{control, fence, gemma, harmony, hermes, marks, mistral, opener, special, think, unmarked};

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
    Special(&'static str),
    Harmony,
    Delimited(Delimited),
    Gemma(&'static str),
    Plain(Plain),
    Pythonic(Pythonic),
    Fence,
    FencedMarkup(FencedMarkup),
    Closing(&'static str),
    Wrapping(&'static str),
    /// A tag of a parameter outside of any call.
    Orphan(&'static str),
    Unmarked,
    Unreadable(Unreadable),
}

impl Capture {
    /// Looks at the text that has arrived.
    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        match self {
            Self::Think(mark) => think::open(mark, sight),
            Self::ThinkEnd(mark) => think::close(mark, sight),
            Self::Hermes(mark) => hermes::open(mark, sight),
            Self::JsonCalls(calls) => calls.next(sight),
            Self::JsonArguments(arguments) => arguments.next(sight),
            Self::Tagged(tagged) => tagged.next(sight),
            Self::Mistral => mistral::next(sight),
            Self::MistralChain => mistral::next_in_chain(sight),
            Self::Control => control::next(sight),
            Self::Special(mark) => special::next(mark, sight),
            Self::Harmony => harmony::next(sight),
            Self::Delimited(delimited) => delimited.next(sight),
            Self::Gemma(mark) => gemma::next(mark, sight),
            Self::Plain(plain) => plain.next(sight),
            Self::Pythonic(pythonic) => pythonic.next(sight),
            Self::Fence => fence::next(sight),
            Self::FencedMarkup(markup) => markup.next(sight),
            Self::Closing(mark) => marks::close(mark, sight),
            Self::Wrapping(mark) => marks::wrap(mark, sight),
            Self::Orphan(mark) => opener::adopt(mark, sight),
            Self::Unmarked => unmarked::next(sight),
            Self::Unreadable(unreadable) => unreadable.next(sight),
        }
    }

    /// Whether `body`, dropped because the token limit cut it, was more than a mark: the beginning of a call.
    pub(super) fn cuts_call(&self, body: &str) -> bool {
        match self {
            Self::JsonCalls(_) | Self::JsonArguments(_) | Self::Tagged(_) | Self::Delimited(_) => true,
            Self::Hermes(_) | Self::Mistral | Self::Gemma(_) => true,
            Self::Plain(_) | Self::Pythonic(_) | Self::FencedMarkup(_) | Self::Unmarked | Self::Unreadable(_) => true,
            Self::Harmony => body.contains("to="),
            Self::Control => control::opens_call(body),
            Self::MistralChain => body.contains('['),
            Self::Think(_) | Self::ThinkEnd(_) | Self::Special(_) | Self::Fence => false,
            Self::Closing(_) | Self::Wrapping(_) | Self::Orphan(_) => false,
        }
    }

    /// Whether a mark opened this that has a closing one.
    pub(super) fn is_marked(&self) -> bool {
        let outer = matches!(self, Self::Hermes(_) | Self::Mistral | Self::Gemma(_) | Self::Wrapping(_));
        outer || matches!(self, Self::JsonCalls(_) | Self::Tagged(_) | Self::Unreadable(_))
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
