//! The reader that is active at a position: one variant per mark or family.

use super::bare_json::BareJson;
use super::delimited::Delimited;
use super::fence::FencedMarkup;
use super::input::{Input, ReadResult};
use super::marked_json::{JsonArguments, JsonCalls};
use super::opening_marks::{MarkKind, MarkRole};
use super::pythonic::Pythonic;
use super::tagged::Tagged;
use super::unknown_form::Unreadable;
use super::unlisted_form::UnlistedForm;
use super::{bar_tokens, dropped_tokens, fence, harmony, missing_mark, mistral, reasoning_tags};

/// The reader of a mark or a family, with its progress.
#[derive(Debug)]
pub(super) enum MarkupReader {
    Marked(&'static MarkKind, &'static str),
    ReasoningTag,
    JsonCalls(JsonCalls),
    JsonArguments(JsonArguments),
    Tagged(Tagged),
    MistralChain,
    Harmony,
    Delimited(Delimited),
    BareJson(BareJson),
    Pythonic(Pythonic),
    Fence,
    FencedMarkup(FencedMarkup),
    MissingMark,
    Unreadable(Unreadable),
    Unlisted(UnlistedForm),
}

impl MarkupReader {
    /// Looks at the text that has arrived.
    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        match self {
            Self::Marked(kind, mark) => (kind.read)(mark, input),
            Self::ReasoningTag => reasoning_tags::next(input),
            Self::JsonCalls(calls) => calls.next(input),
            Self::JsonArguments(arguments) => arguments.next(input),
            Self::Tagged(tagged) => tagged.next(input),
            Self::MistralChain => mistral::next_in_chain(input),
            Self::Harmony => harmony::next(input),
            Self::Delimited(delimited) => delimited.next(input),
            Self::BareJson(json) => json.next(input),
            Self::Pythonic(pythonic) => pythonic.next(input),
            Self::Fence => fence::next(input),
            Self::FencedMarkup(markup) => markup.next(input),
            Self::MissingMark => missing_mark::next(input),
            Self::Unreadable(unreadable) => unreadable.next(input),
            Self::Unlisted(form) => form.next(input),
        }
    }

    /// Where the reader continues when more text arrives.
    pub(super) fn resumes_at(&self) -> usize {
        match self {
            Self::JsonCalls(calls) => calls.resumes_at(),
            Self::JsonArguments(arguments) => arguments.resumes_at(),
            Self::Tagged(tagged) => tagged.resumes_at(),
            Self::Delimited(delimited) => delimited.resumes_at(),
            Self::BareJson(json) => json.resumes_at(),
            Self::Pythonic(pythonic) => pythonic.resumes_at(),
            Self::FencedMarkup(markup) => markup.resumes_at(),
            Self::Unreadable(unreadable) => unreadable.resumes_at(),
            Self::Unlisted(form) => form.resumes_at(),
            Self::Marked(..)
            | Self::ReasoningTag
            | Self::MistralChain
            | Self::Harmony
            | Self::Fence
            | Self::MissingMark => 0,
        }
    }

    /// Whether `body`, dropped because the token limit cut it, was the beginning of a call and not only a mark.
    pub(super) fn cuts_call(&self, body: &str) -> bool {
        match self {
            Self::Marked(kind, _) => match kind.role {
                MarkRole::Call => true,
                MarkRole::Token => bar_tokens::opens_call(body),
                MarkRole::Group | MarkRole::CallPart | MarkRole::Other => false,
            },
            Self::Harmony => body.contains("to="),
            Self::MistralChain => body.contains('['),
            Self::Fence | Self::ReasoningTag => false,
            _ => true,
        }
    }

    /// Whether a mark opened this that has a closing one.
    pub(super) fn is_marked(&self) -> bool {
        match self {
            Self::Marked(kind, _) => kind.opens_call(),
            Self::Unlisted(form) => form.is_marked(),
            _ => matches!(self, Self::JsonCalls(_) | Self::Tagged(_) | Self::Unreadable(_)),
        }
    }

    /// Whether this reads a tag that may open struck-through HTML.
    pub(super) fn opens_strikethrough(&self) -> bool {
        matches!(self, Self::Marked(_, dropped_tokens::STRIKE))
    }

    /// How many bytes of a refused text have been searched for calls without a mark.
    pub(super) fn examined(&self) -> usize {
        match self {
            Self::BareJson(json) => json.examined(),
            Self::Pythonic(pythonic) => pythonic.examined(),
            Self::FencedMarkup(markup) => markup.examined(),
            Self::Unlisted(form) => form.examined(),
            _ => 0,
        }
    }
}
