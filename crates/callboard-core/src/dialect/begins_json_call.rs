//! Decides from its first members whether a JSON object can be a call.

use super::call_words::{KeyRole, announces_call, key_role};
use super::input::{Incomplete, ReadResult};
use super::json_call::value;
use super::json_scan::{Extent, ObjectScan, quoted_length};
use super::tool_names::{ToolNames, is_distinctive, is_name};

/// A key that is not closed within this many bytes is none of a call.
const LONGEST_KEY: usize = 32;

/// An object that does not look like a call within this many bytes is an answer.
const LONGEST_HEAD: usize = 1024;

/// Whether the members before the arguments are those of a call; of `any` tool, or of one on offer. Once an object is found to be an answer, no text
/// that follows can make it a call.
pub(super) fn begins_call(object: &str, tools: &ToolNames, any: bool) -> ReadResult<bool> {
    let window = object.floor_char_boundary(LONGEST_HEAD);
    match read_members(object.get(1..window).unwrap_or_default(), tools, any) {
        Err(Incomplete) if window < object.len() => Ok(false),
        head => head,
    }
}

fn read_members(members: &str, tools: &ToolNames, any: bool) -> ReadResult<bool> {
    let mut rest = members;
    let mut named = None;
    loop {
        let (key, after) = match read_string(rest.trim_ascii_start()) {
            // The arguments are beside the name.
            Quoted::Whole(key, _)
                if named.is_some_and(|name| (any || is_distinctive(name)) && tools.takes(name, key)) =>
            {
                return Ok(true);
            }
            Quoted::Whole(key, after) if key_role(key).is_some() || tools.resolve(key).is_some() => (key, after),
            Quoted::Part(key) if key.len() <= LONGEST_KEY => return Err(Incomplete),
            Quoted::Whole(..) | Quoted::Part(_) | Quoted::None => return Ok(false),
        };
        let value = match after.trim_ascii_start() {
            "" => return Err(Incomplete),
            after => after.strip_prefix(':').unwrap_or("no value"),
        };
        match read_member(key, value.trim_ascii_start(), tools, any)? {
            Member::Other(next) => rest = next,
            Member::Named(name, next) => (named, rest) = (tools.resolve(name), next),
            Member::Decides(is_call) => return Ok(is_call),
        }
    }
}

enum Member<'a> {
    Decides(bool),
    /// The name of a tool; the next member begins there.
    Named(&'a str, &'a str),
    /// Decides nothing; the next one begins here.
    Other(&'a str),
}

fn read_member<'a>(key: &str, value: &'a str, tools: &ToolNames, any: bool) -> ReadResult<Member<'a>> {
    let Some(first) = value.chars().next() else { return Err(Incomplete) };
    match (key_role(key), first) {
        (Some(KeyRole::Arguments), _) => Ok(Member::Decides(matches!(first, '{' | '[' | '"' | '\''))),
        (Some(KeyRole::List), _) => Ok(Member::Decides(matches!(first, '[' | '{'))),
        (Some(KeyRole::Name), '{') => Ok(Member::Other(value.get(1..).unwrap_or_default())),
        (Some(KeyRole::Name), '"') => match read_string(value) {
            Quoted::Whole(text, after) if any && is_name(text) || tools.resolve_beginning(text).is_some() => {
                Ok(match next_member(after)? {
                    Member::Other(next) => Member::Named(text, next),
                    other => other,
                })
            }
            Quoted::Part(text) if any && is_name(text) || tools.may_resolve(text) => Err(Incomplete),
            _ => Ok(Member::Decides(false)),
        },
        (Some(KeyRole::Beside), _) => skip_value(key, value),
        // The name itself is the key of the arguments.
        (None, '{') => Ok(Member::Decides(true)),
        _ => Ok(Member::Decides(false)),
    }
}

/// A value beside a call decides nothing, but the type of another object does.
fn skip_value<'a>(key: &str, text: &'a str) -> ReadResult<Member<'a>> {
    let length = value(text).len();
    let closed = match text.as_bytes().first() {
        Some(b'{' | b'[') => matches!(ObjectScan::new(0).advance(text, true), Extent::Closed(_)),
        Some(b'"') => matches!(read_string(text), Quoted::Whole(..)),
        _ => length < text.len(),
    };
    if !closed {
        return Err(Incomplete);
    }
    let is_call = || announces_call(text.get(..length).unwrap_or_default());
    if key == "type" && !is_call() {
        return Ok(Member::Decides(false));
    }
    next_member(text.get(length..).unwrap_or_default())
}

fn next_member(after: &str) -> ReadResult<Member<'_>> {
    match after.trim_ascii_start() {
        "" => Err(Incomplete),
        after => Ok(after.strip_prefix(',').map_or(Member::Decides(false), Member::Other)),
    }
}

enum Quoted<'a> {
    /// The text between the quotes, and what follows them.
    Whole(&'a str, &'a str),
    /// The closing quote has not arrived.
    Part(&'a str),
    None,
}

fn read_string(text: &str) -> Quoted<'_> {
    let Some(inside) = text.strip_prefix('"') else {
        return if text.is_empty() { Quoted::Part("") } else { Quoted::None };
    };
    let length = quoted_length(text);
    match inside.get(..length.saturating_sub(2)).filter(|_| text.get(1..length).is_some_and(|all| all.ends_with('"'))) {
        Some(string) if !ends_escaped(string) => Quoted::Whole(string, text.get(length..).unwrap_or_default()),
        _ => Quoted::Part(inside),
    }
}

/// Whether the quote after `string` is part of it.
fn ends_escaped(string: &str) -> bool {
    string.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_distinguished_as_early_as_possible() {
        let tools = ToolNames::new(&["get_weather"]);
        for (object, expected) in [
            ("{", Err(Incomplete)),
            (r#"{"na"#, Err(Incomplete)),
            (r#"{"no"#, Err(Incomplete)),
            (r#"{"note": "#, Ok(false)),
            (r#"{"name": "get_w"#, Err(Incomplete)),
            (r#"{"name": "Ada"#, Ok(false)),
            (r#"{"name": "get_weather", "#, Err(Incomplete)),
            (r#"{"name": "get_weather", "born""#, Ok(false)),
            (r#"{"name": "get_weather", "arguments": "#, Err(Incomplete)),
            (r#"{"name": "get_weather", "arguments": {"#, Ok(true)),
            (r#"{"type": "function", "name": "get_weather", "parameters": {"#, Ok(true)),
            (r#"{"type": "function", "function": {"name": "get_weather", "parameters": {"#, Ok(true)),
            (r#"{"type": "object","#, Ok(false)),
            (r#"{"tool_calls": ["#, Ok(true)),
            (r#"{"x": 1}"#, Ok(false)),
            (r#"{"thought": "say \"x\"", "action": "get_weather", "action_input": {"#, Ok(true)),
            (r#"{"thoughts": {"text": "x"}, "command": {"name": "getWeather", "args": {"#, Ok(true)),
            (r#"{"get_weather": {"#, Ok(true)),
            (r#"{"forecast": {"#, Ok(false)),
            ("{}", Ok(false)),
            ("{x}", Ok(false)),
        ] {
            assert_eq!(begins_call(object, &tools, false), expected, "{object}");
        }
    }
}
