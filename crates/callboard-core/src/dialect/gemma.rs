//! Gemma: `<start_function_call>call:name{key:<escape>value<escape>}<end_function_call>`, and Gemma 4's
//! `<|tool_call>call:name{key:<|"|>value<|"|>}<tool_call|>`.
//!
//! Strings stand between two quote tokens, so nothing in them needs escaping; keys are bare.

use super::capture::Capture;
use super::delimited::{Delimited, Form};
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, skip_whitespace};
use super::tool_names::{bare_name, is_name};

const PREFIX: &str = "call:";
const QUOTES: [&str; 2] = ["<|\"|>", "<escape>"];

/// Marks that end a call.
pub(super) const ENDS: [&str; 4] = ["<tool_call|>", "<end_function_call>", "<|tool_call>", "<start_function_call>"];

/// Reads what stands behind `mark`.
pub(super) fn next(mark: &str, sight: &Sight<'_>) -> Step {
    let start = skip_whitespace(sight.body, mark.len());
    match sight.begins(start, PREFIX) {
        Begins::Yes => Step::Become(Capture::Delimited(Delimited::new(Form::Gemma, start))),
        Begins::Perhaps => Step::Wait,
        Begins::No if start == sight.body.len() => Step::Wait,
        Begins::No => Step::Text,
    }
}

/// Reads `call:name{…}`.
pub(super) fn read(payload: &str) -> Option<TextCall> {
    let call = payload.trim_ascii().strip_prefix(PREFIX)?;
    let (name, _) = call.split_once('{')?;
    let name = name.trim();
    let arguments = to_json(call.get(call.find('{')?..)?);
    is_name(name).then(|| TextCall { name: bare_name(name).to_owned(), arguments })
}

/// Makes the text between quote tokens into JSON strings.
fn to_json(text: &str) -> String {
    let (mut json, mut rest) = (String::new(), text);
    while let Some((before, quote)) = first_quote(rest) {
        json.push_str(before);
        let inside = rest.get(before.len() + quote.len()..).unwrap_or_default();
        let (string, after) = inside.split_once(quote).unwrap_or((inside, ""));
        json.push_str(&serde_json::Value::from(string).to_string());
        rest = after;
    }
    json + rest
}

fn first_quote(text: &str) -> Option<(&str, &'static str)> {
    QUOTES
        .into_iter()
        .filter_map(|quote| Some((text.split_once(quote)?.0, quote)))
        .min_by_key(|(before, _)| before.len())
}
