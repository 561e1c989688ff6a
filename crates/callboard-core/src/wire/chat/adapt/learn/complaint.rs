//! Takes a refusal apart into single complaints.
//!
//! Servers that check fields by a schema send a list with a place and words for each; others write sentences, one to a
//! line. What they repeat of the request is left out: a client's own words are no complaint.

use serde_json::Value;

use super::learning::Refusal;
use super::listing::{self, Entry};
use super::{echo, union};

/// No complaint is longer; what follows is a stack trace, or the request itself.
const LONGEST: usize = 2000;
const MOST: usize = 50;

/// One thing that is complained of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The place: `["messages", "1", "content"]`.
    pub(super) path: Vec<String>,
    /// The words, in small letters.
    pub(super) words: String,
    pub(super) code: String,
    /// True when it is out of a list of validation errors, which is about the request whatever the status.
    pub(super) listed: bool,
}

pub(super) fn complaints(refusal: &Refusal<'_>, sent: &Value) -> Vec<Complaint> {
    if let Some(listed) = listing::read(refusal.message, sent) {
        return union::meant(listed).into_iter().take(MOST).map(of_list).collect();
    }
    let message = echo::without(short(refusal.message), sent).to_lowercase().replace("\n  ", " ");
    let lines = message.lines().filter(|line| !line.trim().is_empty()).take(MOST);
    let param = refusal.param.map(path).unwrap_or_default();
    let names_no_place = param.is_empty() || param.iter().any(|part| part == "validation_error");
    let of_line = |line: &str| Complaint {
        path: if names_no_place { path_within(line) } else { param.clone() },
        words: line.to_owned(),
        code: refusal.code.unwrap_or_default().to_owned(),
        listed: false,
    };
    lines.map(of_line).collect()
}

fn of_list(Entry { place, words }: Entry) -> Complaint {
    Complaint { path: place, words: short(&words).to_lowercase(), code: String::new(), listed: true }
}

/// `messages.[1].content`, `messages[1].content` and `body.messages.1.content` are the same place.
fn path(place: &str) -> Vec<String> {
    let parts = place.split(|character: char| !is_name_character(character));
    parts.filter(|part| !part.is_empty() && *part != "body").map(str::to_lowercase).collect()
}

/// The first place within messages or tools that a sentence names.
fn path_within(line: &str) -> Vec<String> {
    ["messages", "tools"]
        .iter()
        .find_map(|root| line.match_indices(root).find_map(|(at, _)| path_at(line, at)))
        .unwrap_or_default()
}

fn path_at(line: &str, at: usize) -> Option<Vec<String>> {
    let place = line.get(at..)?;
    let end = place
        .find(|character: char| !is_name_character(character) && !matches!(character, '.' | '/' | '[' | ']' | '\''));
    let parts = path(place.get(..end.unwrap_or(place.len()))?);
    parts.get(1).is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit())).then_some(parts)
}

pub(super) fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

fn short(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_in_every_notation() {
        for place in ["messages[1].content", "messages.[1].content", "body.messages.1.content", "messages.['1].content"]
        {
            assert_eq!(path(place), ["messages", "1", "content"], "{place}");
            assert_eq!(path_within(&format!("wrong - '{place}': null")), ["messages", "1", "content"], "{place}");
        }
        assert_eq!(path_within("the messages are wrong"), [""; 0]);
    }
}
