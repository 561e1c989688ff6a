//! Lists of validation errors, where each has a place (`loc`) and words (`msg`): JSON, or printed by Python.

use serde_json::Value;

/// How often such a list may be encoded as a string in another.
const ENCODINGS: usize = 2;

/// The place and the words of one error.
pub(super) type Entry = (Vec<String>, String);

/// The errors of a list; none where the text is no such list.
pub(super) fn read(message: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    read_json(message, ENCODINGS, &mut entries);
    if entries.is_empty() {
        entries.extend(read_python(message));
    }
    entries
}

fn read_json(text: &str, encodings_left: usize, entries: &mut Vec<Entry>) {
    if !text.trim_start().starts_with(['{', '[']) {
        return;
    }
    let mut open: Vec<Value> = serde_json::from_str(text).into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list.into_iter().rev()),
            Value::String(text) if encodings_left > 0 => read_json(&text, encodings_left - 1, entries),
            Value::Object(fields) => match (fields.get("loc"), fields.get("msg").and_then(Value::as_str)) {
                // Beside these stands what was sent, which is not looked into.
                (Some(Value::Array(place)), Some(words)) => {
                    entries.push((place.iter().map(part).collect(), words.to_owned()));
                }
                _ => open.extend(fields.into_iter().map(|(_, value)| value)),
            },
            _ => {}
        }
    }
}

fn part(part: &Value) -> String {
    part.as_str().map_or_else(|| part.to_string(), str::to_owned)
}

/// The first error as Python prints it. Those behind it cannot be told from what the first one repeats of the request.
fn read_python(message: &str) -> Option<Entry> {
    let (_, place) = message.split_once("'loc': ")?;
    let place = place.strip_prefix(['(', '['])?;
    let (place, behind) = place.split_once([')', ']'])?;
    let words = behind.strip_prefix(", 'msg': ")?;
    let quote = words.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let words = words.get(1..)?.split(quote).next()?;
    let parts = place.split(',').map(|part| part.trim_matches([' ', '\'', '"']).to_owned());
    Some((parts.filter(|part| !part.is_empty()).collect(), words.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_in_every_notation() {
        let two = [("body.stream_options", "Extra inputs are not permitted"), ("body.messages.0.user.name", "no")];
        let json = r#"{"detail":[{"type":"x","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"loc":["a"],"msg":"b"}},{"loc":["body","messages",0,"user","name"],"msg":"no"}]}"#;
        let python = "[{'type': 'x', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': \"'loc': ('a'), 'msg': 'b'\"}]";
        let within = Value::from(vec![json]).to_string();
        for (message, expected) in [
            (json, two.as_slice()),
            (&within, &two),
            (python, two.get(..1).unwrap()),
            ("1 validation error: {'loc': ('body', 'n',), 'msg': \"it's\"}", &[("body.n", "it's")]),
            ("", &[]),
            ("{", &[]),
            ("'loc': [", &[]),
            ("'loc': ['a'], 'msg'", &[]),
            ("'loc': ['a'], 'msg': 5", &[]),
            ("'loc': (é", &[]),
            (r#"{"loc": ["a"], "msg": 5}"#, &[]),
        ] {
            let read: Vec<_> = read(message).into_iter().map(|(place, words)| (place.join("."), words)).collect();
            let read: Vec<_> = read.iter().map(|(place, words)| (place.as_str(), words.as_str())).collect();
            assert_eq!(read, expected, "{message}");
        }
    }
}
