//! Marks that stand around calls and carry nothing themselves.
//!
//! They are dropped where they can be nothing but markup: beside a call, or on a line of their own.
//! In the middle of a sentence they are something the model talks about.

use super::capture::Capture;
use super::pythonic::{Pythonic, Tools};
use super::sight::{Begins, Sight, Step, skip_whitespace};

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

pub(super) fn close(mark: &str, sight: &Sight<'_>) -> Step {
    if sight.surroundings.after_markup() {
        return Step::Markup(mark.len());
    }
    if sight.surroundings.mark_said() {
        return Step::Text;
    }
    if CLOSING.iter().skip(UNMISTAKABLE).any(|known| *known == mark) {
        return Step::Text;
    }
    match mentioned(mark, sight) {
        Begins::Yes => Step::Text,
        Begins::Perhaps => Step::Wait,
        Begins::No => Step::Markup(mark.len()),
    }
}

/// A group begins only before something that can be a call.
pub(super) fn wrap(mark: &str, sight: &Sight<'_>) -> Step {
    let inside = skip_whitespace(sight.body, mark.len());
    match Pythonic::behind_mark(mark.len(), inside, Tools::OnOffer, sight) {
        Begins::Yes => return Step::Become(Capture::Pythonic(Pythonic::marked(inside, mark.len(), Tools::OnOffer))),
        Begins::Perhaps => return Step::Wait,
        Begins::No => {}
    }
    match sight.from(inside).chars().next() {
        None => Step::Wait,
        Some('<' | '{' | '[' | '`') => Step::Markup(inside),
        Some(_) => Step::Text,
    }
}

/// Whether the sentence around `mark` goes on behind it.
pub(super) fn mentioned(mark: &str, sight: &Sight<'_>) -> Begins {
    if sight.surroundings.line_start() {
        return Begins::No;
    }
    let after = sight.from(mark.len());
    let line = after.trim_start_matches([' ', '\t']);
    match line.chars().next() {
        None if sight.ended() => Begins::No,
        None => Begins::Perhaps,
        Some('\n' | '\r') => Begins::No,
        Some(_) if line.len() < after.len() => Begins::Yes,
        Some('.' | ',' | ';' | ':' | '!' | '?' | ')' | '"' | '\'') => Begins::Yes,
        Some(_) => Begins::No,
    }
}
