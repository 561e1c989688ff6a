//! Splits a refusal into single complaints: a place in the request, and words about it.
//!
//! Servers that check requests by a schema send a list, as JSON or as Python prints it; others write sentences, one to a
//! line. Both are searched as text. What a server repeats of the request is left out.

use std::ops::Range;

use serde_json::Value;

use super::client_errors;

/// What follows is a stack trace, or the request itself.
const MOST_BYTES: usize = 16 << 10;
const MOST_COMPLAINTS: usize = 50;

/// Shorter texts of the request are not searched for in the refusal.
const SHORTEST_ECHO: usize = 4;

/// Keys under which a server repeats the request.
const ECHO_KEYS: [&str; 4] = ["input", "body", "request", "ctx"];

/// Where a place may begin that does not begin with `body`. Other places are within the server's own objects.
const ROOTS: &str = "messages|tools|tool_choice|parallel_tool_calls|response_format|stream|stream_options|max_tokens|\
    max_completion_tokens|temperature|top_p|stop|model";

/// An error reply of a model server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Refusal<'a> {
    /// The HTTP status.
    pub status: u16,
    /// Its message. Where that is no string, as in lists of validation errors, the JSON of it.
    pub message: &'a str,
    /// The place it names.
    pub param: Option<&'a str>,
    /// Its code.
    pub code: Option<&'a str>,
}

/// One thing that a refusal complains of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The place in lower case: `["messages", "1", "content"]`.
    pub(super) path: Vec<String>,
    /// The words in lower case.
    pub(super) words: String,
    /// From a list of validation errors, which is about the request whatever the status.
    pub(super) listed: bool,
}

/// True for a list of validation errors about the request, even where the status calls it the server's own failure.
#[must_use]
pub fn is_validation_error(message: &str) -> bool {
    listed(message).is_some_and(|complaints| !complaints.is_empty())
}

/// The complaints of a refusal, without those that only the client can do something about.
pub(super) fn complaints(refusal: &Refusal<'_>, sent: &Value) -> Vec<Complaint> {
    if refusal.code.is_some_and(client_errors::is_code) {
        return Vec::new();
    }
    let end = refusal.message.floor_char_boundary(MOST_BYTES);
    let mut message = refusal.message.get(..end).unwrap_or_default().to_owned();
    remove_echoes(&mut message, sent);
    let all = listed(&message).unwrap_or_else(|| sentences(&message, refusal.param));
    all.into_iter().filter(|complaint| !client_errors::is_worded(&complaint.words)).take(MOST_COMPLAINTS).collect()
}

/// Takes out the texts of the request that are more than a plain word: a client's own words are no complaint.
fn remove_echoes(message: &mut String, sent: &Value) {
    let mut remove = |text: &str| {
        let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if text.len() >= SHORTEST_ECHO && !is_word && message.contains(text) {
            *message = message.replace(text, "…");
        }
    };
    let mut open = vec![sent];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => remove(text),
            Value::Array(list) => open.extend(list),
            Value::Object(fields) => {
                fields.keys().for_each(|key| remove(key));
                open.extend(fields.values());
            }
            _ => {}
        }
    }
}

/// The errors of a list as far as they are about the request; nothing where the text is no list.
fn listed(message: &str) -> Option<Vec<Complaint>> {
    let entries = |text: &str| without_echo_keys(text).split(['{', '}']).filter_map(entry).collect::<Vec<_>>();
    // A list may be encoded as a string in another.
    let unescaped = message.replace("\\\"", "\"").replace("\\'", "'");
    let mut found = [entries(message), entries(&unescaped)].into_iter().rev().max_by_key(Vec::len).unwrap_or_default();
    if found.is_empty() {
        found = lines_of_list(message);
    }
    let is_list = !found.is_empty();
    is_list.then(|| found.into_iter().filter_map(about_request).collect())
}

fn about_request((mut path, words): (Vec<String>, String)) -> Option<Complaint> {
    match path.first().map(String::as_str) {
        Some("body") => drop(path.remove(0)),
        Some(root) if !ROOTS.split('|').any(|own| own == root) => return None,
        _ => {}
    }
    Some(Complaint { path, words, listed: true })
}

/// An error of pydantic, Zod or Ajv.
fn entry(text: &str) -> Option<(Vec<String>, String)> {
    let value = |key: &str| value_of(text, key).and_then(|(_, range)| text.get(range));
    let words = ["msg", "message"].iter().find_map(|key| value(key).filter(|words| words.starts_with(['"', '\''])))?;
    let zod = || value("path").filter(|path| path.starts_with('[') && value("code").is_some());
    let place = value("loc").or_else(|| value("instancePath")).or_else(zod)?;
    Some((names(place), words.to_lowercase()))
}

/// `1 validation error for Request`, then for each error a line with its place and an indented one with words.
fn lines_of_list(message: &str) -> Vec<(Vec<String>, String)> {
    let message = message.replace("\n  ", " ");
    let is_headline = |line: &&str| line.contains(" validation error for ") || line.contains(" validation errors for ");
    let errors = message.lines().skip_while(|line| !is_headline(line)).skip(1);
    let errors = errors.map_while(|line| line.split_once(' '));
    let words = |words: &str| words.split(" [type=").next().unwrap_or_default().to_lowercase();
    errors.map(|(place, rest)| (names(place), words(rest))).collect()
}

fn without_echo_keys(text: &str) -> String {
    let mut text = text.to_owned();
    for key in ECHO_KEYS {
        while let Some((start, value)) = value_of(&text, key) {
            text.replace_range(start..value.end, "");
        }
    }
    text
}

