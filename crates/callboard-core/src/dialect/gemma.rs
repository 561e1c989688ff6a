//! Gemma: `<start_function_call>call:name{key:<escape>value<escape>}<end_function_call>`, and Gemma 4's
//! `<|tool_call>call:name{key:<|"|>value<|"|>}<tool_call|>`.
//!
//! Strings are enclosed in quote tokens, so nothing in them needs escaping; keys are bare.

use super::active_reader::MarkupReader;
use super::delimited::{Delimited, DelimitedForm, Payload};
use super::input::{Decision, Incomplete, Input, ReadResult, leading, skip_whitespace};
use super::opening_marks;
use super::piece::TextCall;
use super::tool_names::{bare_name, is_name, leading_name};

pub(super) const PREFIX: &str = "call:";
const QUOTES: [&str; 2] = ["<|\"|>", "<escape>"];

pub(super) static GEMMA: DelimitedForm = DelimitedForm {
    ends: &["<tool_call|>", "<end_function_call>", "<|tool_call>", "<start_function_call>"],
    separators: &QUOTES,
    read,
};

/// Reads the text after `mark`.
pub(super) fn next(mark: &str, input: &Input<'_>) -> ReadResult {
    let start = skip_whitespace(input.body, mark.len());
    let rest = input.from(start);
    if PREFIX.starts_with(rest) {
        return Err(Incomplete);
    }
    if rest.starts_with(PREFIX) || begins_bare(rest, input) {
        return Ok(Decision::Become(MarkupReader::Delimited(Delimited::new(&GEMMA, start))));
    }
    if !input.complete() && input.tools.may_offer(rest) {
        return Err(Incomplete);
    }
    let is_markup = opening_marks::markup_begins(rest, input.ended())?;
    Ok(if is_markup { Decision::Markup(start) } else { Decision::Text })
}

/// Whether `text` begins with a name on offer without its prefix.
fn begins_bare(text: &str, input: &Input<'_>) -> bool {
    let name = leading_name(text);
    input.tools.offer(name) && text.get(name.len()..).is_some_and(|rest| rest.starts_with('{'))
}

/// Reads `call:name{…}`.
fn read(payload: Payload<'_>) -> Option<TextCall> {
    let payload = payload.text.trim_ascii();
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
        let key = leading(inside, is_key_character);
        let behind = inside.get(key.len()..).unwrap_or_default();
        rest = if !key.is_empty() && behind.trim_ascii_start().starts_with(':') {
            json.push_str(&serde_json::Value::from(key).to_string());
            behind
        } else {
            after
        };
    }
    json.push_str(rest);
}

fn is_key_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '$')
}
