//! Mistral: `[TOOL_CALLS][{…}, {…}]`, and since its eleventh tokenizer `[TOOL_CALLS]name[ARGS]{…}`.

use super::capture::Capture;
use super::hermes;
use super::objects::JsonArguments;
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, begins_any, skip_whitespace};
use super::tool_names::{bare_name, is_name_character};
use super::unreadable::{Frame, Unreadable};

const MARK: &str = "[TOOL_CALLS]";
const ARGUMENTS: &str = "[ARGS]";
const CALL_ID: &str = "[CALL_ID]";
const LONGEST_NAME: usize = 128;

pub(super) fn next(sight: &Sight<'_>) -> Step {
    let inside = skip_whitespace(sight.body, MARK.len());
    match sight.begins(inside, MARK) {
        Begins::Yes => return Step::Markup(inside),
        Begins::Perhaps => return Step::Wait,
        Begins::No if MARK.starts_with(sight.from(inside)) => return Step::Wait,
        Begins::No => {}
    }
    match goes_on(sight.from(inside), sight.ended()) {
        Begins::Yes => return named(sight, inside, Step::Text),
        Begins::Perhaps => return Step::Wait,
        Begins::No => {}
    }
    // A brace is missing before the first key.
    if sight.from(inside).trim_start_matches(['[', ' ', '\n']).starts_with(['"', '\'']) {
        return Step::Become(Capture::Unreadable(Unreadable::new(Frame::Brackets, MARK.len())));
    }
    match sight.from(inside).chars().next() {
        Some('{' | '[' | '`' | '<') => hermes::next(MARK, sight),
        _ if sight.ended() => unfinished(sight, inside),
        _ => named(sight, inside, Step::Text),
    }
}

/// What is undecided at the end of the text is a name, with or without a part of the next mark.
fn unfinished(sight: &Sight<'_>, start: usize) -> Step {
    let rest = sight.from(start).trim();
    let name = bare_name(rest.get(..name_length(rest)).unwrap_or_default());
    if !sight.complete() {
        Step::Wait
    } else if sight.tools.offer(name) || rest.contains('[') && !name.is_empty() {
        Step::call(sight.body.len(), without_arguments(name.to_owned()))
    } else {
        Step::Text
    }
}

/// Behind a call the next one may follow without a mark, and brackets that close nothing.
pub(super) fn next_in_chain(sight: &Sight<'_>) -> Step {
    let closers = sight.body.len() - sight.body.trim_start_matches(['}', ']']).len();
    let start = skip_whitespace(sight.body, closers);
    if start == sight.body.len() {
        return sight.wait_or(Step::Markup(start));
    }
    named(sight, start, Step::Markup(closers))
}

/// Whether `rest`, right behind a name, goes on like a call.
pub(super) fn goes_on(rest: &str, ended: bool) -> Begins {
    begins_any(rest, &[ARGUMENTS, CALL_ID], ended)
}

/// Whether `text` is the beginning of what stands behind a name.
pub(super) fn breaks_off_in_mark(text: &str) -> bool {
    [ARGUMENTS, CALL_ID].iter().any(|mark| mark.starts_with(text))
}

/// Reads `name[ARGS]{` at `start`, or `name{`; anything else is answered with `otherwise`.
pub(super) fn named(sight: &Sight<'_>, start: usize, otherwise: Step) -> Step {
    let length = name_length(sight.from(start));
    let name = bare_name(sight.body.get(start..start + length).unwrap_or_default()).to_owned();
    if length == 0 && goes_on(sight.from(start), sight.ended()) == Begins::No || length > LONGEST_NAME {
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
    let separated = sight.from(at).starts_with(ARGUMENTS);
    while sight.from(at).starts_with(ARGUMENTS) {
        at = skip_whitespace(sight.body, at + ARGUMENTS.len());
    }
    if at < sight.body.len() && sight.begins(at, ARGUMENTS) == Begins::Perhaps {
        return Step::Wait;
    }
    match sight.from(at).chars().next() {
        None if sight.complete() && sight.tools.offer(&name) => Step::call(at, without_arguments(name)),
        None => Step::Wait,
        Some('{') if separated || !name.is_empty() => {
            Step::Become(Capture::JsonArguments(JsonArguments::new(name, at, Some(|| Capture::MistralChain))))
        }
        Some(_) if separated && sight.tools.offer(&name) => {
            Step::Become(Capture::Unreadable(Unreadable::named(name, Frame::Brackets, at)))
        }
        Some(_) => otherwise,
    }
}

fn without_arguments(name: String) -> TextCall {
    TextCall { name, arguments: "{}".to_owned() }
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
