//! Complaints about a field that is not known.

use super::complaint::{Complaint, is_name_character};
use super::sent::Sent;
use crate::wire::chat::adapt::Quirk;
use crate::wire::chat::adapt::apply::INDISPENSABLE;

/// Words that refuse a thing as such, not one of its values.
const REFUSING: [&str; 17] = [
    "not support",
    "n't support",
    "unsupported",
    "not permitted",
    "not allowed",
    "unknown",
    "unrecognized",
    "unrecognised",
    "not recognized",
    "unexpected",
    "unavailable",
    "not available",
    "not implemented",
    "not enabled",
    "not accept",
    "no endpoints found that",
    "extra_forbidden",
];

/// Behind these a sentence speaks of what would be right.
const ADVICE: [&str; 7] =
    ["did you mean", " instead", "expected one of", ", expected", "supported values", "permitted:", "must be one of"];

/// Words that stand before a field that is named without quotes.
const KINDS: [&str; 9] =
    ["parameter", "param", "argument", "arguments", "supplied", "field", "fields", "property", "key"];

/// Whether words refuse something.
pub(super) fn refuses(words: &str) -> bool {
    REFUSING.iter().any(|sign| words.contains(sign))
}

/// A field at the top of the request.
pub(super) fn field(complaint: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let Complaint { path, words, code, .. } = complaint;
    let words = before_advice(words);
    if !refuses(words) || is_about_value(words, code) {
        return None;
    }
    let name = match path.as_slice() {
        [root] | [root, _] if root != "messages" && root != "tools" => {
            sent.fields().find(|field| field.eq_ignore_ascii_case(root))
        }
        _ => None,
    };
    // Roles are named like fields: `user` is both.
    let named = || sent.fields().find(|field| !words.contains("role") && names(words, &field.to_lowercase()));
    let name = name.or_else(named);
    quirk_of(name.filter(|name| !INDISPENSABLE.contains(name))?, sent)
}

/// A field of messages, such as the reasoning that another server wrote.
pub(super) fn message_field(complaint: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let Complaint { path, words, .. } = complaint;
    let words = before_advice(words);
    if !refuses(words) || path.first().is_none_or(|root| root != "messages") {
        return None;
    }
    if let Some("tool_calls" | "tool_call_id") = path.last().map(String::as_str) {
        return sent.has_tool_history().then_some(Quirk::Tools);
    }
    let last = path.last().and_then(|last| sent.message_field(last));
    let name = last.or_else(|| quoted(words).find_map(|name| sent.message_field(name)))?;
    Some(Quirk::MessageField(name.to_owned()))
}

/// A single value is refused: leaving the field out helps only where no other value is taken.
fn is_about_value(words: &str, code: &str) -> bool {
    (code == "unsupported_value" || words.contains("unsupported value")) && !words.contains("only the default")
}

fn quirk_of(name: &str, sent: &Sent<'_>) -> Option<Quirk> {
    Some(match name {
        "tools" => return sent.has_tools().then_some(Quirk::Tools),
        "tool_choice" if sent.forces_call() => Quirk::ToolChoice,
        "parallel_tool_calls" => Quirk::ParallelToolCalls,
        "stream_options" => Quirk::StreamOptions,
        "response_format" => Quirk::ResponseFormat,
        "max_tokens" => Quirk::MaxTokens,
        "max_completion_tokens" => Quirk::MaxCompletionTokens,
        _ => Quirk::Field(name.to_owned()),
    })
}

fn before_advice(words: &str) -> &str {
    let end = ADVICE.iter().filter_map(|advice| words.find(advice)).min();
    words.get(..end.unwrap_or(words.len())).unwrap_or_default()
}

/// Whether words name a field, and do not only use the same word: in quotes, with an underscore, or as `param: n`.
pub(super) fn names(words: &str, field: &str) -> bool {
    words.match_indices(field).any(|(at, _)| {
        let before = words.get(..at).unwrap_or_default();
        let after = words.get(at + field.len()..).unwrap_or_default();
        let whole =
            !before.ends_with(is_name_character) && !after.starts_with(|next| is_name_character(next) || next == '[');
        whole && (field.contains('_') || is_marked(before, after))
    })
}

fn is_marked(before: &str, after: &str) -> bool {
    let quotes = ['\'', '"', '`'];
    let last = before.trim_end().trim_end_matches(':').rsplit(|character: char| !is_name_character(character)).next();
    before.ends_with(quotes) && after.starts_with(quotes)
        || before.ends_with("body.")
        || before.ends_with("support ")
        || last.is_some_and(|word| KINDS.contains(&word))
}

/// The words in single quotes.
fn quoted(words: &str) -> impl Iterator<Item = &str> {
    words.split('\'').skip(1).step_by(2)
}
