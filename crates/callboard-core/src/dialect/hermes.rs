//! Hermes and Qwen: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.
//!
//! The same opening mark precedes the forms of Qwen3-Coder, GLM and others, and remains alone where a
//! model server removed the call but not its mark. What follows the mark decides.

use super::active_reader::MarkupReader;
use super::glm::{self, GLM};
use super::input::{Decision, Incomplete, Input, ReadResult, skip_whitespace};
use super::invoke_tags::INVOKE;
use super::marked_json::{JsonCalls, skip_fence_head};
use super::opening_marks;
use super::qwen_coder::QWEN_CODER;
use super::tagged::Tagged;
use super::unlisted_form::UnlistedForm;

/// Reads the text after `mark`; if no family can, it may be a call in another form.
pub(super) fn open(mark: &str, input: &Input<'_>) -> ReadResult {
    match next(mark, input)? {
        Decision::Text if may_be_other_form(mark, input) => {
            Ok(Decision::Become(MarkupReader::Unlisted(UnlistedForm::default())))
        }
        decision => Ok(decision),
    }
}

/// Whether a call may begin after `mark`, and not a sentence about it.
fn may_be_other_form(mark: &str, input: &Input<'_>) -> bool {
    let line = input.from(mark.len()).trim_start_matches([' ', '\t']);
    let sentence = line.len() < input.from(mark.len()).len() && !line.starts_with(['\n', '\r']);
    input.context.line_start && !sentence && mark == "<tool_call>"
}

/// Reads the text after `mark`, an opening mark for calls in JSON or tags.
pub(super) fn next(mark: &str, input: &Input<'_>) -> ReadResult {
    let inside = skip_whitespace(input.body, mark.len());
    match input.body.as_bytes().get(inside) {
        None => Err(Incomplete),
        Some(b'<') => next_tag(input, inside),
        Some(b'`') => next_fence(input, inside),
        Some(b'{' | b'[') => next_object(input, inside, JsonCalls::new(inside)),
        Some(_) => glm::next(mark, input),
    }
}

fn next_tag(input: &Input<'_>, inside: usize) -> ReadResult {
    for spelling in [&QWEN_CODER, &INVOKE, &GLM] {
        if input.begins(inside, spelling.function)? && spelling.function != GLM.function {
            return Ok(Decision::Become(MarkupReader::Tagged(Tagged::new(spelling, inside))));
        }
        // The name is missing: the model is asked for it.
        if input.begins(inside, spelling.parameter)? {
            return Ok(Decision::Become(MarkupReader::Tagged(Tagged::named(spelling, "", inside))));
        }
    }
    let is_markup = input.ended() || opening_marks::markup_begins(input.from(inside), false)?;
    Ok(if is_markup { Decision::Markup(inside) } else { Decision::Text })
}

fn next_fence(input: &Input<'_>, inside: usize) -> ReadResult {
    let object = skip_fence_head(input.body, inside);
    match input.body.as_bytes().get(object) {
        None => Err(Incomplete),
        Some(b'`') if object == inside && input.body.len() < inside + 3 => input.wait_or(Decision::Text),
        Some(b'{' | b'[') => next_object(input, object, JsonCalls::in_fence(object)),
        Some(_) => Ok(Decision::Text),
    }
}

