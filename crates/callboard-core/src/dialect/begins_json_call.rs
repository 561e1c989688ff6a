//! Decides from its first members whether a JSON object can be a call.

use super::input::{Incomplete, ReadResult};
use super::json_call::{ARGUMENT_KEYS, LIST_KEY, NAME_KEYS};
use super::tool_names::ToolNames;

/// Keys of a call beside its name and arguments.
const OTHER_KEYS: [&str; 3] = ["type", "id", LIST_KEY];

/// An object that does not look like a call within this many bytes is an answer.
const LONGEST_HEAD: usize = 1024;

/// Whether the members before the arguments are those of a call. Once an object is found to be an answer, no text
/// that follows can make it a call.
pub(super) fn begins_call(object: &str, tools: &ToolNames) -> ReadResult<bool> {
    let window = object.floor_char_boundary(LONGEST_HEAD);
    match read_members(object.get(1..window).unwrap_or_default(), tools) {
        Err(Incomplete) if window < object.len() => Ok(false),
        head => head,
    }
}

fn read_members(members: &str, tools: &ToolNames) -> ReadResult<bool> {
    let mut rest = members;
    loop {
        let (key, after) = match read_string(rest.trim_ascii_start()) {
            Quoted::Whole(key, after) if call_keys().any(|known| known == key) => (key, after),
            Quoted::Part(key) if call_keys().any(|known| known.starts_with(key)) => return Err(Incomplete),
            Quoted::Whole(..) | Quoted::Part(_) | Quoted::None => return Ok(false),
        };
        let value = match after.trim_ascii_start() {
            "" => return Err(Incomplete),
            after => after.strip_prefix(':').unwrap_or("no value"),
        };
        match read_member(key, value.trim_ascii_start(), tools)? {
            Member::Other(next) => rest = next,
            Member::Decides(is_call) => return Ok(is_call),
        }
    }
}

enum Member<'a> {
    Decides(bool),
    /// Decides nothing; the next one begins here.
    Other(&'a str),
}

fn read_member<'a>(key: &str, value: &'a str, tools: &ToolNames) -> ReadResult<Member<'a>> {
    if value.is_empty() {
        return Err(Incomplete);
    }
    if ARGUMENT_KEYS.contains(&key) || key == LIST_KEY {
        return Ok(Member::Decides(value.starts_with(['{', '[', '"'])));
    }
    if let Some(inside) = value.strip_prefix('{').filter(|_| key == "function") {
        return Ok(Member::Other(inside));
    }
    match read_string(value) {
        Quoted::Whole(text, after) if fits(key, text, tools) => match after.trim_ascii_start() {
            "" => Err(Incomplete),
            after => Ok(after.strip_prefix(',').map_or(Member::Decides(false), Member::Other)),
        },
        Quoted::Part(text) if !NAME_KEYS.contains(&key) || tools.may_offer(text) => Err(Incomplete),
        _ => Ok(Member::Decides(false)),
    }
}

fn fits(key: &str, text: &str, tools: &ToolNames) -> bool {
    match key {
        "type" => text == "function",
        "id" => true,
        _ => tools.offer(text),
    }
}

fn call_keys() -> impl Iterator<Item = &'static str> {
    NAME_KEYS.into_iter().chain(ARGUMENT_KEYS).chain(OTHER_KEYS)
}

enum Quoted<'a> {
    /// The text between the quotes, and what follows them.
    Whole(&'a str, &'a str),
    /// The closing quote has not arrived.
    Part(&'a str),
    None,
}

fn read_string(text: &str) -> Quoted<'_> {
    match text.strip_prefix('"') {
        Some(inside) => {
            inside.split_once('"').map_or(Quoted::Part(inside), |(string, after)| Quoted::Whole(string, after))
        }
        None if text.is_empty() => Quoted::Part(""),
        None => Quoted::None,
    }
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
            (r#"{"no"#, Ok(false)),
            (r#"{"name": "get_w"#, Err(Incomplete)),
            (r#"{"name": "Ada"#, Ok(false)),
            (r#"{"name": "get_weather", "#, Err(Incomplete)),
            (r#"{"name": "get_weather", "born"#, Ok(false)),
            (r#"{"name": "get_weather", "arguments": "#, Err(Incomplete)),
            (r#"{"name": "get_weather", "arguments": {"#, Ok(true)),
            (r#"{"type": "function", "name": "get_weather", "parameters": {"#, Ok(true)),
            (r#"{"type": "function", "function": {"name": "get_weather", "parameters": {"#, Ok(true)),
            (r#"{"type": "object""#, Ok(false)),
            (r#"{"tool_calls": ["#, Ok(true)),
            (r#"{"x": 1}"#, Ok(false)),
            ("{}", Ok(false)),
            ("{x}", Ok(false)),
        ] {
            assert_eq!(begins_call(object, &tools), expected, "{object}");
        }
    }
}
