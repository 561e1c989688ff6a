//! Gemma: `<start_function_call>call:name{key:<escape>value<escape>}<end_function_call>`, and Gemma 4's
//! `<|tool_call>call:name{key:<|"|>value<|"|>}<tool_call|>`.
//!
//! Strings stand between two quote tokens, so nothing in them needs escaping; keys are bare.

use super::capture::Capture;
use super::delimited::{Delimited, Form};
use super::opener;
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, skip_whitespace};
use super::tool_names::{bare_name, is_name, is_name_character};

pub(super) const PREFIX: &str = "call:";
pub(super) const QUOTES: [&str; 2] = ["<|\"|>", "<escape>"];

/// Marks that end a call.
pub(super) const ENDS: [&str; 4] = ["<tool_call|>", "<end_function_call>", "<|tool_call>", "<start_function_call>"];

/// Reads what stands behind `mark`.
pub(super) fn next(mark: &str, sight: &Sight<'_>) -> Step {
    let start = skip_whitespace(sight.body, mark.len());
    let rest = sight.from(start);
    if PREFIX.starts_with(rest) {
        return Step::Wait;
    }
    if rest.starts_with(PREFIX) || begins_bare(rest, sight) {
        return Step::Become(Capture::Delimited(Delimited::new(Form::Gemma, start)));
    }
    match opener::markup_begins(rest, sight.ended()) {
        _ if may_grow(rest, sight) => Step::Wait,
        Begins::Yes => Step::Markup(start),
        Begins::Perhaps => Step::Wait,
        Begins::No => Step::Text,
    }
}

/// Whether the text is a part of a name on offer.
fn may_grow(text: &str, sight: &Sight<'_>) -> bool {
    !sight.complete() && sight.tools.may_offer(text)
}

/// Whether a name on offer stands here without what should stand before it.
fn begins_bare(text: &str, sight: &Sight<'_>) -> bool {
    let length = text.find(|sign| !is_name_character(sign)).unwrap_or(text.len());
    sight.tools.offer(text.get(..length).unwrap_or_default())
        && text.get(length..).is_some_and(|rest| rest.starts_with('{'))
}

/// Reads `call:name{…}`.
pub(super) fn read(payload: &str) -> Option<TextCall> {
    let payload = payload.trim_ascii();
    let call = payload.strip_prefix(PREFIX).unwrap_or(payload);
    let name = call.get(..call.find('{').unwrap_or(call.len()))?;
    let arguments = to_json(call.get(name.len()..)?);
    let name = bare_name(name);
    is_name(name).then(|| TextCall { name: name.to_owned(), arguments })
}

/// Makes JSON strings of the text between quote tokens, and of bare keys.
fn to_json(text: &str) -> String {
    let (mut json, mut rest) = (String::new(), text);
    let quote = QUOTES.into_iter().find(|quote| text.contains(quote)).unwrap_or_default();
    while let Some((before, inside)) = rest.split_once(quote).filter(|_| !quote.is_empty()) {
        push_quoting_keys(before, &mut json);
        let (string, after) = inside.split_once(quote).unwrap_or((inside, ""));
        json.push_str(&serde_json::Value::from(string).to_string());
        rest = after;
    }
    push_quoting_keys(rest, &mut json);
    json
}

/// A key is the word between a brace or comma and a colon.
fn push_quoting_keys(text: &str, json: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['{', ',']) {
        let (before, after) = rest.split_at(at + 1);
        json.push_str(before);
        let inside = after.trim_ascii_start();
        let key = inside.get(..inside.find(|sign: char| !is_key_character(sign)).unwrap_or(inside.len()));
        let key = key.filter(|key| !key.is_empty());
        rest = match key.and_then(|key| Some((key, inside.strip_prefix(key)?))) {
            Some((key, behind)) if behind.trim_ascii_start().starts_with(':') => {
                json.push_str(&serde_json::Value::from(key).to_string());
                behind
            }
            _ => after,
        };
    }
    json.push_str(rest);
}

fn is_key_character(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.' | '$')
}