/// Where a key begins and where its value is, as JSON and Python write them.
fn value_of(text: &str, key: &str) -> Option<(usize, Range<usize>)> {
    let find = |quote: char| text.find(&format!("{quote}{key}{quote}:"));
    let key_start = find('"').or_else(|| find('\''))?;
    let behind = text.get(key_start + key.len() + 3..)?;
    let start = text.len() - behind.trim_start().len();
    Some((key_start, start..start + value_length(behind.trim_start())))
}

fn value_length(text: &str) -> usize {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '[' | '(' | '{') => depth += 1,
            (None, ',' | ']' | ')' | '}' | '\n') if depth == 0 => return at,
            (None, ']' | ')' | '}') => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

fn sentences(message: &str, param: Option<&str>) -> Vec<Complaint> {
    let message = message.to_lowercase().replace("\n  ", " ");
    let param = param.map(names).filter(|path| !path.is_empty() && !path.iter().any(|part| part == "validation_error"));
    let lines = message.lines().filter(|line| !line.trim().is_empty());
    let complaint = |line: &str| Complaint {
        path: param.clone().unwrap_or_else(|| path_within(line)),
        words: line.to_owned(),
        listed: false,
    };
    lines.map(complaint).collect()
}

/// `messages.[1].content`, `messages[1].content` and `body/messages/1/content` name the same place.
fn names(place: &str) -> Vec<String> {
    let parts = place.split(|character: char| !is_name_character(character));
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
}

/// The first place within messages or tools that a sentence names.
fn path_within(line: &str) -> Vec<String> {
    let places = ["messages", "tools"].iter().flat_map(|root| line.match_indices(root));
    places.filter_map(|(at, _)| path_at(line.get(at..)?)).next().unwrap_or_default()
}

fn path_at(place: &str) -> Option<Vec<String>> {
    let is_part = |character: char| is_name_character(character) || "./[]'".contains(character);
    let end = place.find(|character| !is_part(character)).unwrap_or(place.len());
    let parts = names(place.get(..end)?);
    parts.get(1).is_some_and(|part| is_number(part)).then_some(parts)
}

/// Whether one of the signs, separated by `|`, is in the words.
pub(super) fn any(words: &str, signs: &str) -> bool {
    signs.split('|').any(|sign| words.contains(sign))
}

pub(super) fn is_number(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_in_every_notation() {
        for place in ["messages[1].content", "messages.[1].content", "messages/1/content", "messages.['1].content"] {
            assert_eq!(names(place), ["messages", "1", "content"], "{place}");
            assert_eq!(path_within(&format!("wrong - '{place}': null")), ["messages", "1", "content"], "{place}");
        }
        assert_eq!(path_within("the messages are wrong"), [""; 0]);
    }

    #[test]
    fn only_more_than_words_is_taken_for_an_echo() {
        let sent = serde_json::json!({"tools": ["required"], "effort": "this does not support tools", "--jinja": [{"a": "a b c d"}]});
        for (message, expected) in [
            ("Invalid value: 'this does not support tools'.", "Invalid value: '…'."),
            ("Unknown parameter: '--jinja'.", "Unknown parameter: '…'."),
            ("this does not support tools at all: a b c d", "… at all: …"),
            ("tools: required is not supported", "tools: required is not supported"),
        ] {
            let mut message = message.to_owned();
            remove_echoes(&mut message, &sent);
            assert_eq!(message, expected);
        }
    }

    #[test]
    fn lists_are_read_in_every_notation() {
        let json = r#"{"detail":[{"type":"x","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"loc":["a"],"msg":"b"}},{"loc":["body","messages",0,"user","name"],"msg":"it's so"}]}"#;
        let python = "[{'type': 'x', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': \"{'loc': ('a'), 'msg': 'b'}\"}, {'loc': ('body', 'messages', 0, 'User', 'name'), 'msg': \"it's so\"}]";
        let (counted, sentence) = (format!("2 validation errors:\n  {python}"), format!("Error code: 400 - {python}"));
        let within = Value::from(vec![json]).to_string();
        let printed = format!("{{'error': {{'message': {}}}}}", Value::from(python));
        let lines = "2 validation errors for Request\nstream_options\n  Extra inputs are not permitted [type=x, input_value='a']\n    For more visit\nmessages.0.User.name\n  it's so [type=x]";
        for message in [json, &within, python, &counted, &sentence, &printed, lines] {
            let found: Vec<_> =
                listed(message).unwrap().into_iter().map(|one| (one.path.join("."), one.words)).collect();
            let words = |at: usize| found[at].1.trim_matches(['"', '\'']);
            assert_eq!(
                (found.len(), found[0].0.as_str(), words(0)),
                (2, "stream_options", "extra inputs are not permitted"),
                "{message}"
            );
            assert_eq!((found[1].0.as_str(), words(1)), ("messages.0.user.name", "it's so"), "{message}");
        }
    }

    #[test]
    fn nothing_is_read_out_of_other_texts() {
        for message in [
            "",
            "{",
            "'loc': [",
            "'loc': ['a'], 'msg'",
            "'loc': ['body', 'n'], 'msg': 5",
            "'loc': (é",
            r#"{"loc": ["body", "n"], "msg": 5}"#,
            r#"{"detail": [], "body": {"metadata": {"loc": ["body", "tools"], "msg": "no"}}}"#,
            "[{'loc': ('response', 'choices'), 'msg': 'Field required'}]",
            "[{'loc': ('header', 'authorization'), 'msg': 'Field required'}]",
            r#"{"errors": [{"message": "Internal error", "path": []}]}"#,
            "1 validation error for Answer\ncontent\n  Input should be a valid string [type=string_type]",
            "1 validation error for Request",
            "1 validation error for Request\nstop",
        ] {
            assert!(!is_validation_error(message), "{message}");
        }
    }
}
