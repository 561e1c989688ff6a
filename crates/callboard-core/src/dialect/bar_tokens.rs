//! Control tokens: `<|name|>`, and DeepSeek's `<｜name｜>` with wide bars.
//!
//! Some open calls or channels; the others carry nothing and are dropped, unless a sentence is about them.

use super::active_reader::MarkupReader;
use super::call_words::announces_call;
use super::channel_writer::Channel;
use super::deepseek::DEEPSEEK;
use super::delimited::Delimited;
use super::input::{Decision, Incomplete, Input, ReadResult, leading, skip_whitespace};
use super::kimi::KIMI;
use super::piece::TextEnd;
use super::pythonic::{NamesAccepted, Pythonic};
use super::unknown_form::{CallEnd, Unreadable};
use super::unlisted_form::UnlistedForm;
use super::{dropped_tokens, gemma, hermes, reasoning_tags};

const LONGEST_NAME: usize = 64;
const SHORTEST_HALF: usize = 4;
const THOUGHT: &str = "thought";

/// A control token at the beginning of a text.
struct ControlToken<'a> {
    name: &'a str,
    length: usize,
    /// A bar precedes the closing bracket.
    barred: bool,
}

pub(super) fn next(_: &str, input: &Input<'_>) -> ReadResult {
    match token(input.body) {
        Ok(None) if reasoning_tags::begins(input.body, input.ended())? => reasoning_tags::next(input),
        Ok(None) if input.without_mark => Ok(Decision::Become(MarkupReader::Unlisted(UnlistedForm::default()))),
        Ok(None) => Ok(Decision::Text),
        Err(Incomplete) if input.body.len() < SHORTEST_HALF && !follows_text(input) => input.wait_or(Decision::Text),
        Err(Incomplete) => Err(Incomplete),
        Ok(Some(ControlToken { name: "tool_call", barred: false, length })) => {
            let mark = input.between(0, length);
            or_drop(gemma::next(mark, input)?, mark, input)
        }
        Ok(Some(ControlToken { name: "channel", barred: false, length })) => open_thought(input, length),
        Ok(Some(ControlToken { name, length, .. })) => read(input, name, length),
    }
}

fn read(input: &Input<'_>, name: &str, length: usize) -> ReadResult {
    let delimited = |form| Ok(Decision::Become(MarkupReader::Delimited(Delimited::new(form, length))));
    match name {
        "channel" | "start" => Ok(Decision::Become(MarkupReader::Harmony)),
        "call" | "end" | "return" if input.channel == Channel::Reasoning => Ok(Decision::Switch(length, Channel::Text)),
        _ if reasoning_tags::is_named_in(name) => reasoning_tags::token(name, length, input),
        "tool_call_begin" => delimited(&KIMI),
        "tool▁call▁begin" => delimited(&DEEPSEEK),
        "python_tag" | "python_start" | "tool_call" | "START_ACTION" => {
            open_json(input, length, NamesAccepted::OnOffer)
        }
        "tool_call_start" => open_json(input, length, NamesAccepted::Any),
        _ if input.without_mark && (announces_call(name) || name == "open" || input.tools.resolve(name).is_some()) => {
            Ok(Decision::Become(MarkupReader::Unlisted(UnlistedForm::with_token(
                length,
                dropped_tokens::is_special(name),
            ))))
        }
        _ if input.context.opening_mark_was_text || input.context.in_words() && !dropped_tokens::is_special(name) => {
            dropped_tokens::at_end(input, length)
        }
        _ => dropped_tokens::drop(input, name, length),
    }
}

/// Llama's `<|python_tag|>` and `<|python_start|>`, LFM2's `<|tool_call_start|>`, Granite's `<|tool_call|>` and Cohere's
/// `<|START_ACTION|>` precede JSON or a Python call; anything else after them is text.
fn open_json(input: &Input<'_>, length: usize, names: NamesAccepted) -> ReadResult {
    if let Some(decision) = Pythonic::open(length, names, input)? {
        return Ok(decision);
    }
    let inside = skip_whitespace(input.body, length);
    let list = input.from(inside).trim_start_matches(['[', ' ', '\n']);
    let other = names == NamesAccepted::Any && !list.is_empty() && !list.starts_with(['{', '<']);
    if other || list.starts_with(['"', '\'']) {
        return Ok(Decision::Become(MarkupReader::Unreadable(Unreadable::new(CallEnd::Token, length))));
    }
    let mark = input.between(0, length);
    or_drop(hermes::next(mark, input)?, mark, input)
}

