//! Reasoning in tags: `<think>…</think>`, and `[THINK]…[/THINK]` of Mistral's reasoning models.
//!
//! Tags with the same meaning, in any case and with prefixes, bars or attributes (`<thinking>`, `<seed:think>`, `<|thought|>`),
//! are read at the beginning of a line; as words of a sentence they are text. A closing tag without its opening one is dropped: by the time it shows that the text before it was
//! reasoning, that text has been delivered.

use super::channel_writer::Channel;
use super::dropped_tokens::talked_about;
use super::enclosing_marks::mentioned;
use super::input::{Decision, Incomplete, Input, ReadResult, leading};
use super::tag::Tag;

/// The names of tags around reasoning.
pub(super) const NAMES: [&str; 5] = ["think", "thinking", "thought", "thoughts", "reasoning"];

/// No such name is longer with its prefix.
const LONGEST: usize = 24;

pub(super) fn open(mark: &str, input: &Input<'_>) -> ReadResult {
    Ok(if mentioned(mark, input)? { Decision::Text } else { Decision::Switch(mark.len(), Channel::Reasoning) })
}

pub(super) fn close(mark: &str, input: &Input<'_>) -> ReadResult {
    if input.context.after_backtick {
        match input.from(mark.len()).chars().next() {
            None if !input.ended() => return Err(Incomplete),
            Some('`') => return Ok(Decision::Text),
            _ => {}
        }
    }
    Ok(Decision::Switch(mark.len(), Channel::Text))
}

/// Whether a tag begins here that has the meaning of `<think>` or `</think>`.
pub(super) fn begins(text: &str, ended: bool) -> ReadResult<bool> {
    let frame = |character: char| matches!(character, '|' | '｜' | '/');
    let inside = text.get(1..).unwrap_or_default().trim_start_matches(frame);
    let name = leading(inside, |character| character.is_ascii_alphabetic() || character == ':');
    let behind = inside.get(name.len()..).unwrap_or_default();
    match behind.chars().next() {
        _ if name.len() > LONGEST => Ok(false),
        None if ended || name.is_empty() && text.len() > 4 => Ok(false),
        None => Err(Incomplete),
        Some('>' | '|' | '｜' | ' ') => Ok(is_reasoning(name)),
        Some(_) => Ok(false),
    }
}

fn is_reasoning(name: &str) -> bool {
    let own = name.rsplit(':').next().unwrap_or_default();
    NAMES.iter().any(|known| own.eq_ignore_ascii_case(known))
}

/// Whether the name of a token has such a word in it.
pub(super) fn is_named_in(name: &str) -> bool {
    name.split(['_', '▁', '-']).any(is_reasoning)
}

/// Reads a token such as `<|START_THINKING|>` or `<|end_of_thought|>`.
pub(super) fn token(name: &str, length: usize, input: &Input<'_>) -> ReadResult {
    let closes = name.split(['_', '▁', '-']).any(|word| word.eq_ignore_ascii_case("end"));
    Ok(match input.channel {
        Channel::Reasoning if closes => Decision::Switch(length, Channel::Text),
        _ if talked_about(input, length)? => Decision::Text,
        _ if closes => Decision::Markup(length),
        _ => Decision::Switch(length, Channel::Reasoning),
    })
}

/// Reads a tag that [`begins`] has found.
pub(super) fn next(input: &Input<'_>) -> ReadResult {
    let tag = match Tag::read(input.body, input.ended())? {
        Some(tag) if is_reasoning(tag.element()) => tag,
        _ => return Ok(Decision::Text),
    };
    if tag.closing {
        let closes = input.channel == Channel::Reasoning;
        return if closes { close(input.between(0, tag.length), input) } else { Ok(Decision::Text) };
    }
    let behind = input.from(tag.length);
    let line = behind.trim_start_matches([' ', '\t']);
    let spaced = line.len() < behind.len();
    let is_word = match line.chars().next() {
        _ if !input.context.line_start || input.channel == Channel::Reasoning => true,
        None if !input.ended() => return Err(Incomplete),
        Some(first) => {
            matches!(first, '.' | ',' | ';' | ':' | ')' | '"' | '\'')
                || spaced && (first.is_lowercase() || first == '<')
        }
        None => false,
    };
    Ok(if is_word { Decision::Text } else { Decision::Switch(tag.length, Channel::Reasoning) })
}

#[cfg(test)]
mod tests {
    use crate::dialect::piece::TextEnd;
    use crate::dialect::table_runner::{check, complete, unchanged};

    #[test]
    fn reasoning_has_its_own_channel() {
        complete(&[
            ("<think>\nI need it.\n</think>\n\nOne moment.", &["reasoning I need it.", "text One moment."]),
            ("<think></think>Hello", &["text Hello"]),
            ("Sure. <think>Hm</think> Done.", &["text Sure.", "reasoning Hm", "text  Done."]),
            ("<think>a</think>A<think>b</think>B", &["reasoning a", "text A", "reasoning \nb", "text \nB"]),
            ("[THINK]a[/THINK]A", &["reasoning a", "text A"]),
            ("The answer.\n<think>", &["text The answer."]),
            ("<think>never closed", &["reasoning never closed"]),
            ("<think>an odd ` here</think>Hi", &["reasoning an odd ` here", "text Hi"]),
            ("<think>```\ncode</think>Hi", &["reasoning ```\ncode", "text Hi"]),
            ("<think>say `</think>` last</think>Hi", &["reasoning say `</think>` last", "text Hi"]),
            (
                "<think>{\"name\": \"get_weather\", \"arguments\": {}}\n</think>Hi",
                &["reasoning {\"name\": \"get_weather\", \"arguments\": {}}", "text Hi"],
            ),
        ]);
    }

    #[test]
    fn other_tags_mean_the_same() {
        for (open, close) in [
            ("<thinking>", "</thinking>"),
            ("<Thinking>\n", "\n</Thinking>"),
            ("<thought>", "</thought>"),
            ("<thoughts>\n", "</thoughts>"),
            ("<reasoning>", "</reasoning>"),
            ("<seed:think>", "</seed:think>"),
            ("<|thinking|>", "<|/thinking|>"),
            ("<thinking mode=\"x\">", "</thinking>"),
            ("<think>", "</thinking>"),
            ("<|begin_of_thought|>", "<|end_of_thought|>"),
        ] {
            let text = format!("{open}I need it.{close}\n\nHello");
            complete(&[(&text, &["reasoning I need it.", "text Hello"])]);
        }
        complete(&[
            ("Sure.\n<thinking>a `b</thinking>Done.", &["text Sure.", "reasoning a `b", "text \nDone."]),
            ("<thinking>never closed", &["reasoning never closed"]),
        ]);
        unchanged(&[
            "<thinking> tags hold thoughts.",
            "<thought>, or <reasoning>: such tags.",
            "Put <thinking>x</thinking> there, </thinking> ends it.",
            "`<thinking>`\n```\n<thinking>x</thinking>\n```",
            "<rethink>x</rethink> <thinkers>",
        ]);
    }

    #[test]
    fn a_closing_tag_alone_is_dropped() {
        complete(&[("All of it.</think>\nThe answer.", &["text All of it.\nThe answer."])]);
        check(TextEnd::CutByLimit, &[("<think>Hm</thi", &["reasoning Hm"]), ("Hm <thin", &["text Hm"])]);
    }

    #[test]
    fn prose_about_the_tag_is_text() {
        unchanged(&[
            "Qwen writes `<think>` and `</think>`.",
            "The <think> tag, or <think>, is a tag.",
            "<thinking> <thin>",
            "<th",
        ]);
    }
}