/// Prose says `{...}` where a call has a key.
fn next_object(input: &Input<'_>, at: usize, calls: JsonCalls) -> ReadResult {
    let opens = |character: char| character.is_ascii_whitespace() || matches!(character, '[' | '{');
    match input.from(at).trim_start_matches(opens).chars().next() {
        None => Err(Incomplete),
        Some(character) if character.is_alphabetic() || matches!(character, '"' | '\'' | '}' | ']' | '_') => {
            Ok(Decision::Become(MarkupReader::JsonCalls(calls)))
        }
        Some(_) => Ok(Decision::Text),
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::piece::TextEnd;
    use crate::dialect::table_runner::{TOOLS, check, complete, cut, read, unchanged};

    const PARIS: &str = r#"call get_weather {"city": "Paris"}"#;
    const ROME: &str = r#"call get_weather {"city": "Rome"}"#;

    #[test]
    fn clean() {
        complete(&[
            ("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>", &[PARIS]),
            (r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>"#, &[PARIS]),
            (r#"<tool_call>{"name": "get_weather", "parameters": {"city": "Paris"}}</tool_call>"#, &[PARIS]),
            (r#"<tool_call>{"arguments": {"city": "Paris"}, "name": "get_weather"}</tool_call>"#, &[PARIS]),
            (r#"<tool_call>{"name": "list_files"}</tool_call>"#, &["call list_files {}"]),
            (r#"<tool_call>{"name": "unknown", "arguments": {"é": "ü"}}</tool_call>"#, &[r#"call unknown {"é": "ü"}"#]),
        ]);
    }

    #[test]
    fn several_calls_and_text_around_them() {
        let paris = r#"{"name": "get_weather", "arguments": {"city": "Paris"}}"#;
        let rome = r#"{"name": "get_weather", "arguments": {"city": "Rome"}}"#;
        complete(&[
            (
                &format!("I will check both.\n<tool_call>{paris}</tool_call>\n<tool_call>{rome}</tool_call>"),
                &["text I will check both.", PARIS, ROME],
            ),
            (&format!("<tool_call>\n{paris}\n{rome}\n</tool_call>"), &[PARIS, ROME]),
            (&format!("<tool_call>[{paris}, {rome}]</tool_call>"), &[PARIS, ROME]),
            (
                &format!("Before.\n\n<tool_call>{paris}</tool_call>\nAfter.\n"),
                &["text Before.", PARIS, "text \n\nAfter.\n"],
            ),
            (&format!("<tool_call>{paris}</tool_call>\n\nAfter."), &[PARIS, "text After."]),
            (
                &format!("A<tool_call>{paris}</tool_call>B<tool_call>{rome}</tool_call>C"),
                &["text A", PARIS, "text B", ROME, "text C"],
            ),
            (
                &format!("<think>Hm.\n<tool_call>{paris}</tool_call>\n</think>\nDone."),
                &["reasoning Hm.", PARIS, "text Done."],
            ),
        ]);
    }

    #[test]
    fn strings_do_not_end_a_call() {
        complete(&[
            (
                r#"<tool_call>{"name": "write_file", "arguments": {"content": "fn f() { } // }} </tool"}}</tool_call>"#,
                &[r#"call write_file {"content": "fn f() { } // }} </tool"}"#],
            ),
            (
                r#"<tool_call>{"name": "write_file", "arguments": {"content": "a </tool_call> b"}}</tool_call>"#,
                &[r#"call write_file {"content": "a </tool_call> b"}"#],
            ),
            (
                r#"<tool_call>{"name": "write_file", "arguments": {"content": "```\n<think>\\"}}</tool_call>"#,
                &[r#"call write_file {"content": "```\n<think>\\"}"#],
            ),
        ]);
    }

    #[test]
    fn damage() {
        let open = r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}"#;
        complete(&[
            (&format!("{open}}}"), &[PARIS]),
            (open, &[PARIS]),
            (&format!("{open}\n</tool_call>"), &[PARIS]),
            (&format!("{open}}}}}\n</tool_call>"), &[PARIS]),
            (&format!("{open}}}\n\nSo be it."), &[PARIS, "text So be it."]),
            (&format!("{open}\n<tool_call>{{\"name\": \"list_files\"}}"), &[PARIS, "call list_files {}"]),
            (&format!("Ok. <tool_call> {open}}}</tool_call>"), &["text Ok.", PARIS]),
            (
                "<tool_call>```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n```</tool_call>",
                &[PARIS],
            ),
            (r#"<tool_call>{"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"}</tool_call>"#, &[PARIS]),
            (
                r#"<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris'}}</tool_call>"#,
                &["call get_weather {'city': 'Paris'}"],
            ),
            (
                r#"<tool_call>{name: "get_weather", arguments: {city: "Paris",},}</tool_call>"#,
                &[r#"call get_weather {city: "Paris",}"#],
            ),
            (
                "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": Paris\"}}</tool_call>\n<tool_call>{\"name\": \"list_files\"}</tool_call>",
                &[r#"call get_weather {"city": Paris"}}"#, "call list_files {}"],
            ),
            (
                r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Par"#,
                &[r#"call get_weather {"city": "Par"#],
            ),
            (r#"<tool_call>{"get_weather": {"city": "Paris"}}</tool_call>"#, &[PARIS]),
            (r#"<tool_call>{"city": "Paris"}</tool_call>"#, &[r#"call  {"city": "Paris"}"#]),
            (r#"<tool_call>{"get_weather", "arguments": {"city": "Paris"}}</tool_call>"#, &[PARIS]),
            ("<tool_call>\nfunction=get_weather>x\n</tool_call>", &["call get_weather function=get_weather>x"]),
            ("<tool_call>{get_weather, (city: Paris)}</tool_call>", &["call  {get_weather, (city: Paris)}"]),
        ]);
    }

    #[test]
    fn what_the_limit_cut_is_not_delivered() {
        let call = r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>"#;
        let before = "Here it comes.\n";
        let cut_before = "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}".len();
        for at in 4..=cut_before {
            cut(&[(&format!("{before}{}", &call[..at]), &["text Here it comes."])]);
            let beside = read(&TOOLS, [&format!("{before}{}", &call[..at])[..]], TextEnd::CallsBeside);
            assert_eq!(beside.len(), 1, "{}", &call[..at]);
        }
        for at in cut_before + 1..call.len() {
            cut(&[(&format!("{before}{}", &call[..at]), &["text Here it comes.", PARIS])]);
        }
    }

    #[test]
    fn a_mark_with_nothing_behind_it_is_dropped() {
        for end in [TextEnd::Complete, TextEnd::CallsBeside, TextEnd::CutByLimit] {
            check(
                end,
                &[
                    ("Checking.\n<tool_call>\n", &["text Checking."]),
                    ("Checking.</tool_call>", &["text Checking."]),
                    ("<tool_call>\n</tool_call>", &[]),
                    ("<tool_call><tool_call>", &[]),
                ],
            );
        }
    }

    #[test]
    fn prose_about_the_mark_is_text() {
        unchanged(&[
            "Write `<tool_call>` first, then `</tool_call>`.",
            "Write `<tool_call>{\"name\": \"get_weather\", \"arguments\": {}}</tool_call>` to call.",
            "The <tool_call> tag opens a call, the </tool_call> tag ends it.",
            "Put it between <tool_call> and </tool_call>.",
            "Use <tool_call>{...}",
            "<tool_call>any text</tool_call> is how, or\n<tool_call> get_weather opens it</tool_call>",
            "<tool_calling> is no mark, nor is <tool>.",
            "```xml\n<tool_call>\n{\"name\": \"example\", \"arguments\": {}}\n</tool_call>\n```\nThat is all.",
        ]);
    }
}
