//! Reads the name and the arguments of a call out of one JSON object.
//!
//! The object may be damaged except in its name and arguments. Arguments keep the model's own spelling:
//! numbers, order of keys and repeated keys reach the contract unchanged.

use super::call_words::{KeyRole, key_role};
use super::input::{skip, skip_whitespace};
use super::json_scan::{Extent, ObjectScan, quoted_length};
use super::piece::TextCall;
use super::tool_names::{ToolNames, bare_name, is_name};

/// The parts of a call that one object holds.
#[derive(Debug, Default)]
pub(super) struct ReadCall {
    pub(super) name: Option<String>,
    pub(super) arguments: Option<String>,
}

impl ReadCall {
    pub(super) fn into_call(self) -> Option<TextCall> {
        let arguments = self.arguments.unwrap_or_else(|| "{}".to_owned());
        self.name.map(|name| TextCall { name, arguments })
    }
}

/// Reads the object that `text` begins with; one without its end is read as far as it goes.
pub(super) fn read_call(text: &str, tools: &ToolNames) -> ReadCall {
    let members = members(text);
    let mut call = read_members(&members);
    if let Some((name, rest)) = bare_first(text, tools) {
        call = ReadCall { name: Some(name), ..read_members(&self::members(rest)) };
    }
    if let (Some(name), None) = (&call.name, &call.arguments) {
        call.arguments = arguments_beside(name, &members, tools);
    }
    if let (None, None, [(key, value)]) = (&call.name, &call.arguments, members.as_slice())
        && tools.offer(key)
    {
        call = ReadCall { name: Some(key.clone()), arguments: read_arguments(value) };
    }
    call
}

/// The members beside a name that are parameters of its tool, if all are.
fn arguments_beside(name: &str, members: &[(String, &str)], tools: &ToolNames) -> Option<String> {
    let name = tools.resolve(name)?;
    let role = |key: &str| key_role(key).filter(|_| !tools.takes(name, key));
    let beside = |(key, _): &&(String, &str)| !matches!(role(key), Some(KeyRole::Name | KeyRole::Beside));
    let arguments: Vec<_> = members.iter().filter(beside).collect();
    let all = !arguments.is_empty() && arguments.iter().all(|(key, _)| tools.takes(name, key));
    let member = |(key, value): &&(String, &str)| format!("{}: {value}", serde_json::Value::from(key.as_str()));
    all.then(|| format!("{{{}}}", arguments.iter().map(member).collect::<Vec<_>>().join(", ")))
}

/// The name of a tool on offer that comes first in an object, without its key, and the text from its comma on.
fn bare_first<'a>(text: &'a str, tools: &ToolNames) -> Option<(String, &'a str)> {
    let start = skip_whitespace(text, 1);
    let rest = text.get(start..).filter(|rest| rest.starts_with(['"', '\'']))?;
    let end = start + quoted_length(rest);
    let name = bare_name(&unquoted(text.get(start..end)?)).to_owned();
    let behind = text.get(skip_whitespace(text, end)..).filter(|behind| behind.starts_with(','))?;
    tools.offer(&name).then_some((name, behind))
}

/// Reads an object that is one call or holds a list of calls.
pub(super) fn read_calls(text: &str, tools: &ToolNames) -> Vec<ReadCall> {
    let members = members(text);
    match members.iter().find(|(key, value)| value.starts_with('[') && key_role(key) == Some(KeyRole::List)) {
        Some((_, list)) => elements(list).into_iter().map(|element| read_call(element, tools)).collect(),
        None => vec![read_call(text, tools)],
    }
}

fn read_members(members: &[(String, &str)]) -> ReadCall {
    let mut call = ReadCall::default();
    for (key, value) in members {
        match key_role(key) {
            // The call is inside, but no further one inside of it.
            Some(KeyRole::Name) if value.starts_with('{') => {
                let mut inner = self::members(value);
                inner.retain(|(key, value)| key_role(key) != Some(KeyRole::Name) || !value.starts_with('{'));
                return read_members(&inner);
            }
            Some(KeyRole::Name) if call.name.is_none() && is_name_value(value) => {
                call.name = Some(bare_name(&unquoted(value)).to_owned());
            }
            Some(KeyRole::Arguments) if call.arguments.is_none() => call.arguments = read_arguments(value),
            _ => {}
        }
    }
    call
}

/// Whether a value is text, with or without its quotes.
fn is_name_value(value: &str) -> bool {
    let is_word = is_name(value) && value.starts_with(char::is_alphabetic);
    value.starts_with(['"', '\'']) || is_word && !matches!(value, "null" | "true" | "false" | "None")
}

