//! Python's way of printing lists, dictionaries and strings, read as JSON.
//!
//! Only the form is read; what has no JSON of its own, such as an object's address, becomes null. The reader stops at the
//! first thing that it does not understand: what follows might be the client's words.

use serde_json::{Map, Value};

/// Deeper values are not read.
const DEEPEST: usize = 40;

/// The value at the beginning of a text, and what follows it.
pub(super) fn read(text: &str) -> Option<(Value, &str)> {
    value(text, DEEPEST)
}

fn value(text: &str, depth: usize) -> Option<(Value, &str)> {
    let text = text.trim_start();
    let depth = depth.checked_sub(1)?;
    match text.chars().next()? {
        '{' => dictionary(text.get(1..)?, depth),
        '[' => list(text.get(1..)?, ']', depth),
        '(' => list(text.get(1..)?, ')', depth),
        '\'' | '"' => string(text).map(|(text, rest)| (Value::from(text), rest)),
        _ => word(text, depth),
    }
}

fn list(mut text: &str, end: char, depth: usize) -> Option<(Value, &str)> {
    let mut values = Vec::new();
    loop {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix(end) {
            return Some((Value::Array(values), rest));
        }
        let (item, rest) = value(text, depth)?;
        values.push(item);
        text = behind_comma(rest, end)?;
    }
}

fn dictionary(mut text: &str, depth: usize) -> Option<(Value, &str)> {
    let mut fields = Map::new();
    loop {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix('}') {
            return Some((Value::Object(fields), rest));
        }
        let (key, rest) = value(text, depth)?;
        let (item, rest) = value(rest.trim_start().strip_prefix(':')?, depth)?;
        fields.insert(key.as_str().map_or_else(|| key.to_string(), str::to_owned), item);
        text = behind_comma(rest, '}')?;
    }
}

/// What stands behind a comma; the end of the list stays.
fn behind_comma(text: &str, end: char) -> Option<&str> {
    let text = text.trim_start();
    text.strip_prefix(',').or_else(|| text.starts_with(end).then_some(text))
}

fn string(text: &str) -> Option<(String, &str)> {
    let mut characters = text.char_indices();
    let (_, quote) = characters.next()?;
    let mut content = String::new();
    while let Some((at, character)) = characters.next() {
        match character {
            _ if character == quote => return Some((content, text.get(at + character.len_utf8()..)?)),
            '\\' => content.extend(escaped(&mut characters)),
            _ => content.push(character),
        }
    }
    None
}

fn escaped(characters: &mut std::str::CharIndices<'_>) -> Option<char> {
    let digits = |characters: &mut std::str::CharIndices<'_>, count: usize| {
        let text: String = characters.take(count).map(|(_, digit)| digit).collect();
        u32::from_str_radix(&text, 16).ok().and_then(char::from_u32)
    };
    match characters.next()?.1 {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'x' => digits(characters, 2),
        'u' => digits(characters, 4),
        'U' => digits(characters, 8),
        other => Some(other),
    }
}

/// `None`, a number, or something like `ValueError('no')`, with its arguments.
fn word(text: &str, depth: usize) -> Option<(Value, &str)> {
    let end = text.find([',', ':', '(', ')', '[', ']', '{', '}', '\'', '"'])?;
    let (word, rest) = text.split_at_checked(end)?;
    if word.trim().is_empty() {
        return None;
    }
    if let Some(arguments) = rest.strip_prefix('(') {
        return list(arguments, ')', depth).map(|(_, rest)| (Value::Null, rest));
    }
    let known = match word.trim() {
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        number => serde_json::from_str(number).unwrap_or_default(),
    };
    Some((known, rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_python_prints_is_read() {
        for (text, expected) in [
            ("[1, -2.5, True, False, None]", json!([1, -2.5, true, false, null])),
            ("('body', 'messages', 0,)", json!(["body", "messages", 0])),
            (r#"{'a': "it's", 5: {}}"#, json!({"a": "it's", "5": {}})),
            (r"['\'\\\n\x41\u00e9']", json!(["'\\\nA\u{e9}"])),
            ("{'ctx': {'error': ValueError('no', 1)}, 'b': <x>}", json!({"ctx": {"error": null}, "b": null})),
            ("()", json!([])),
        ] {
            assert_eq!(read(text), Some((expected, "")), "{text}");
        }
        assert_eq!(read("{} {}"), Some((json!({}), " {}")));
    }

    #[test]
    fn what_is_not_whole_is_not_read() {
        let deep = "[".repeat(100_000);
        for text in ["", "{", "{'a'", "{'a': ", "['a", "['\\", "['\\x", "[1", "(]", "{,}", "[,]", &deep] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
