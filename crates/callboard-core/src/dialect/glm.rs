//! GLM-4.5 to 4.7: `<tool_call>name` and pairs of `<arg_key>…</arg_key>`, `<arg_value>…</arg_value>`.
//!
//! The name is bare after the mark, so prose about the mark looks alike at first: a name is a
//! call's only with a pair after it, or when it is on offer and the mark is closed.

use super::active_reader::MarkupReader;
use super::input::{Decision, Incomplete, Input, ReadResult, skip_whitespace};
use super::marked_json::JsonArguments;
use super::piece::TextCall;
use super::tagged::{Spelling, Tagged};
use super::tool_names::leading_name;

/// The name is bare before the first key.
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

const LONGEST_NAME: usize = 128;

/// Reads a bare name after `mark`.
pub(super) fn next(mark: &str, input: &Input<'_>) -> ReadResult {
    let start = skip_whitespace(input.body, mark.len());
    let name = leading_name(input.from(start));
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Ok(Decision::Text);
    }
    let end = start + name.len();
    let after = skip_whitespace(input.body, end);
    if after == input.body.len() || input.ended() {
        return if input.ended() { unclosed(name, input) } else { Err(Incomplete) };
    }
    let tagged = || Decision::Become(MarkupReader::Tagged(Tagged::named(&GLM, name, end)));
    let offered = input.tools.offer(name);
    let gap = input.between(end, after);
    if input.begins(after, GLM.parameter)? {
        return Ok(tagged());
    }
    if input.from(after).starts_with(['(', ':']) {
        return Ok(Decision::Text);
    }
    Ok(if input.begins(after, GLM.function_end)? && offered {
        Decision::call(after + GLM.function_end.len(), TextCall::without_arguments(name))
    } else if offered && input.from(after).starts_with('{') {
        Decision::Become(MarkupReader::JsonArguments(JsonArguments::new(name, after, None)))
    } else if offered && (gap.is_empty() || gap.contains('\n')) {
        // A tag is missing, unless a sentence continues.
        tagged()
    } else {
        Decision::Text
    })
}

/// A name with nothing, or the beginning of a mark, after it at the end of the text.
fn unclosed(name: &str, input: &Input<'_>) -> ReadResult {
    if input.complete() && input.tools.offer(name) {
        Ok(Decision::call(input.body.len(), TextCall::without_arguments(name)))
    } else if !input.complete() && input.tools.may_offer(name) {
        Err(Incomplete)
    } else {
        Ok(Decision::Text)
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::table_runner::{complete, cut, unchanged};

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