/// Arguments given as an object, or as a string that holds one.
fn read_arguments(value: &str) -> Option<String> {
    match value {
        "" | "null" | "None" => None,
        _ if is_object_in_quotes(value) => Some(value.trim_matches('\'').to_owned()),
        _ if value.starts_with('"') => Some(serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned())),
        _ => Some(value.to_owned()),
    }
}

/// `'{"city": "Paris"}'`
fn is_object_in_quotes(value: &str) -> bool {
    value.starts_with("'{") && value.ends_with("}'")
}

fn unquoted(value: &str) -> String {
    serde_json::from_str::<String>(value).unwrap_or_else(|_| value.trim_matches(['"', '\'']).to_owned())
}

/// The keys and the texts of the values of the object that `text` begins with.
pub(super) fn members(text: &str) -> Vec<(String, &str)> {
    let mut members = Vec::new();
    let mut at = 1;
    while let Some((key, value, next)) = member(text, at) {
        members.push((key, value));
        at = next;
    }
    members
}

fn member(text: &str, at: usize) -> Option<(String, &str, usize)> {
    let start = skip(text, at, |character| matches!(character, ',' | ' ' | '\t' | '\r' | '\n'));
    let key_length = match text.as_bytes().get(start)? {
        b'"' | b'\'' => quoted_length(text.get(start..)?),
        b'}' => return None,
        _ => memchr::memchr(b':', text.as_bytes().get(start..)?)?,
    };
    let colon = skip_whitespace(text, start + key_length);
    text.get(colon..)?.strip_prefix(':')?;
    let value_start = skip_whitespace(text, colon + 1);
    let value = value(text.get(value_start..)?);
    let key = unquoted(text.get(start..start + key_length)?.trim());
    Some((key, value.trim_ascii_end(), value_start + value.len()))
}

/// The value that `text` begins with.
pub(super) fn value(text: &str) -> &str {
    let length = match text.as_bytes().first() {
        Some(b'{' | b'[') => match ObjectScan::new(0).advance(text, true) {
            Extent::Closed(end) | Extent::BrokenOff(end) => end,
            Extent::Open => text.len(),
        },
        Some(b'"' | b'\'') => quoted_length(text),
        _ => memchr::memchr2(b',', b'}', text.as_bytes()).unwrap_or(text.len()),
    };
    text.get(..length).unwrap_or(text)
}

/// The objects in the list that `text` begins with.
pub(super) fn elements(text: &str) -> Vec<&str> {
    let mut elements = Vec::new();
    let mut at = 0;
    while let Some(offset) = text.get(at..).and_then(|rest| memchr::memchr(b'{', rest.as_bytes())) {
        let element = value(text.get(at + offset..).unwrap_or_default());
        at += offset + element.len().max(1);
        elements.push(element);
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_arguments_are_found() {
        let tools = ToolNames::new(&["f"]);
        for (object, name, arguments) in [
            (r#"{"name": "f", "arguments": {"a": 1.0}}"#, Some("f"), Some(r#"{"a": 1.0}"#)),
            (r#"{"arguments": {"name": "x"}, "name": "f"}"#, Some("f"), Some(r#"{"name": "x"}"#)),
            (r#"{"name": "f", "parameters": "{\"a\": \"b\"}"}"#, Some("f"), Some(r#"{"a": "b"}"#)),
            (r#"{"name": "functions.f:0", "arguments": null}"#, Some("f"), None),
            (r#"{'name': 'f', 'arguments': {'a': 'it's'}}"#, Some("f"), Some(r#"{'a': 'it's'}"#)),
            (r#"{name: "f", arguments: {a: 1,}}"#, Some("f"), Some("{a: 1,}")),
            (r#"{"type": "function", "function": {"name": "f", "arguments": "{}"}}"#, Some("f"), Some("{}")),
            (r#"{"name": "f", "arguments": {"a": "b"#, Some("f"), Some(r#"{"a": "b"#)),
            (r#"{"f": {"a": 1}}"#, Some("f"), Some(r#"{"a": 1}"#)),
            (r#"{"g": {"a": 1}}"#, None, None),
            (r#"{"name": 5}"#, None, None),
            ("{", None, None),
            ("", None, None),
        ] {
            let call = read_call(object, &tools);
            assert_eq!((call.name.as_deref(), call.arguments.as_deref()), (name, arguments), "{object}");
        }
    }

    #[test]
    fn a_list_of_calls_is_read() {
        let text = r#"{"tool_calls": [{"name": "f", "arguments": {}}, {"function": {"name": "g"}}]}"#;
        let names: Vec<_> = read_calls(text, &ToolNames::new(&[])).into_iter().filter_map(|call| call.name).collect();
        assert_eq!(names, ["f", "g"]);
    }
}
