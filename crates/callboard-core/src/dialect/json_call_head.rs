//! Tells from its first members whether a JSON object can be a call.

use super::json_call::{ARGUMENT_KEYS, LIST_KEY, NAME_KEYS};
use super::tool_names::ToolNames;

/// Keys of a call beside its name and arguments.
const OTHER_KEYS: [&str; 3] = ["type", "id", LIST_KEY];

/// An object that does not look like a call within this many bytes is an answer.
const LONGEST_HEAD: usize = 1024;

/// What the head of an object belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CallHead {
    Call,
    Undecided,
    Answer,
}

/// Looks at the members before the arguments. Once an object is found to be an answer, no text
/// that follows can make it a call.
pub(super) fn head(object: &str, tools: &ToolNames) -> CallHead {
    let window = object.floor_char_boundary(LONGEST_HEAD);
    match head_in(object.get(1..window).unwrap_or_default(), tools) {
        CallHead::Undecided if window < object.len() => CallHead::Answer,
        head => head,
    }
}

fn head_in(members: &str, tools: &ToolNames) -> CallHead {
    let mut rest = members;
    loop {
        let (key, after) = match read_string(rest.trim_ascii_start()) {
            Quoted::Whole(key, after) if call_keys().any(|known| known == key) => (key, after),
            Quoted::Part(key) if call_keys().any(|known| known.starts_with(key)) => {
                return CallHead::Undecided;
            }
            Quoted::Missing => return CallHead::Undecided,
            Quoted::Whole(..) | Quoted::Part(_) | Quoted::None => return CallHead::Answer,
        };
        let value = match after.trim_ascii_start() {
            "" => return CallHead::Undecided,
            after => after.strip_prefix(':').unwrap_or("no value"),
        };
        match member_head(key, value.trim_ascii_start(), tools) {
            Ok(next) => rest = next,
            Err(head) => return head,
        }
    }
}

/// The text behind one member, unless the member decides the question.
fn member_head<'a>(key: &str, value: &'a str, tools: &ToolNames) -> Result<&'a str, CallHead> {
    if value.is_empty() {
        return Err(CallHead::Undecided);
    }
    if ARGUMENT_KEYS.contains(&key) || key == LIST_KEY {
        return Err(if value.starts_with(['{', '[', '"']) { CallHead::Call } else { CallHead::Answer });
    }
    if let Some(inside) = value.strip_prefix('{').filter(|_| key == "function") {
        return Ok(inside);
    }
    match read_string(value) {
        Quoted::Whole(text, after) if fits(key, text, tools) => match after.trim_ascii_start() {
            "" => Err(CallHead::Undecided),
            after => after.strip_prefix(',').ok_or(CallHead::Answer),
        },
        Quoted::Part(text) if !NAME_KEYS.contains(&key) || tools.may_offer(text) => Err(CallHead::Undecided),
        _ => Err(CallHead::Answer),
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
    Part(&'a str),
    /// Nothing is there yet.
    Missing,
    None,
}

fn read_string(text: &str) -> Quoted<'_> {
    let Some(inside) = text.strip_prefix('"') else {
        return if text.is_empty() { Quoted::Missing } else { Quoted::None };
    };
    match inside.split_once('"') {
        Some((string, after)) => Quoted::Whole(string, after),
        None => Quoted::Part(inside),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_told_apart_as_early_as_possible() {
        let tools = ToolNames::new(&["get_weather"]);
        for (object, expected) in [
            ("{", CallHead::Undecided),
            (r#"{"na"#, CallHead::Undecided),
            (r#"{"no"#, CallHead::Answer),
            (r#"{"name": "get_w"#, CallHead::Undecided),
            (r#"{"name": "Ada"#, CallHead::Answer),
            (r#"{"name": "get_weather", "#, CallHead::Undecided),
            (r#"{"name": "get_weather", "born"#, CallHead::Answer),
            (r#"{"name": "get_weather", "arguments": "#, CallHead::Undecided),
            (r#"{"name": "get_weather", "arguments": {"#, CallHead::Call),
            (r#"{"type": "function", "name": "get_weather", "parameters": {"#, CallHead::Call),
            (r#"{"type": "function", "function": {"name": "get_weather", "parameters": {"#, CallHead::Call),
            (r#"{"type": "object""#, CallHead::Answer),
            (r#"{"tool_calls": ["#, CallHead::Call),
            (r#"{"x": 1}"#, CallHead::Answer),
            ("{}", CallHead::Answer),
            ("{x}", CallHead::Answer),
        ] {
            assert_eq!(head(object, &tools), expected, "{object}");
        }
    }
}
