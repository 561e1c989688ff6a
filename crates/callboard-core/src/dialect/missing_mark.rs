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
use super::input::{Decision, Incomplete, Input, ReadResult, begins_any, leading};
use super::kimi::{self, KIMI};
use super::mistral;
use super::piece::TextEnd;
use super::tagged::Tagged;
use super::tool_names::{ToolNames, bare_name, leading_name};
use super::unlisted_form::UnlistedForm;
use super::unlisted_words::{ADDRESS, begins_keyword, is_decoration, undecorated};

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

/// Where a call may be addressed in the middle of a line: `to=functions.name`.
///
/// A quotation ends with its line.
pub(super) fn find_address(text: &str, last: usize, quoted: bool, after_space: bool) -> Option<usize> {
    let before = text.get(..last).unwrap_or_default();
    let is_apart = |at: usize| match at.checked_sub(1) {
        None => after_space,
        Some(previous) => {
            text.as_bytes().get(previous).is_some_and(u8::is_ascii_whitespace) && !is_quoted(text, at, quoted)
        }
    };
    let signs = memchr::memchr_iter(b'=', before.as_bytes()).filter_map(|at| at.checked_sub(ADDRESS.len() - 1));
    let whole =
        signs.filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(ADDRESS))).find(|at| is_apart(*at));
    let half = || {
        let length =
            (1..ADDRESS.len()).rev().find(|length| before.ends_with(ADDRESS.get(..*length).unwrap_or_default()))?;
        Some(text.len() - length).filter(|at| last == text.len() && is_apart(*at))
    };
    whole.or_else(half)
}

fn is_quoted(text: &str, at: usize, quoted: bool) -> bool {
    quoted && memchr::memchr(b'\n', text.as_bytes().get(..at).unwrap_or_default()).is_none()
}

/// The first position in `text`, up to `last`, where a line begins with such a call or a prefix of one.
pub(super) fn find(text: &str, last: usize, line_start: bool, tools: &ToolNames) -> Option<usize> {
    let before = text.as_bytes().get(..last).unwrap_or_default();
    let lines = memchr::memchr_iter(b'\n', before).map(|at| at + 1);
    line_start.then_some(0).into_iter().chain(lines).find_map(|at| {
        let line = text.get(at..).unwrap_or_default();
        let words = line.trim_start_matches([' ', '\t']);
        let begins =
            !words.is_empty() && (may_announce(words, tools) || !matches!(recognize(words, tools, false), Ok(None)));
        begins.then(|| at + line.len() - words.len())
    })
}

pub(super) fn next(input: &Input<'_>) -> ReadResult {
    if !input.context.line_start {
        let addressed = input.without_mark && input.begins(0, ADDRESS)?;
        return Ok(if addressed {
            Decision::Become(MarkupReader::Unlisted(UnlistedForm::default()))
        } else {
            Decision::Text
        });
    }
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
        Ok(None) if input.without_mark && may_announce(input.body, input.tools) => {
            Ok(Decision::Become(MarkupReader::Unlisted(UnlistedForm::default())))
        }
        Ok(None) => Ok(Decision::Text),
    }
}

/// Whether a call in no known form may begin here: with a keyword, or with the name of a tool.
fn may_announce(text: &str, tools: &ToolNames) -> bool {
    let bare = undecorated(text);
    let word = leading(bare, |character| character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '/'));
    if word.is_empty() { is_decoration(text) } else { begins_keyword(word) || tools.may_resolve(word) }
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
