//! Calls whose opening mark is missing: the name of a tool on offer at the beginning of a line, followed by what can only
//! occur in a call of one family.
//!
//! GLM: `name` and `<arg_key>`; Mistral: `name[ARGS]`; Gemma: `call:name{`; Kimi and DeepSeek: the name and the token before
//! arguments. `bare_json` and `pythonic` read their own calls without a mark.

use super::active_reader::MarkupReader;
use super::deepseek::{self, DEEPSEEK};
use super::delimited::{Delimited, DelimitedForm};
use super::gemma::{GEMMA, PREFIX};
use super::glm::GLM;
use super::input::{Decision, Incomplete, Input, ReadResult, begins_any};
use super::kimi::{self, KIMI};
use super::mistral;
use super::piece::TextEnd;
use super::tagged::Tagged;
use super::tool_names::{ToolNames, bare_name, leading_name};

/// The family whose call begins a text.
#[derive(Clone, Copy)]
enum UnmarkedFamily {
    Glm,
    Mistral,
    Delimited(&'static DelimitedForm),
}

/// What can follow a name.
static SEPARATORS: [(&str, UnmarkedFamily); 3] = [
    (GLM.parameter, UnmarkedFamily::Glm),
    (kimi::ARGUMENTS, UnmarkedFamily::Delimited(&KIMI)),
    (deepseek::SEPARATOR, UnmarkedFamily::Delimited(&DEEPSEEK)),
];

/// The first position in `text`, up to `last`, where a line begins with such a call or a prefix of one.
pub(super) fn find(text: &str, last: usize, line_start: bool, tools: &ToolNames) -> Option<usize> {
    let before = text.as_bytes().get(..last).unwrap_or_default();
    let lines = memchr::memchr_iter(b'\n', before).map(|at| at + 1);
    line_start.then_some(0).into_iter().chain(lines).find_map(|at| {
        let line = text.get(at..).unwrap_or_default();
        let words = line.trim_start_matches([' ', '\t']);
        let begins = !words.is_empty() && !matches!(recognize(words, tools, false), Ok(None));
        begins.then(|| at + line.len() - words.len())
    })
}

pub(super) fn next(input: &Input<'_>) -> ReadResult {
    let name = leading_name(input.body);
    match recognize(input.body, input.tools, input.ended()) {
        Ok(Some(UnmarkedFamily::Glm)) => {
            Ok(Decision::Become(MarkupReader::Tagged(Tagged::named(&GLM, bare_name(name), name.len()))))
        }
        Ok(Some(UnmarkedFamily::Mistral)) => mistral::named(input, 0, Decision::Text),
        Ok(Some(UnmarkedFamily::Delimited(form))) => {
            Ok(Decision::Become(MarkupReader::Delimited(Delimited::new(form, 0))))
        }
        Err(Incomplete) => input.wait_or(Decision::Text),
        Ok(None) if input.end == Some(TextEnd::CutByLimit) && is_half(input.body, input.tools) => Err(Incomplete),
        Ok(None) => Ok(Decision::Text),
    }
}

/// The family whose call `text` begins with.
fn recognize(text: &str, tools: &ToolNames, ended: bool) -> ReadResult<Option<UnmarkedFamily>> {
    let name = leading_name(text);
    let behind = text.get(name.len()..).unwrap_or_default();
    if let Some(called) = name.strip_prefix(PREFIX) {
        return match behind.chars().next() {
            None if !ended && tools.may_offer(called) => Err(Incomplete),
            Some('{') if tools.offer(called) => Ok(Some(UnmarkedFamily::Delimited(&GEMMA))),
            _ => Ok(None),
        };
    }
    if behind.is_empty() {
        let may_grow = !ended && (PREFIX.starts_with(name) || tools.may_offer_decorated(name));
        return if may_grow && !name.is_empty() { Err(Incomplete) } else { Ok(None) };
    }
    if is_offered(name, tools) { separator(behind, ended) } else { Ok(None) }
}

/// The family whose separator follows a name.
fn separator(behind: &str, ended: bool) -> ReadResult<Option<UnmarkedFamily>> {
    if mistral::continues(behind, ended)? {
        return Ok(Some(UnmarkedFamily::Mistral));
    }
    let behind = behind.trim_ascii_start();
    begins_any(behind, &SEPARATORS.map(|(mark, _)| mark), ended)?;
    Ok(SEPARATORS.iter().find(|(mark, _)| behind.starts_with(mark)).map(|(_, family)| *family))
}

fn is_offered(name: &str, tools: &ToolNames) -> bool {
    tools.offer(bare_name(name)) || name == deepseek::TYPE
}

/// Whether the text breaks off within what follows the name.
fn is_half(text: &str, tools: &ToolNames) -> bool {
    let name = leading_name(text);
    let behind = text.get(name.len()..).unwrap_or_default().trim_ascii_start();
    match name.strip_prefix(PREFIX) {
        Some(called) => behind.is_empty() && tools.may_offer(called),
        None => {
            let mut marks = SEPARATORS.iter().map(|(mark, _)| *mark).chain(mistral::MARKS);
            !behind.is_empty() && is_offered(name, tools) && marks.any(|mark| mark.starts_with(behind))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::table_runner::{complete, cut, unchanged};

    #[test]
    fn the_name_and_the_form_are_enough() {
        let paris = r#"call get_weather {"city":"Paris"}"#;
        let glm = "get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>";
        complete(&[
            (glm, &[paris]),
            (&format!("Ok.\n{glm}\n{glm}\nDone."), &["text Ok.", paris, paris, "text \nDone."]),
            (r#"get_weather[ARGS]{"city":"Paris"}"#, &[paris]),
            (r#"So:  get_weather[ARGS]{"city":"Paris"}"#, &[r#"text So:  get_weather[ARGS]{"city":"Paris"}"#]),
            (r#"  call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>"#, &[paris]),
            ("<think>Hm.\nget_weather[ARGS]{}</think>Hi", &["reasoning Hm.", "call get_weather {}", "text Hi"]),
        ]);
        cut(&[
            ("Ok.\nget_weather[AR", &["text Ok."]),
            ("Ok.\nget_weather\n<arg_k", &["text Ok."]),
            ("Ok.\ncall:get_wea", &["text Ok."]),
            ("Ok.\nget_wea", &["text Ok.\nget_wea"]),
        ]);
    }

    #[test]
    fn lines_that_begin_with_a_name_are_text() {
        unchanged(&[
            "get_weather",
            "get_weather\n",
            "get_weather is a tool.\nget_weather[0] is not.\nlist_files\n\n<b>",
            "call:me",
            "call:get_weather is how it begins",
            "```\nget_weather[ARGS]{}\n```",
        ]);
    }
}
