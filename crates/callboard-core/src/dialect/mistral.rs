//! Mistral: `[TOOL_CALLS][{…}, {…}]`, and since its eleventh tokenizer `[TOOL_CALLS]name[ARGS]{…}`.

use super::capture::Capture;
use super::hermes;
use super::objects::JsonArguments;
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, skip_whitespace};
use super::tool_names::{bare_name, is_name_character};

const MARK: &str = "[TOOL_CALLS]";
const ARGUMENTS: &str = "[ARGS]";
const CALL_ID: &str = "[CALL_ID]";
const LONGEST_NAME: usize = 128;

pub(super) fn next(sight: &Sight<'_>) -> Step {
    let inside = skip_whitespace(sight.body, MARK.len());
    match sight.from(inside).chars().next() {
        None => sight.wait_or(Step::Markup(inside)),
        Some('{' | '[' | '`' | '<') => hermes::next(MARK, sight),
        Some(_) if sight.ended() => unfinished(sight, inside),
        Some(_) => named(sight, inside, Step::Text),
    }
}

/// What is undecided at the end of the text is a name, with or without a part of the next mark.
fn unfinished(sight: &Sight<'_>, start: usize) -> Step {
    let name = sight.from(start).trim();
    if sight.complete() && sight.tools.offer(name) {
        return Step::call(sight.body.len(), TextCall { name: name.to_owned(), arguments: "{}".to_owned() });
    }
    if sight.complete() && name.chars().all(is_name_character) { Step::Text } else { Step::Wait }
}

/// Behind a call the next one may follow without a mark.
pub(super) fn next_in_chain(sight: &Sight<'_>) -> Step {
    let start = skip_whitespace(sight.body, 0);
    if start == sight.body.len() {
        return sight.wait_or(Step::Markup(start));
    }
    named(sight, start, Step::Markup(0))
}

/// Reads `name[ARGS]{`, or `name{`; anything else is answered with `otherwise`.
fn named(sight: &Sight<'_>, start: usize, otherwise: Step) -> Step {
    let length = name_length(sight.from(start));
    let name = bare_name(sight.body.get(start..start + length).unwrap_or_default()).to_owned();
    if name.is_empty() || length > LONGEST_NAME {
        return otherwise;
    }
    let mut at = skip_whitespace(sight.body, start + length);
    if at == sight.body.len() {
        return sight.wait_or(otherwise);
    }
    match sight.begins(at, CALL_ID) {
        Begins::Yes => at += CALL_ID.len() + name_length(sight.from(at + CALL_ID.len())),
        Begins::Perhaps => return Step::Wait,
        Begins::No => {}
    }
    match sight.begins(at, ARGUMENTS) {
        Begins::Yes => at = skip_whitespace(sight.body, at + ARGUMENTS.len()),
        Begins::Perhaps => return Step::Wait,
        Begins::No => {}
    }
    match sight.from(at).chars().next() {
        None => sight.wait_or(Step::Markup(at)),
        Some('{') => Step::Become(Capture::JsonArguments(JsonArguments::new(name, at, Some(|| Capture::MistralChain)))),
        Some(_) => otherwise,
    }
}

fn name_length(text: &str) -> usize {
    text.find(|character| !is_name_character(character)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use crate::dialect::check::{complete, cut, unchanged};

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
