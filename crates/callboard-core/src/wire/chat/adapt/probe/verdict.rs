//! What a reply to a probe shows.

use serde_json::Value;

use super::reply::Reply;
use super::requests::{NAMED, constrained};
use crate::wire::chat::adapt::Support;

/// By how much the prompt must grow with a long tool.
const GROWTH: u64 = 40;
/// By how much it may differ where the tool is ignored.
const NOISE: u64 = 2;
/// A smaller prompt is one that the server has counted without what it had in its cache.
const LEAST_PROMPT: u64 = 4;

/// What a reply shows about a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// What the server does with it.
    Known(Support),
    /// The model had no room to say anything.
    NoRoom,
    /// Nothing.
    Nothing,
}

/// By the sizes of the prompt without and with a tool.
pub(super) fn tools(plain: Option<u64>, with_tool: &Reply) -> Verdict {
    let Some((plain, with_tool)) = plain.zip(with_tool.prompt_tokens) else { return Verdict::Nothing };
    if with_tool >= plain.saturating_add(GROWTH) {
        Verdict::Known(Support::Honored)
    } else if plain >= LEAST_PROMPT && with_tool.abs_diff(plain) <= NOISE {
        Verdict::Known(Support::Ignored)
    } else {
        Verdict::Nothing
    }
}

/// Honored where the arguments of the call are those that only a constraint brings about. A call with others was forced, perhaps, but
/// not constrained.
pub(super) fn named_choice(reply: &Reply, marker: &str) -> Verdict {
    match reply.calls.iter().find(|(name, _)| name == NAMED) {
        Some((_, arguments)) if is_constrained(arguments, reply.is_cut, marker) => Verdict::Known(Support::Honored),
        Some(_) => Verdict::Nothing,
        None => unless_forced(reply),
    }
}

/// Honored where there is a call although nothing asks for one.
pub(super) fn required_choice(reply: &Reply) -> Verdict {
    if reply.calls.is_empty() { unless_forced(reply) } else { Verdict::Known(Support::Honored) }
}

/// Honored where the answer is the one that only a constraint brings about.
pub(super) fn response_format(reply: &Reply, marker: &str) -> Verdict {
    match is_constrained(&reply.text, reply.is_cut, marker) {
        true => Verdict::Known(Support::Honored),
        false => unless_forced(reply),
    }
}

/// Two calls where one is the most. That there is one proves nothing: the model may have made it so.
pub(super) fn parallel_tool_calls(reply: &Reply) -> Verdict {
    if reply.calls.len() > 1 { Verdict::Known(Support::Ignored) } else { Verdict::Nothing }
}

/// A call that the schema does not allow. One that it allows proves nothing.
pub(super) fn strict(reply: &Reply, marker: &str) -> Verdict {
    let is_wrong =
        |arguments: &str| serde_json::from_str(arguments).is_ok_and(|value: Value| value != constrained(marker));
    match reply.calls.iter().any(|(name, arguments)| name == NAMED && is_wrong(arguments)) {
        true => Verdict::Known(Support::Ignored),
        false => Verdict::Nothing,
    }
}

/// A reply without what would have been forced.
fn unless_forced(reply: &Reply) -> Verdict {
    if reply.text.is_empty() && reply.is_cut { Verdict::NoRoom } else { Verdict::Known(Support::Ignored) }
}

/// Whether JSON is what the schema demands, or the beginning of it where it was cut.
fn is_constrained(text: &str, is_cut: bool, marker: &str) -> bool {
    let expected = constrained(marker);
    if serde_json::from_str::<Value>(text).is_ok_and(|value| value == expected) {
        return true;
    }
    let compact: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    // With the beginning of the word in it: any model may begin an object.
    is_cut && compact.len() > r#"{"word":"zyx"#.len() && expected.to_string().starts_with(&compact)
}
