//! Control tokens: `<|name|>`, and DeepSeek's `<｜name｜>` with wide bars.
//!
//! Some open calls or channels; the others carry nothing and are dropped, unless a sentence is about them.

use super::capture::Capture;
use super::delimited::{Delimited, Form};
use super::outlet::Channel;
use super::piece::End;
use super::pythonic::{Pythonic, Tools};
use super::sight::{Begins, Sight, Step, skip_whitespace};
use super::unreadable::{Frame, Unreadable};
use super::{gemma, hermes, special};

const LONGEST_NAME: usize = 64;
const SHORTEST_HALF: usize = 4;
const THOUGHT: &str = "thought";

/// A control token at the beginning of a text.
enum Token<'a> {
    Read {
        name: &'a str,
        length: usize,
        barred: bool,
    },
    /// It ends before its name does.
    Unfinished,
    None,
}

pub(super) fn next(sight: &Sight<'_>) -> Step {
    match token(sight.body) {
        Token::None => Step::Text,
        Token::Unfinished if sight.body.len() < SHORTEST_HALF && !follows_text(sight) => sight.wait_or(Step::Text),
        Token::Unfinished => Step::Wait,
        Token::Read { name: "tool_call", barred: false, length } => open_gemma(sight, length),
        Token::Read { name: "channel", barred: false, length } => open_thought(sight, length),
        Token::Read { name, length, .. } => read(sight, name, length),
    }
}

fn read(sight: &Sight<'_>, name: &str, length: usize) -> Step {
    match name {
        "channel" | "start" => Step::Become(Capture::Harmony),
        "call" | "end" | "return" | "END_THINKING" if sight.channel == Channel::Reasoning => {
            Step::Turn(length, Channel::Text)
        }
        "START_THINKING" => Step::Turn(length, Channel::Reasoning),
        "tool_call_begin" => Step::Become(Capture::Delimited(Delimited::new(Form::Kimi, length))),
        "tool▁call▁begin" => Step::Become(Capture::Delimited(Delimited::new(Form::DeepSeek, length))),
        "python_tag" | "python_start" | "tool_call" | "START_ACTION" => open_json(sight, length, Tools::OnOffer),
        "tool_call_start" => open_json(sight, length, Tools::Any),
        _ => special::drop(sight, name, length),
    }
}

/// Llama's `<|python_tag|>` and `<|python_start|>`, LFM2's `<|tool_call_start|>`, Granite's `<|tool_call|>` and Cohere's
/// `<|START_ACTION|>` stand before JSON or a Python call; what else stands behind them is text.
fn open_json(sight: &Sight<'_>, length: usize, tools: Tools) -> Step {
    let inside = skip_whitespace(sight.body, length);
    match Pythonic::behind_mark(length, inside, tools, sight) {
        Begins::Yes => return Step::Become(Capture::Pythonic(Pythonic::marked(inside, length, tools))),
        Begins::Perhaps => return Step::Wait,
        Begins::No => {}
    }
    let list = sight.from(inside).trim_start_matches(['[', ' ', '\n']);
    let unreadable =
        list.starts_with(['"', '\'']) || tools == Tools::Any && !list.is_empty() && !list.starts_with(['{', '<']);
    if unreadable {
        return Step::Become(Capture::Unreadable(Unreadable::new(Frame::Tokens, length)));
    }
    let mark = sight.body.get(..length).unwrap_or_default();
    match hermes::next(mark, sight) {
        Step::Text => special::drop(sight, mark, length),
        step => step,
    }
}

fn open_gemma(sight: &Sight<'_>, length: usize) -> Step {
    let mark = sight.body.get(..length).unwrap_or_default();
    match gemma::next(mark, sight) {
        Step::Text => special::drop(sight, mark, length),
        step => step,
    }
}

/// Gemma 4 thinks in `<|channel>thought`.
fn open_thought(sight: &Sight<'_>, length: usize) -> Step {
    match sight.begins(length, THOUGHT) {
        Begins::Yes => Step::Turn(length + THOUGHT.len(), Channel::Reasoning),
        Begins::Perhaps => Step::Wait,
        Begins::No => special::drop(sight, "channel", length),
    }
}

/// Whether the signs with which any token begins are those of one here: right behind markup, or where the limit cut the
/// text behind a word. Elsewhere they may be an operator.
fn follows_text(sight: &Sight<'_>) -> bool {
    let behind_word = sight.surroundings.in_words() && !sight.surroundings.apart();
    sight.surroundings.after_markup() || behind_word && sight.end == Some(End::CutByLimit)
}

/// Whether the token that `text` begins with, whole or in part, opens a call.
pub(super) fn opens_call(text: &str) -> bool {
    let calls = ["tool_call_begin", "tool▁call▁begin", "python_tag", "python_start", "tool_call", "tool_call_start"];
    match token(text) {
        Token::Read { name, .. } => calls.contains(&name),
        Token::Unfinished => {
            let name = text.trim_start_matches(['<', '|', '｜']).trim_end_matches(['|', '｜']);
            name.len() >= SHORTEST_HALF && calls.iter().any(|call| call.starts_with(name))
        }
        Token::None => false,
    }
}

fn token(text: &str) -> Token<'_> {
    let Some(bar) = text.chars().nth(1) else {
        return Token::Unfinished;
    };
    let start = 1 + bar.len_utf8();
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.find(|character| !is_name_character(character)).unwrap_or(rest.len());
    let name = rest.get(..length).unwrap_or_default();
    if length > LONGEST_NAME {
        return Token::None;
    }
    let mut after = rest.get(length..).unwrap_or_default().chars();
    match (after.next(), after.next()) {
        (None, _) => Token::Unfinished,
        _ if name.is_empty() => Token::None,
        (Some('>'), _) => Token::Read { name, length: start + length + 1, barred: false },
        (Some(end), None) if end == bar => Token::Unfinished,
        (Some(end), Some('>')) if end == bar => {
            Token::Read { name, length: start + length + bar.len_utf8() + 1, barred: true }
        }
        _ => Token::None,
    }
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '▁' | '-')
}

#[cfg(test)]
mod tests {
    use crate::dialect::check::{complete, cut, unchanged};

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
