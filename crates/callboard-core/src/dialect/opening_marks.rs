//! The table of marks that begin markup, and the search for one.

use super::active_reader::MarkupReader;
use super::glm::GLM;
use super::input::{Decision, Incomplete, Input, ReadResult, begins_any};
use super::invoke_tags::{DSML, INVOKE};
use super::qwen_coder::QWEN_CODER;
use super::tagged::Tagged;
use super::{bar_tokens, dropped_tokens, enclosing_marks, gemma, hermes, mistral, reasoning_tags};

/// Half a mark at the end of the text is dropped if it has this many bytes; a shorter one is as likely the beginning of
/// another word, unless markup precedes it.
const SHORTEST_HALF: usize = 4;

/// What a mark means when the text is cut within or after it. Marks of calls are read only with tools on offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkRole {
    Call,
    /// Opens a group of calls.
    Group,
    /// Closes a call, or opens a parameter.
    CallPart,
    /// A control token, whose name decides.
    Token,
    Other,
}

/// Marks that are read alike.
#[derive(Debug)]
pub(super) struct MarkKind {
    marks: &'static [&'static str],
    pub(super) role: MarkRole,
    pub(super) read: fn(&str, &Input<'_>) -> ReadResult,
}

impl MarkKind {
    pub(super) fn opens_call(&self) -> bool {
        matches!(self.role, MarkRole::Call | MarkRole::Group)
    }
}

const REASONING_END: MarkKind =
    MarkKind { marks: &["</think>", "[/THINK]"], role: MarkRole::Other, read: reasoning_tags::close };

/// Control tokens begin like some other marks, so they come last.
static KINDS: [MarkKind; 11] = [
    MarkKind { marks: &["<think>", "[THINK]"], role: MarkRole::Other, read: reasoning_tags::open },
    REASONING_END,
    MarkKind { marks: &dropped_tokens::SPECIAL, role: MarkRole::Other, read: dropped_tokens::next },
    MarkKind { marks: &["<tool_call>"], role: MarkRole::Call, read: hermes::open },
    MarkKind { marks: &[QWEN_CODER.function, INVOKE.function, DSML.function], role: MarkRole::Call, read: open_tagged },
    MarkKind { marks: &["[TOOL_CALLS]"], role: MarkRole::Call, read: mistral::next },
    MarkKind { marks: &["<start_function_call>"], role: MarkRole::Call, read: gemma::next },
    MarkKind { marks: &enclosing_marks::CLOSING, role: MarkRole::CallPart, read: enclosing_marks::close },
    MarkKind { marks: &enclosing_marks::WRAPPING, role: MarkRole::Group, read: enclosing_marks::wrap },
    MarkKind {
        marks: &[QWEN_CODER.parameter, INVOKE.parameter, DSML.parameter, GLM.parameter],
        role: MarkRole::CallPart,
        read: open_nameless,
    },
    MarkKind { marks: &["<|", "<｜"], role: MarkRole::Token, read: bar_tokens::next },
];

fn open_tagged(mark: &str, _: &Input<'_>) -> ReadResult {
    let spelling = [&INVOKE, &DSML].into_iter().find(|spelling| spelling.function == mark);
    Ok(Decision::Become(MarkupReader::Tagged(Tagged::new(spelling.unwrap_or(&QWEN_CODER), 0))))
}

/// A parameter after markup belongs to a call whose name is missing; the model is asked for it.
fn open_nameless(mark: &str, input: &Input<'_>) -> ReadResult {
    let spelling = [&QWEN_CODER, &INVOKE, &DSML, &GLM].into_iter().find(|spelling| spelling.parameter == mark);
    Ok(match spelling.filter(|_| input.context.after_markup) {
        Some(spelling) => Decision::Become(MarkupReader::Tagged(Tagged::named(spelling, "", 0))),
        None => Decision::Text,
    })
}

/// The mark that a text begins with.
#[derive(Debug)]
pub(super) enum MarkMatch {
    Whole(MarkupReader),
    /// The text has ended within a mark, perhaps one that opens a call.
    Half {
        of_call: bool,
    },
    None,
}

/// Where a mark is searched for.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkSearch {
    pub(super) ended: bool,
    pub(super) with_tools: bool,
    pub(super) after_markup: bool,
}

/// Finds the mark that `text` begins with.
pub(super) fn find(text: &str, MarkSearch { ended, with_tools, after_markup }: MarkSearch) -> ReadResult<MarkMatch> {
    let shortest_half = if after_markup { 1 } else { SHORTEST_HALF };
    let mut half = None;
    let kinds = KINDS.iter().filter(|kind| with_tools || matches!(kind.role, MarkRole::Token | MarkRole::Other));
    for (kind, mark) in kinds.flat_map(|kind| kind.marks.iter().map(move |mark| (kind, *mark))) {
        if text.starts_with(mark) && half.is_none() {
            return Ok(MarkMatch::Whole(MarkupReader::Marked(kind, mark)));
        }
        if !mark.starts_with(text) {
            continue;
        }
        if !ended {
            return Err(Incomplete);
        }
        if text.len() >= shortest_half {
            let of_call = text.len() >= SHORTEST_HALF && kind.opens_call();
            half = Some(of_call || half == Some(true));
        }
    }
    Ok(half.map_or(MarkMatch::None, |of_call| MarkMatch::Half { of_call }))
}

/// Finds the mark that ends reasoning, the only one that is read in quoted text.
pub(super) fn find_reasoning_end(text: &str, ended: bool) -> ReadResult<MarkMatch> {
    begins_any(text, REASONING_END.marks, ended)?;
    let mark = REASONING_END.marks.iter().find(|mark| text.starts_with(**mark));
    Ok(mark.map_or(MarkMatch::None, |mark| MarkMatch::Whole(MarkupReader::Marked(&REASONING_END, mark))))
}

/// Whether `text` begins with any mark.
pub(super) fn markup_begins(text: &str, ended: bool) -> ReadResult<bool> {
    let found = find(text, MarkSearch { ended, with_tools: true, after_markup: false })?;
    Ok(!matches!(found, MarkMatch::None))
}