/// Drops `mark` if no call follows it.
fn or_drop(decision: Decision, mark: &str, input: &Input<'_>) -> ReadResult {
    match decision {
        Decision::Text => dropped_tokens::drop(input, mark, mark.len()),
        decision => Ok(decision),
    }
}

/// Gemma 4 writes reasoning in `<|channel>thought`.
fn open_thought(input: &Input<'_>, length: usize) -> ReadResult {
    if input.begins(length, THOUGHT)? {
        return Ok(Decision::Switch(length + THOUGHT.len(), Channel::Reasoning));
    }
    dropped_tokens::drop(input, "channel", length)
}

/// Whether `<|` is a token here: right after markup, or where the limit cut the text after a word. Otherwise it may be an
/// operator.
fn follows_text(input: &Input<'_>) -> bool {
    let behind_word = input.context.in_words() && !input.context.apart();
    input.context.after_markup || behind_word && input.end == Some(TextEnd::CutByLimit)
}

/// Whether the token that `text` begins with, whole or in part, opens a call.
pub(super) fn opens_call(text: &str) -> bool {
    let calls = ["tool_call_begin", "tool▁call▁begin", "python_tag", "python_start", "tool_call", "tool_call_start"];
    match token(text) {
        Ok(token) => token.is_some_and(|token| calls.contains(&token.name)),
        Err(Incomplete) => {
            let name = text.trim_start_matches(['<', '|', '｜']).trim_end_matches(['|', '｜']);
            name.len() >= SHORTEST_HALF && calls.iter().any(|call| call.starts_with(name))
        }
    }
}

fn token(text: &str) -> ReadResult<Option<ControlToken<'_>>> {
    let Some(bar) = text.chars().nth(1) else {
        return Err(Incomplete);
    };
    let start = 1 + bar.len_utf8();
    let name = leading(text.get(start..).unwrap_or_default(), is_token_character);
    let end = start + name.len();
    let mut after = text.get(end..).unwrap_or_default().chars();
    match (after.next(), after.next()) {
        _ if name.len() > LONGEST_NAME => Ok(None),
        (None, _) => Err(Incomplete),
        _ if name.is_empty() => Ok(None),
        (Some('>'), _) => Ok(Some(ControlToken { name, length: end + 1, barred: false })),
        (Some(last), None) if last == bar => Err(Incomplete),
        (Some(last), Some('>')) if last == bar => {
            Ok(Some(ControlToken { name, length: end + bar.len_utf8() + 1, barred: true }))
        }
        _ => Ok(None),
    }
}

fn is_token_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '▁' | '-')
}

#[cfg(test)]
mod tests {
    use crate::dialect::table_runner::{complete, cut, unchanged};

    #[test]
    fn tokens_are_not_text() {
        let paris = r#"call get_weather {"city": "Paris"}"#;
        complete(&[
            ("Hello.<|im_end|>\n<|endoftext|>", &["text Hello."]),
            ("Hello.<｜end▁of▁sentence｜>", &["text Hello."]),
            (r#"<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}<|eom_id|>"#, &[paris]),
            (
                r#"<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "list_files", "parameters": {}}"#,
                &[paris, "call list_files {}"],
            ),
            (r#"<|python_tag|>get_weather(city="Paris")"#, &[paris]),
            ("<|python_tag|>print(5)", &["text print(5)"]),
            (r#"Ok.<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]"#, &["text Ok.", paris]),
            ("<|START_THINKING|>Hm.<|END_THINKING|>Hi", &["reasoning Hm.", "text Hi"]),
            (
                r#"<|START_ACTION|>[{"tool_name": "get_weather", "parameters": {"city": "Paris"}}]<|END_ACTION|>"#,
                &[paris],
            ),
        ]);
        cut(&[
            ("Hello.<|im_e", &["text Hello."]),
            ("Hello.<|im_end|", &["text Hello."]),
            ("Hello.<|", &["text Hello."]),
            ("x <|", &["text x <|"]),
        ]);
    }

    #[test]
    fn operators_are_text() {
        unchanged(&["f <| x |> g", "a <|> b", "<|", "<||>", "List.map f <| [1]", "`<|im_end|>` ends it"]);
    }
}
