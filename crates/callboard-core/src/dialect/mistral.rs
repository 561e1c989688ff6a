//! Mistral: `[TOOL_CALLS][{…}, {…}]`, and since its eleventh tokenizer `[TOOL_CALLS]name[ARGS]{…}`.

use super::active_reader::MarkupReader;
use super::hermes;
use super::input::{Decision, Incomplete, Input, ReadResult, begins_any, skip, skip_whitespace};
use super::marked_json::JsonArguments;
use super::piece::TextCall;
use super::tool_names::{bare_name, leading_name};
use super::unknown_form::{CallEnd, Unreadable};

const ARGUMENTS: &str = "[ARGS]";
const CALL_ID: &str = "[CALL_ID]";
/// Marks that can follow a name.
pub(super) const MARKS: [&str; 2] = [ARGUMENTS, CALL_ID];
const LONGEST_NAME: usize = 128;

pub(super) fn next(mark: &str, input: &Input<'_>) -> ReadResult {
    let inside = skip_whitespace(input.body, mark.len());
    let rest = input.from(inside);
    if rest.starts_with(mark) {
        return Ok(Decision::Markup(inside));
    }
    if mark.starts_with(rest) {
        return Err(Incomplete);
    }
    if continues(rest, input.ended())? {
        return named(input, inside, Decision::Text);
    }
    // A brace is missing before the first key.
    if rest.trim_start_matches(['[', ' ', '\n']).starts_with(['"', '\'']) {
        return Ok(Decision::Become(MarkupReader::Unreadable(Unreadable::new(CallEnd::Bracket, mark.len()))));
    }
    match rest.chars().next() {
        Some('{' | '[' | '`' | '<') => hermes::next(mark, input),
        _ if input.ended() => unfinished(input, rest.trim()),
        _ => named(input, inside, Decision::Text),
    }
}

/// `rest`, undecided at the end of the text, is a name, with or without a part of the next mark.
fn unfinished(input: &Input<'_>, rest: &str) -> ReadResult {
    let name = bare_name(leading_name(rest));
    if !input.complete() {
        return Err(Incomplete);
    }
    let is_call = input.tools.offer(name) || rest.contains('[') && !name.is_empty();
    let call = Decision::call(input.body.len(), TextCall::without_arguments(name));
    Ok(if is_call { call } else { Decision::Text })
}

/// After a call the next one may follow without a mark, and brackets that close nothing.
pub(super) fn next_in_chain(input: &Input<'_>) -> ReadResult {
    let closers = skip(input.body, 0, |character| matches!(character, '}' | ']'));
    let start = skip_whitespace(input.body, closers);
    if start == input.body.len() {
        return input.wait_or(Decision::Markup(start));
    }
    named(input, start, Decision::Markup(closers))
}

/// Whether `rest`, right after a name, continues like a call.
pub(super) fn continues(rest: &str, ended: bool) -> ReadResult<bool> {
    begins_any(rest, &MARKS, ended)
}

/// Reads `name[ARGS]{` at `start`, or `name{`; decides `otherwise` for anything else.
pub(super) fn named(input: &Input<'_>, start: usize, otherwise: Decision) -> ReadResult {
    let written = leading_name(input.from(start));
    let name = bare_name(written);
    let nameless = written.is_empty() && continues(input.from(start), input.ended()) == Ok(false);
    if nameless || written.len() > LONGEST_NAME {
        return Ok(otherwise);
    }
    let mut at = skip_whitespace(input.body, start + written.len());
    if at == input.body.len() {
        return input.wait_or(otherwise);
    }
    if input.begins(at, CALL_ID)? {
        at += CALL_ID.len() + leading_name(input.from(at + CALL_ID.len())).len();
    }
    let separated = input.from(at).starts_with(ARGUMENTS);
    while input.from(at).starts_with(ARGUMENTS) {
        at = skip_whitespace(input.body, at + ARGUMENTS.len());
    }
    if at < input.body.len() {
        input.begins(at, ARGUMENTS)?;
    }
    let offered = input.tools.offer(name);
    match input.from(at).chars().next() {
        None if input.complete() && offered => Ok(Decision::call(at, TextCall::without_arguments(name))),
        None => Err(Incomplete),
        Some('{') if separated || !name.is_empty() => {
            let arguments = JsonArguments::new(name, at, Some(|| MarkupReader::MistralChain));
            Ok(Decision::Become(MarkupReader::JsonArguments(arguments)))
        }
        Some(_) if separated && offered => {
            Ok(Decision::Become(MarkupReader::Unreadable(Unreadable::named(name, CallEnd::Bracket, at))))
        }
        Some(_) => Ok(otherwise),
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::table_runner::{complete, cut, unchanged};

    const PARIS: &str = r#"call get_weather {"city": "Paris"}"#;
    const ROME: &str = r#"call get_weather {"city": "Rome"}"#;

    #[test]
    fn lists() {
        complete(&[
            (
                r#"[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "get_weather", "arguments": {"city": "Rome"}}]"#,
                &[PARIS, ROME],
            ),
            (
                r#"Ok. [TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}}] Fine."#,
                &["text Ok.", PARIS, "text  Fine."],
            ),
            (r#"[TOOL_CALLS] {"name": "get_weather", "arguments": {"city": "Paris"}}[/TOOL_CALLS]"#, &[PARIS]),
            (r#"[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}}"#, &[PARIS]),
        ]);
    }

    #[test]
    fn names_and_arguments() {
        complete(&[
            (r#"[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}"#, &[PARIS]),
            (r#"[TOOL_CALLS]get_weather{"city": "Paris"}"#, &[PARIS]),
            (r#"[TOOL_CALLS]get_weather[CALL_ID]a1B2c3D4e[ARGS]{"city": "Paris"}"#, &[PARIS]),
            (
                r#"Ok.[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}"#,
                &["text Ok.", PARIS, ROME],
            ),
            (r#"[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}get_weather[ARGS]{"city": "Rome"}"#, &[PARIS, ROME]),
            ("[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Paris\"}\nWe shall see.", &[PARIS, "text We shall see."]),
            (r#"[TOOL_CALLS]get_weather[ARGS]{"city": "Par"#, &[r#"call get_weather {"city": "Par"#]),
            ("[TOOL_CALLS]list_files", &["call list_files {}"]),
        ]);
        let call = r#"[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}"#;
        for at in 4..call.len() {
            cut(&[(&call[..at], &[])]);
        }
    }

    #[test]
    fn prose_is_text() {
        unchanged(&[
            "The token [TOOL_CALLS] opens calls.",
            "[TOOLS] and [1, 2]",
            "`[TOOL_CALLS][{}]`",
            "[T",
            "a [TO b",
        ]);
    }
}
