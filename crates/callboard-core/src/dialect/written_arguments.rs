//! Arguments in the forms that no family has a reader for, made into the text of a JSON object: elements, attributes, and lines
//! of keys and values. The text is complete.

use super::call_words::{KeyRole, key_role};
use super::input::leading;
use super::json_call::{members, value};
use super::tag::Tag;
use super::tag_parameters::TagValues;
use super::tool_names::ToolNames;

/// Elements in elements, at most.
const DEEPEST: usize = 4;

/// The arguments of the tool `name` written as attributes of the tag that `text` begins with.
pub(super) fn from_attributes(text: &str, name: &str, tools: &ToolNames) -> Option<String> {
    let tag = Tag::read(text, true).ok()??;
    let mut values = TagValues::default();
    for (key, written) in tag.attributes() {
        if tools.resolve(written) != Some(name) || tools.takes(name, key) {
            values.open(key, false);
            values.close(written);
        }
    }
    Some(values.arguments())
}

/// The arguments of the tool `name` written as elements. An element that is no parameter may enclose all of them.
pub(super) fn from_elements(text: &str, name: &str, tools: &ToolNames) -> Option<String> {
    read_elements(text, name, tools, DEEPEST)
}

fn read_elements(text: &str, name: &str, tools: &ToolNames, depth: usize) -> Option<String> {
    let mut values = TagValues::default();
    let (mut rest, mut key) = (text.trim_ascii_start(), None);
    while !rest.is_empty() {
        let tag = Tag::read(rest, true).ok()??;
        let behind = rest.get(tag.length..)?;
        if tag.closing || tag.is_token() {
            rest = behind.trim_ascii_start();
            continue;
        }
        let (content, after) = if tag.empty { ("", behind) } else { content(behind, tag.element())? };
        rest = after.trim_ascii_start();
        let own = parameter(&tag, name, tools);
        let inside = content.trim_ascii();
        if own.is_none() && depth > 0 && key.is_none() {
            if inside.starts_with('{') {
                return Some(inside.to_owned());
            }
            if inside.starts_with('<') {
                return read_elements(inside, name, tools, depth - 1);
            }
        }
        match (key_part(tag.element()), key.take()) {
            (KeyPart::Key, None) if own.is_none() => key = Some(inside),
            (KeyPart::Value, Some(key)) => push(&mut values, key, content),
            (_, None) => {
                values.open(own.unwrap_or(tag.element()), tag.attributes().contains(&("string", "false")));
                values.close(content);
            }
            (_, Some(_)) => return None,
        }
    }
    key.is_none().then(|| values.arguments())
}

fn push(values: &mut TagValues, key: &str, value: &str) {
    values.open(key, false);
    values.close(value);
}

/// The parameter that a tag names: in an attribute, or by itself.
fn parameter<'a>(tag: &Tag<'a>, name: &str, tools: &ToolNames) -> Option<&'a str> {
    let named = |(key, _): &&(&str, &str)| *key == tag.element() || matches!(*key, "name" | "key");
    let attributes = tag.attributes();
    let value = attributes.iter().find(named).map(|(_, value)| *value);
    value.or_else(|| Some(tag.element()).filter(|element| tools.takes(name, element)))
}

/// Elements in pairs: one with the key, one with its value.
enum KeyPart {
    Key,
    Value,
    None,
}

fn key_part(element: &str) -> KeyPart {
    match element.rsplit(['_', '-']).next() {
        Some("key" | "name") => KeyPart::Key,
        Some("value") => KeyPart::Value,
        _ => KeyPart::None,
    }
}

/// The content of an element, and what follows its end. Elements of the same name may be inside.
fn content<'a>(text: &'a str, element: &str) -> Option<(&'a str, &'a str)> {
    let (mut at, mut depth) = (0, 1_usize);
    while let Some(offset) = memchr::memchr(b'<', text.get(at..)?.as_bytes()) {
        at += offset;
        if let Ok(Some(tag)) = Tag::read(text.get(at..)?, true)
            && tag.element() == element
        {
            depth = if tag.closing { depth - 1 } else { depth + usize::from(!tag.empty) };
            if depth == 0 {
                return Some((text.get(..at)?, text.get(at + tag.length..)?));
            }
        }
        at += 1;
    }
    None
}

/// Arguments written as lines: `key: value` or `key = value`, in YAML or plain.
pub(super) fn from_lines(text: &str) -> Option<String> {
    let mut values = TagValues::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let line = line.strip_prefix("- ").unwrap_or(line);
        let key = leading(line, |character| character.is_alphanumeric() || matches!(character, '_' | '-'));
        let behind = line.get(key.len()..)?.trim_start().strip_prefix([':', '='])?.trim();
        if key.is_empty() {
            return None;
        }
        let written = behind.strip_suffix(',').unwrap_or(behind);
        // A remark about the key.
        if written.contains('(') && !written.starts_with(['"', '\'', '{', '[']) {
            return None;
        }
        let quoted = written.starts_with(['"', '\'']) && value(written).len() == written.len();
        match serde_json::from_str::<String>(written) {
            Ok(text) => push(&mut values, key, &text),
            Err(_) if quoted => push(&mut values, key, written.trim_matches('\'')),
            Err(_) => push(&mut values, key, written),
        }
    }
    (!values.is_empty()).then(|| values.arguments())
}

/// The arguments in an object behind a name: the object itself, or the one that its only key holds.
pub(super) fn from_object<'a>(text: &'a str, name: &str, tools: &ToolNames) -> &'a str {
    match members(text).as_slice() {
        [(key, value)]
            if value.starts_with('{') && !tools.takes(name, key) && key_role(key) == Some(KeyRole::Arguments) =>
        {
            value
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tools() -> ToolNames {
        let schema = json!({"properties": {"city": {}, "days": {}, "name": {}}, "required": ["city"]});
        ToolNames::with_schemas([("get_weather", &schema)].into_iter())
    }

    #[test]
    fn elements_are_arguments() {
        for (text, expected) in [
            ("<city>Paris</city><days>3</days>", Some(r#"{"city":"Paris","days":"3"}"#)),
            ("<parameters>\n<city>a <b>x</b></city>\n</parameters></x>", Some(r#"{"city":"a <b>x</b>"}"#)),
            ("<arguments>{\"city\": \"Paris\"}</arguments>", Some(r#"{"city": "Paris"}"#)),
            ("<parameter name=\"city\">Paris</parameter>", Some(r#"{"city":"Paris"}"#)),
            ("<parameter=city>Paris</parameter>", Some(r#"{"city":"Paris"}"#)),
            ("<arg_key>city</arg_key><arg_value>Paris</arg_value>", Some(r#"{"city":"Paris"}"#)),
            ("<name>x</name>", Some(r#"{"name":"x"}"#)),
            ("<city>Paris", None),
            ("Paris", None),
        ] {
            assert_eq!(from_elements(text, "get_weather", &tools()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn lines_are_arguments() {
        assert_eq!(from_lines("city: Paris\n  days = 3\n").as_deref(), Some(r#"{"city":"Paris","days":"3"}"#));
        assert_eq!(from_lines("city: \"Pa: ris\",").as_deref(), Some(r#"{"city":"Pa: ris"}"#));
        assert_eq!(from_lines("a sentence"), None);
    }
}
