//! Lists of validation errors, where each has a place (`loc`, `path`) and words (`msg`): JSON, printed by Python, or as lines of
//! text. Beside these stands what was sent, which is not looked into.

use serde_json::Value;

use super::{echo, python};

/// How often such a list may be encoded as a string in another.
const ENCODINGS: usize = 2;

/// Where a place begins if the list is about the request as a whole.
const REQUEST: &str = "body";

/// Where a place begins if it is a field of the request. Others are within objects of the server's own.
const FIELDS: [&str; 13] = [
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "stop",
    "model",
];

/// Where servers repeat what was sent.
const ECHOES: [&str; 4] = ["input", "body", "request", "ctx"];

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The place in small letters, without the word for the request: `["messages", "1", "content"]`.
    pub(super) place: Vec<String>,
    pub(super) words: String,
}

/// The errors of a list as far as they are about the request; nothing where the text is no list.
pub(super) fn read(message: &str, sent: &Value) -> Option<Vec<Entry>> {
    let mut found = Vec::new();
    read_json(message, ENCODINGS, &mut found);
    if found.is_empty() {
        // A list stands alone or behind its count. In a sentence it might be quoted from the request.
        let alone = message.trim_start().starts_with(|first: char| "[{'".contains(first) || first.is_ascii_digit());
        let message = if alone { message.to_owned() } else { echo::without(message, sent) };
        read_python(&message, ENCODINGS, &mut found);
    }
    if found.is_empty() {
        read_lines(&echo::without(message, sent), &mut found);
    }
    let is_list = !found.is_empty();
    is_list.then(|| found.into_iter().filter_map(|(place, words)| about_request(place, words)).collect())
}

fn about_request(place: Vec<String>, words: String) -> Option<Entry> {
    let mut place: Vec<String> = place.into_iter().map(|part| part.to_lowercase()).collect();
    match place.first().map(String::as_str) {
        Some(REQUEST) => drop(place.remove(0)),
        Some(root) if !FIELDS.contains(&root) => return None,
        _ => {}
    }
    Some(Entry { place, words })
}

type Found = (Vec<String>, String);

fn read_json(text: &str, encodings_left: usize, found: &mut Vec<Found>) {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(text)
    {
        search(value, encodings_left, found);
    }
}

/// Each value that Python printed, one after another.
fn read_python(text: &str, encodings_left: usize, found: &mut Vec<Found>) {
    if text.trim_start().starts_with('\'') {
        let whole = format!("{{{text}}}");
        found.extend(python::read(&whole).and_then(|(value, _)| entry(&value)));
        return;
    }
    let mut rest = text;
    while let Some((value, behind)) = rest.find(['{', '[']).and_then(|at| python::read(rest.get(at..)?)) {
        search(value, encodings_left, found);
        rest = behind;
    }
}

fn search(value: Value, encodings_left: usize, found: &mut Vec<Found>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if let Some(entry) = entry(&value) {
            found.push(entry);
            continue;
        }
        match value {
            Value::Array(list) => open.extend(list.into_iter().rev()),
            Value::Object(fields) => {
                let said = fields.into_iter().filter(|(key, _)| !ECHOES.contains(&key.as_str()));
                open.extend(said.map(|(_, value)| value));
            }
            Value::String(text) if encodings_left > 0 => read_within(&text, encodings_left - 1, found),
            _ => {}
        }
    }
}

fn read_within(text: &str, encodings_left: usize, found: &mut Vec<Found>) {
    let before = found.len();
    read_json(text, encodings_left, found);
    if found.len() == before && text.trim_start().starts_with(['{', '[']) {
        read_python(text, encodings_left, found);
    }
}

/// An error of pydantic, Zod or Ajv.
fn entry(value: &Value) -> Option<Found> {
    let words = ["msg", "message"].iter().find_map(|key| value.get(key)?.as_str())?.to_owned();
    let part = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_owned);
    let path = || value.get("path").filter(|_| value.get("code").is_some_and(Value::is_string));
    if let Some(place) = value.get("loc").or_else(path).and_then(Value::as_array) {
        return Some((place.iter().map(part).collect(), words));
    }
    let place = value.get("instancePath")?.as_str()?.split('/').filter(|part| !part.is_empty());
    Some((place.map(str::to_owned).collect(), words))
}

/// `1 validation error for Request`, then for each error a line with its place and an indented one with words.
fn read_lines(text: &str, found: &mut Vec<Found>) {
    let mut lines = text.lines().skip_while(|line| !is_headline(line)).skip(1).peekable();
    while let Some(place) = lines.next() {
        let Some(words) = lines.next_if(|line| line.starts_with(' ')) else { break };
        while lines.next_if(|line| line.starts_with(' ')).is_some() {}
        let words = words.split(" [type=").next().unwrap_or_default().trim();
        found.push((place.split('.').map(str::to_owned).collect(), words.to_owned()));
    }
}

fn is_headline(line: &str) -> bool {
    line.contains(" validation error for ") || line.contains(" validation errors for ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_in_every_notation() {
        let two = [("stream_options", "Extra inputs are not permitted"), ("messages.0.user.name", "it's so")];
        let json = r#"{"detail":[{"type":"x","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"loc":["a"],"msg":"b"}},{"loc":["body","messages",0,"user","name"],"msg":"it's so"}]}"#;
        let python = "[{'type': 'x', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': \"{'loc': ('a'), 'msg': 'b'}\"}, {'loc': ('body', 'messages', 0, 'User', 'name'), 'msg': \"it's so\"}]";
        let (counted, sentence) = (format!("2 validation errors:\n  {python}"), format!("Error code: 400 - {python}"));
        let within = Value::from(vec![json]).to_string();
        let printed = format!("{{'error': {{'message': {}}}}}", Value::from(python));
        let lines = "2 validation errors for Request\nstream_options\n  Extra inputs are not permitted [type=x, input_value='a']\n    For more visit\nmessages.0.User.name\n  it's so [type=x]";
        for message in [json, &within, python, &counted, &sentence, &printed, lines] {
            assert_eq!(places(message), two.map(|(place, words)| (place.to_owned(), words.to_owned())), "{message}");
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
            assert_eq!(places(message), [], "{message}");
        }
        let quoted = "{'loc': ('body', 'tools'), 'msg': 'Extra inputs are not permitted'}";
        assert_eq!(read(&format!("Bad effort: {quoted}"), &serde_json::json!({"effort": quoted})), None);
    }

    fn places(message: &str) -> Vec<(String, String)> {
        let entries = read(message, &Value::Null);
        entries.into_iter().flatten().map(|entry| (entry.place.join("."), entry.words)).collect()
    }
}
