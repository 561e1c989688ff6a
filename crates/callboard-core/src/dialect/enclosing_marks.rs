//! Marks around calls that carry nothing themselves.
//!
//! They are dropped where they can only be markup: beside a call, or on a line of their own.
//! In the middle of a sentence the model talks about them.

use super::input::{Decision, Input, PrefixMatch, skip_whitespace};
use super::pythonic::{NamesAccepted, Pythonic};

/// Marks that close a call. The first ones have no other use, and are dropped also where no call was read.
pub(super) const CLOSING: [&str; 14] = [
    "</tool_call>",
    "</tool_calls>",
    "</function_calls>",
    "</minimax:tool_call>",
    "</｜DSML｜function_calls>",
    "</｜DSML｜tool_calls>",
    "</｜DSML｜invoke>",
    "[/TOOL_CALLS]",
    "<tool_call|>",
    "<end_function_call>",
    "</function>",
    "</invoke>",
    "</parameter>",
    "</arg_value>",
];

const UNMISTAKABLE: usize = 10;

/// Marks that open a group of calls.
pub(super) const WRAPPING: [&str; 5] =
    ["<tool_calls>", "<function_calls>", "<minimax:tool_call>", "<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"];

pub(super) fn close(mark: &str, input: &Input<'_>) -> Decision {
    if input.context.after_markup {
        return Decision::Markup(mark.len());
    }
    if input.context.opening_mark_was_text || CLOSING.iter().skip(UNMISTAKABLE).any(|known| *known == mark) {
        return Decision::Text;
    }
    mentioned(mark, input).decide(Decision::Text, Decision::Markup(mark.len()))
}

/// A group begins only before something that can be a call.
pub(super) fn wrap(mark: &str, input: &Input<'_>) -> Decision {
    if let Some(decision) = Pythonic::open(mark.len(), NamesAccepted::OnOffer, input) {
        return decision;
    }
    let inside = skip_whitespace(input.body, mark.len());
    match input.from(inside).chars().next() {
        None => Decision::Wait,
        Some('<' | '{' | '[' | '`') => Decision::Markup(inside),
        Some(_) => Decision::Text,
    }
}

/// Whether the sentence around `mark` continues behind it.
pub(super) fn mentioned(mark: &str, input: &Input<'_>) -> PrefixMatch {
    if input.context.line_start {
        return PrefixMatch::No;
    }
    let after = input.from(mark.len());
    let line = after.trim_start_matches([' ', '\t']);
    match line.chars().next() {
        None if input.ended() => PrefixMatch::No,
        None => PrefixMatch::Partial,
        Some('\n' | '\r') => PrefixMatch::No,
        Some(_) if line.len() < after.len() => PrefixMatch::Yes,
        Some('.' | ',' | ';' | ':' | '!' | '?' | ')' | '"' | '\'') => PrefixMatch::Yes,
        Some(_) => PrefixMatch::No,
    }
}
