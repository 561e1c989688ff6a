//! The table of marks that begin markup, and the family that reads on behind each.

use super::capture::Capture;
use super::glm::GLM;
use super::invoke::{DSML, INVOKE};
use super::marks::{CLOSING, WRAPPING};
use super::qwen_coder::QWEN_CODER;
use super::sight::{Begins, Sight, Step, begins};
use super::special::SPECIAL;
use super::tagged::Tagged;

/// A mark cut off at the end of the text is dropped if this much of it is there; less than that is
/// as likely the beginning of another word, unless markup stands before it.
const SHORTEST_HALF: usize = 4;

const REASONING: [&str; 2] = ["<think>", "[THINK]"];
const REASONING_END: [&str; 2] = ["</think>", "[/THINK]"];
const CONTROL: [&str; 2] = ["<|", "<｜"];
const JSON_CALLS: [&str; 1] = ["<tool_call>"];
const MISTRAL: [&str; 1] = ["[TOOL_CALLS]"];
const GEMMA: [&str; 1] = ["<start_function_call>"];
const ORPHANS: [&str; 4] = [QWEN_CODER.parameter, INVOKE.parameter, DSML.parameter, GLM.parameter];
const TAGGED: [&str; 3] = [QWEN_CODER.function, INVOKE.function, DSML.function];

type Begin = fn(&'static str) -> Capture;

/// Marks that mean something also when no tools are on offer.
const ALWAYS: [(&[&str], Begin); 3] =
    [(&REASONING, Capture::Think), (&REASONING_END, Capture::ThinkEnd), (&SPECIAL, Capture::Special)];

const WITH_TOOLS: [(&[&str], Begin); 7] = [
    (&JSON_CALLS, Capture::Hermes),
    (&TAGGED, begin_tagged),
    (&MISTRAL, begin_mistral),
    (&GEMMA, Capture::Gemma),
    (&CLOSING, Capture::Closing),
    (&WRAPPING, Capture::Wrapping),
    (&ORPHANS, Capture::Orphan),
];

/// Control tokens begin like some marks above, so they come last.
const LAST: [(&[&str], Begin); 1] = [(&CONTROL, begin_control)];

fn begin_tagged(mark: &'static str) -> Capture {
    let spelling = [&QWEN_CODER, &INVOKE, &DSML].into_iter().find(|spelling| spelling.function == mark);
    Capture::Tagged(Tagged::new(spelling.unwrap_or(&QWEN_CODER), 0))
}

/// A parameter behind markup belongs to a call whose name is missing; the model is asked for it.
pub(super) fn adopt(mark: &str, sight: &Sight<'_>) -> Step {
    let spelling = [&QWEN_CODER, &INVOKE, &DSML, &GLM].into_iter().find(|spelling| spelling.parameter == mark);
    match spelling.filter(|_| sight.surroundings.after_markup()) {
        Some(spelling) => Step::Become(Capture::Tagged(Tagged::named(spelling, String::new(), 0))),
        None => Step::Text,
    }
}

fn begin_mistral(_: &'static str) -> Capture {
    Capture::Mistral
}

fn begin_control(_: &'static str) -> Capture {
    Capture::Control
}

/// What the text at a place can be.
#[derive(Debug)]
pub(super) enum Opening {
    Capture(Capture),
    /// The text ends within a mark.
    Perhaps,
    /// Nothing more will come, and half a mark stands here, perhaps one that opens a call.
    Half {
        of_call: bool,
    },
    None,
}

/// Where a mark is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    pub(super) ended: bool,
    pub(super) with_tools: bool,
    pub(super) after_markup: bool,
}

/// Finds the mark that `text` begins with.
pub(super) fn find(text: &str, Search { ended, with_tools, after_markup }: Search) -> Opening {
    let shortest_half = if after_markup { 1 } else { SHORTEST_HALF };
    let mut opening = Opening::None;
    for (mark, begin) in table(with_tools) {
        match begins(text, mark, ended) {
            Begins::Yes => {
                return if matches!(opening, Opening::None) { Opening::Capture(begin(mark)) } else { opening };
            }
            Begins::Perhaps => opening = Opening::Perhaps,
            Begins::No if ended && text.len() >= shortest_half && mark.starts_with(text) => {
                let of_call = text.len() >= SHORTEST_HALF && opens_call(mark);
                opening = Opening::Half { of_call: of_call || matches!(opening, Opening::Half { of_call: true }) };
            }
            Begins::No => {}
        }
    }
    opening
}

/// Finds the mark that ends reasoning, the only one that is read in quoted text.
pub(super) fn find_reasoning_end(text: &str, ended: bool) -> Opening {
    for mark in REASONING_END {
        match begins(text, mark, ended) {
            Begins::Yes => return Opening::Capture(Capture::ThinkEnd(mark)),
            Begins::Perhaps => return Opening::Perhaps,
            Begins::No => {}
        }
    }
    Opening::None
}

/// Whether `text` begins with any mark.
pub(super) fn markup_begins(text: &str, ended: bool) -> Begins {
    match find(text, Search { ended, with_tools: true, after_markup: false }) {
        Opening::Capture(_) => Begins::Yes,
        Opening::Perhaps => Begins::Perhaps,
        Opening::Half { .. } => Begins::Yes,
        Opening::None => Begins::No,
    }
}

fn opens_call(mark: &str) -> bool {
    [JSON_CALLS.as_slice(), &TAGGED, &MISTRAL, &GEMMA, &WRAPPING].into_iter().flatten().any(|known| *known == mark)
}

fn table(with_tools: bool) -> impl Iterator<Item = (&'static str, Begin)> {
    let calls: &[(&'static [&'static str], Begin)] = if with_tools { &WITH_TOOLS } else { &[] };
    [ALWAYS.as_slice(), calls, LAST.as_slice()]
        .into_iter()
        .flatten()
        .flat_map(|(marks, begin)| marks.iter().map(move |mark| (*mark, *begin)))
}
