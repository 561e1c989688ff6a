//! The table of marks that begin markup, and the search for one.

use super::glm::GLM;
use super::input::{Decision, Input, PrefixMatch, begins};
use super::invoke_tags::{DSML, INVOKE};
use super::markup_reader::MarkupReader;
use super::qwen_coder::QWEN_CODER;
use super::tagged::Tagged;
use super::{control_tokens, enclosing_marks, gemma, hermes, mistral, reasoning_tags, special_tokens};

/// A mark cut off at the end of the text is dropped if this much of it is there; less than that is
/// as likely the beginning of another word, unless markup precedes it.
const SHORTEST_HALF: usize = 4;

/// What a mark stands for when the text is cut within or behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkRole {
    Call,
    /// A group of calls.
    Group,
    /// A control token, whose name decides.
    Token,
    Other,
}

/// Marks that are read alike.
#[derive(Debug)]
pub(super) struct MarkKind {
    marks: &'static [&'static str],
    pub(super) role: MarkRole,
    /// Whether the marks mean nothing when no tools are on offer.
    needs_tools: bool,
    pub(super) read: fn(&str, &Input<'_>) -> Decision,
}

impl MarkKind {
    const fn always(marks: &'static [&'static str], read: fn(&str, &Input<'_>) -> Decision) -> Self {
        Self { marks, role: MarkRole::Other, needs_tools: false, read }
    }

    const fn with_tools(
        marks: &'static [&'static str],
        role: MarkRole,
        read: fn(&str, &Input<'_>) -> Decision,
    ) -> Self {
        Self { marks, role, needs_tools: true, read }
    }

    pub(super) fn opens_call(&self) -> bool {
        matches!(self.role, MarkRole::Call | MarkRole::Group)
    }
}

const REASONING_END: MarkKind = MarkKind::always(&["</think>", "[/THINK]"], reasoning_tags::close);

/// Control tokens begin like some other marks, so they come last.
static KINDS: [MarkKind; 11] = [
    MarkKind::always(&["<think>", "[THINK]"], reasoning_tags::open),
    REASONING_END,
    MarkKind::always(&special_tokens::SPECIAL, special_tokens::next),
    MarkKind::with_tools(&["<tool_call>"], MarkRole::Call, hermes::open),
    MarkKind::with_tools(&[QWEN_CODER.function, INVOKE.function, DSML.function], MarkRole::Call, open_tagged),
    MarkKind::with_tools(&["[TOOL_CALLS]"], MarkRole::Call, mistral::next),
    MarkKind::with_tools(&["<start_function_call>"], MarkRole::Call, gemma::next),
    MarkKind::with_tools(&enclosing_marks::CLOSING, MarkRole::Other, enclosing_marks::close),
    MarkKind::with_tools(&enclosing_marks::WRAPPING, MarkRole::Group, enclosing_marks::wrap),
    MarkKind::with_tools(
        &[QWEN_CODER.parameter, INVOKE.parameter, DSML.parameter, GLM.parameter],
        MarkRole::Other,
        open_nameless,
    ),
    MarkKind { role: MarkRole::Token, ..MarkKind::always(&["<|", "<｜"], control_tokens::next) },
];

fn open_tagged(mark: &str, _: &Input<'_>) -> Decision {
    let spelling = [&QWEN_CODER, &INVOKE, &DSML].into_iter().find(|spelling| spelling.function == mark);
    Decision::Become(MarkupReader::Tagged(Tagged::new(spelling.unwrap_or(&QWEN_CODER), 0)))
}

/// A parameter behind markup belongs to a call whose name is missing; the model is asked for it.
fn open_nameless(mark: &str, input: &Input<'_>) -> Decision {
    let spelling = [&QWEN_CODER, &INVOKE, &DSML, &GLM].into_iter().find(|spelling| spelling.parameter == mark);
    match spelling.filter(|_| input.context.after_markup) {
        Some(spelling) => Decision::Become(MarkupReader::Tagged(Tagged::named(spelling, String::new(), 0))),
        None => Decision::Text,
    }
}

/// The mark that a text begins with.
#[derive(Debug)]
pub(super) enum MarkMatch {
    Whole(MarkupReader),
    /// The text ends within a mark.
    Partial,
    /// No more text will come, and half a mark is left, perhaps one that opens a call.
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
pub(super) fn find(text: &str, MarkSearch { ended, with_tools, after_markup }: MarkSearch) -> MarkMatch {
    let shortest_half = if after_markup { 1 } else { SHORTEST_HALF };
    let mut found = MarkMatch::None;
    let kinds = KINDS.iter().filter(|kind| with_tools || !kind.needs_tools);
    for (kind, mark) in kinds.flat_map(|kind| kind.marks.iter().map(move |mark| (kind, *mark))) {
        match begins(text, mark, ended) {
            PrefixMatch::Yes if matches!(found, MarkMatch::None) => {
                return MarkMatch::Whole(MarkupReader::Marked(kind, mark));
            }
            PrefixMatch::Yes => return found,
            PrefixMatch::Partial => found = MarkMatch::Partial,
            PrefixMatch::No if ended && text.len() >= shortest_half && mark.starts_with(text) => {
                let of_call = text.len() >= SHORTEST_HALF && kind.opens_call();
                found = MarkMatch::Half { of_call: of_call || matches!(found, MarkMatch::Half { of_call: true }) };
            }
            PrefixMatch::No => {}
        }
    }
    found
}

/// Finds the mark that ends reasoning, the only one that is read in quoted text.
pub(super) fn find_reasoning_end(text: &str, ended: bool) -> MarkMatch {
    for mark in REASONING_END.marks {
        match begins(text, mark, ended) {
            PrefixMatch::Yes => return MarkMatch::Whole(MarkupReader::Marked(&REASONING_END, mark)),
            PrefixMatch::Partial => return MarkMatch::Partial,
            PrefixMatch::No => {}
        }
    }
    MarkMatch::None
}

/// Whether `text` begins with any mark.
pub(super) fn markup_begins(text: &str, ended: bool) -> PrefixMatch {
    match find(text, MarkSearch { ended, with_tools: true, after_markup: false }) {
        MarkMatch::Whole(_) | MarkMatch::Half { .. } => PrefixMatch::Yes,
        MarkMatch::Partial => PrefixMatch::Partial,
        MarkMatch::None => PrefixMatch::No,
    }
}
