//! Fields that a complaint names: those of the request, and those of its messages.

use super::complaint::{Complaint, any, is_name_character};
use super::sent::Sent;
use super::signs::REFUSED;
use crate::wire::chat::adapt::Quirk;
use crate::wire::chat::adapt::apply::INDISPENSABLE;

/// Behind these a sentence speaks of what would be right.
const ADVICE: &str = "did you mean| instead|expected one of|, expected|supported values|permitted:|must be one of";

/// Words before a field that is named without quotes.
const KINDS: &str = "parameter|param|argument|arguments|supplied|field|fields|property|key";

/// The words up to the advice, then the field that the place is in.
pub(super) fn subject(Complaint { path, words, .. }: &Complaint) -> String {
    let end = ADVICE.split('|').filter_map(|advice| words.find(advice)).min();
    let words = words.get(..end.unwrap_or(words.len())).unwrap_or_default();
    let field = match path.as_slice() {
        [.., last] if last == "strict" => last,
        [root] => root,
        // What is wrong within a schema is the client's to mend.
        [root, rest @ ..] if root != "messages" && root != "tools" && rest.iter().all(|part| part != "json_schema") => {
            root
        }
        _ => return words.to_owned(),
    };
    format!("{words} '{field}'")
}

/// The fields of the request that are named.
pub(super) fn in_request(subject: &str, sent: &Sent<'_>) -> Vec<Quirk> {
    // A single value is refused: leaving the field out helps only where no other value is taken.
    let about_value = subject.contains("unsupported value") && !subject.contains("only the default");
    // Roles are named like fields: `user` is both.
    if !any(subject, REFUSED) || about_value || subject.contains("role") {
        return Vec::new();
    }
    let named = sent.fields().filter(|field| !INDISPENSABLE.contains(field));
    let named = named.filter(|field| names(subject, &field.to_lowercase()));
    named.map(|field| quirk_of(field, sent)).collect()
}

/// The field of messages that is named, such as the reasoning that another server wrote.
pub(super) fn in_message(subject: &str, path: &[String], sent: &Sent<'_>) -> Option<Quirk> {
    let [root, .., last] = path else { return None };
    if root != "messages" || !any(subject, REFUSED) {
        return None;
    }
    if last == "tool_calls" || last == "tool_call_id" {
        return sent.has_tool_history().then_some(Quirk::Tools);
    }
    if path.iter().rev().skip(1).any(|part| part == "content") {
        return sent.holds(&Quirk::ContentParts).then_some(Quirk::ContentParts);
    }
    let mut quoted = subject.split('\'').skip(1).step_by(2);
    let name = sent.message_field(last).or_else(|| quoted.find_map(|name| sent.message_field(name)))?;
    Some(Quirk::MessageField(name.to_owned()))
}

fn quirk_of(field: &str, sent: &Sent<'_>) -> Quirk {
    match field {
        "tools" => Quirk::Tools,
        "tool_choice" if sent.holds(&Quirk::ToolChoice) => Quirk::ToolChoice,
        "parallel_tool_calls" => Quirk::ParallelToolCalls,
        "stream_options" => Quirk::StreamOptions,
        "response_format" => Quirk::ResponseFormat,
        "max_tokens" => Quirk::MaxTokens,
        "max_completion_tokens" => Quirk::MaxCompletionTokens,
        _ => Quirk::Field(field.to_owned()),
    }
}

/// Whether words name a field, and do not only use the same word: in quotes, with an underscore, or as `param: n`.
fn names(words: &str, field: &str) -> bool {
    words.match_indices(field).any(|(at, _)| {
        let before = words.get(..at).unwrap_or_default();
        let after = words.get(at + field.len()..).unwrap_or_default();
        let is_whole =
            !before.ends_with(is_name_character) && !after.starts_with(|next| is_name_character(next) || next == '[');
        is_whole && (field.contains('_') || is_marked(before, after))
    })
}

fn is_marked(before: &str, after: &str) -> bool {
    let quotes = ['\'', '"', '`'];
    let last = before.trim_end().trim_end_matches(':').rsplit(|character: char| !is_name_character(character)).next();
    before.ends_with(quotes) && after.starts_with(quotes)
        || before.ends_with("body.")
        || before.ends_with("support ")
        || last.is_some_and(|word| KINDS.split('|').any(|kind| kind == word))
}
