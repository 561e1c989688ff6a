//! Reasoning in tags: `<think>…</think>`, and `[THINK]…[/THINK]` of Mistral's reasoning models.
//!
//! A closing tag without its opening one is dropped: by the time it shows that the text before it was
//! reasoning, that text has been delivered.

use super::channel_writer::Channel;
use super::enclosing_marks::mentioned;
use super::input::{Decision, Incomplete, Input, ReadResult};

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
