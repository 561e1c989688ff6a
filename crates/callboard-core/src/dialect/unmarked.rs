//! Calls whose opening mark is missing: the name of a tool on offer at the beginning of a line, and behind it what can only
//! stand in a call of one family.
//!
//! GLM: `name` and `<arg_key>`; Mistral: `name[ARGS]`; Gemma: `call:name{`; Kimi and DeepSeek: the name and the token before
//! arguments. Bare JSON and Python are read elsewhere.

use super::capture::Capture;
use super::delimited::{Delimited, Form};
use super::gemma::PREFIX;
use super::glm::{GLM, KEY};
use super::piece::End;
use super::sight::{Begins, Sight, Step, begins};
use super::tagged::Tagged;
use super::tool_names::{ToolNames, bare_name, is_name_character};
use super::{deepseek, kimi, mistral};

/// The family whose call begins a text.
#[derive(Clone, Copy)]
enum Family {
    Glm,
    Mistral,
    Gemma,
    Kimi,
    DeepSeek,
}

/// What can stand behind a name.
const SEPARATORS: [(&str, Family); 3] =
    [(KEY, Family::Glm), (kimi::ARGUMENTS, Family::Kimi), (deepseek::SEPARATOR, Family::DeepSeek)];

/// The first place in `text`, not behind `last`, where a line begins with such a call, or with what may become one.
pub(super) fn find(text: &str, last: usize, line_start: bool, tools: &ToolNames) -> Option<usize> {
    let before = text.as_bytes().get(..last).unwrap_or_default();
    let lines = memchr::memchr_iter(b'\n', before).map(|at| at + 1);
    line_start.then_some(0).into_iter().chain(lines).find_map(|at| {
        let line = text.get(at..).unwrap_or_default();
        let words = line.trim_start_matches([' ', '\t']);
        let begins = !words.is_empty() && !matches!(recognize(words, tools, false), Some(None));
        begins.then(|| at + line.len() - words.len())
    })
}

pub(super) fn next(sight: &Sight<'_>) -> Step {
    let name = name(sight.body);
    match recognize(sight.body, sight.tools, sight.ended()) {
        Some(Some(Family::Glm)) => {
            Step::Become(Capture::Tagged(Tagged::named(&GLM, bare_name(name).to_owned(), name.len())))
        }
        Some(Some(Family::Mistral)) => mistral::named(sight, 0, Step::Text),
        Some(Some(Family::Gemma)) => Step::Become(Capture::Delimited(Delimited::new(Form::Gemma, 0))),
        Some(Some(Family::Kimi)) => Step::Become(Capture::Delimited(Delimited::new(Form::Kimi, 0))),
        Some(Some(Family::DeepSeek)) => Step::Become(Capture::Delimited(Delimited::new(Form::DeepSeek, 0))),
        None if !sight.ended() => Step::Wait,
        Some(None) if sight.end == Some(End::CutByLimit) && is_half(sight.body, sight.tools) => Step::Wait,
        Some(None) | None => Step::Text,
    }
}

/// The family whose call `text` begins with; `None` in place of the answer while that cannot be told.
fn recognize(text: &str, tools: &ToolNames, ended: bool) -> Option<Option<Family>> {
    let name = name(text);
    let behind = text.get(name.len()..).unwrap_or_default();
    if let Some(called) = name.strip_prefix(PREFIX) {
        return match behind.chars().next() {
            None if !ended && tools.may_offer(called) => None,
            Some('{') if tools.offer(called) => Some(Some(Family::Gemma)),
            _ => Some(None),
        };
    }
    if behind.is_empty() {
        let may_grow = !ended && (PREFIX.starts_with(name) || tools.may_offer_decorated(name));
        return if may_grow && !name.is_empty() { None } else { Some(None) };
    }
    if !is_offered(name, tools) {
        return Some(None);
    }
    separator(behind, ended)
}

/// The family whose separator stands behind a name.
fn separator(behind: &str, ended: bool) -> Option<Option<Family>> {
    let mut answers = vec![(mistral::goes_on(behind, ended), Family::Mistral)];
    let behind = behind.trim_ascii_start();
    answers.extend(SEPARATORS.iter().map(|(mark, family)| (begins(behind, mark, ended), *family)));
    match answers.iter().find(|(answer, _)| *answer == Begins::Yes) {
        Some((_, family)) => Some(Some(*family)),
        None if answers.iter().any(|(answer, _)| *answer == Begins::Perhaps) => None,
        None => Some(None),
    }
}

fn is_offered(name: &str, tools: &ToolNames) -> bool {
    tools.offer(bare_name(name)) || name == deepseek::TYPE
}

/// Whether the text breaks off within what stands behind the name.
fn is_half(text: &str, tools: &ToolNames) -> bool {
    let name = name(text);
    let behind = text.get(name.len()..).unwrap_or_default().trim_ascii_start();
    match name.strip_prefix(PREFIX) {
        Some(called) => behind.is_empty() && tools.may_offer(called),
        None => {
            let in_mark = SEPARATORS.iter().any(|(mark, _)| mark.starts_with(behind));
            !behind.is_empty() && is_offered(name, tools) && (in_mark || mistral::breaks_off_in_mark(behind))
        }
    }
}

fn name(text: &str) -> &str {
    let length = text.find(|sign| !is_name_character(sign)).unwrap_or(text.len());
    text.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::dialect::check::{complete, cut, unchanged};

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
