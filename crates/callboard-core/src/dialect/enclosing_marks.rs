//! Marks around calls that carry nothing themselves.
//!
//! They are dropped where they can only be markup: beside a call, or on a line of their own.
//! In the middle of a sentence they are text.

use super::input::{Decision, Incomplete, Input, ReadResult, skip_whitespace};
use super::pythonic::{NamesAccepted, Pythonic};

/// Marks that close a call. The first ones have no other use and are dropped even without a call.
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

pub(super) fn close(mark: &str, input: &Input<'_>) -> ReadResult {
    if input.context.after_markup {
        return Ok(Decision::Markup(mark.len()));
    }
    if input.context.opening_mark_was_text || CLOSING.iter().skip(UNMISTAKABLE).any(|known| *known == mark) {
        return Ok(Decision::Text);
    }
    Ok(if mentioned(mark, input)? { Decision::Text } else { Decision::Markup(mark.len()) })
}

/// A group begins only before something that can be a call.
pub(super) fn wrap(mark: &str, input: &Input<'_>) -> ReadResult {
    if let Some(decision) = Pythonic::open(mark.len(), NamesAccepted::OnOffer, input)? {
        return Ok(decision);
    }
    let inside = skip_whitespace(input.body, mark.len());
    match input.from(inside).chars().next() {
        None => Err(Incomplete),
        Some('<' | '{' | '[' | '`') => Ok(Decision::Markup(inside)),
        Some(_) => Ok(Decision::Text),
    }
}

/// Whether the sentence around `mark` continues after it.
pub(super) fn mentioned(mark: &str, input: &Input<'_>) -> ReadResult<bool> {
    let joins = |character| matches!(character, '.' | ',' | ';' | ':' | '!' | '?' | ')' | '"' | '\'');
    Ok(!input.context.line_start && input.sentence_continues(mark.len(), joins)?)
}
