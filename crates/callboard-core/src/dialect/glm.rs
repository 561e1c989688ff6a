//! GLM-4.5 to 4.7: `<tool_call>name` and pairs of `<arg_key>…</arg_key>`, `<arg_value>…</arg_value>`.
//!
//! The name stands bare behind the mark, so prose about the mark looks alike at first: a name is a
//! call's only with a pair behind it, or when it is on offer and the mark is closed.

use super::capture::Capture;
use super::objects::JsonArguments;
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, skip_whitespace};
use super::tagged::{Spelling, Tagged};
use super::tool_names::is_name_character;

/// The name stands bare before the first key.
pub(super) const GLM: Spelling = Spelling {
    function: "<tool_call>",
    function_end: "</tool_call>",
    parameter: "<arg_key>",
    key_end: "</arg_key>",
    value: "<arg_value>",
    parameter_end: "</arg_value>",
    outer_end: "</tool_call>",
    outside: &["<tool_call>"],
};

const CLOSING: &str = "</tool_call>";
pub(super) const KEY: &str = "<arg_key>";
const LONGEST_NAME: usize = 128;

/// Reads a bare name behind `mark`.
pub(super) fn next(mark: &str, sight: &Sight<'_>) -> Step {
    let start = skip_whitespace(sight.body, mark.len());
    let rest = sight.from(start);
    let length = rest.find(|character| !is_name_character(character)).unwrap_or(rest.len());
    let name = rest.get(..length).unwrap_or_default();
    if name.is_empty() || length > LONGEST_NAME {
        return Step::Text;
    }
    let offered = sight.tools.offer(name);
    let after = skip_whitespace(sight.body, start + length);
    let gap = sight.body.get(start + length..after).unwrap_or_default();
    if after == sight.body.len() || sight.ended() {
        return sight.wait_or(unclosed(name, sight));
    }
    match (sight.begins(after, KEY), sight.begins(after, CLOSING)) {
        (Begins::Yes, _) => Step::Become(Capture::Tagged(Tagged::named(&GLM, name.to_owned(), start + length))),
        (_, Begins::Yes) if offered => Step::call(after + CLOSING.len(), without_arguments(name)),
        (Begins::Perhaps, _) | (_, Begins::Perhaps) => Step::Wait,
        _ if offered && sight.from(after).starts_with('{') => {
            Step::Become(Capture::JsonArguments(JsonArguments::new(name.to_owned(), after, None)))
        }
        // A tag is missing, unless a sentence goes on.
        _ if offered && (gap.is_empty() || gap.contains('\n')) => {
            Step::Become(Capture::Tagged(Tagged::named(&GLM, name.to_owned(), start + length)))
        }
        _ => Step::Text,
    }
}

/// A name with nothing, or the beginning of a mark, behind it at the end of the text.
fn unclosed(name: &str, sight: &Sight<'_>) -> Step {
    if sight.complete() && sight.tools.offer(name) {
        Step::call(sight.body.len(), without_arguments(name))
    } else if !sight.complete() && sight.tools.may_offer(name) {
        Step::Wait
    } else {
        Step::Text
    }
}

fn without_arguments(name: &str) -> TextCall {
    TextCall { name: name.to_owned(), arguments: "{}".to_owned() }
}

#[cfg(test)]
mod tests {
    use crate::dialect::check::{complete, cut, unchanged};

    #[test]
    fn glm() {
        let paris = r#"call get_weather {"city":"Paris"}"#;
        complete(&[
            (
                "Ok.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
                &["text Ok.", r#"call get_weather {"city":"Paris","days":"3"}"#],
            ),
            (
                "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>\n<tool_call>list_files</tool_call>\nDone.",
                &[paris, "call list_files {}", "text Done."],
            ),
            ("<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>", &[paris]),
            ("<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris", &[paris]),
            ("<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</tool_call>", &[paris]),
            ("<tool_call>get_weather\n{\"city\":\"Paris\"}</tool_call>", &[paris]),
            ("<tool_call>list_files", &["call list_files {}"]),
            (
                "<tool_call>unknown\n<arg_key>a</arg_key>\n<arg_value>b</arg_value></tool_call>",
                &[r#"call unknown {"a":"b"}"#],
            ),
        ]);
        let call = "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>";
        for at in 4..call.len() {
            cut(&[(&call[..at], &[])]);
        }
        unchanged(&["<tool_call>unheard of", "See <tool_call>s and more."]);
    }
}
