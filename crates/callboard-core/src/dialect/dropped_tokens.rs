//! Special tokens that carry nothing: ends of texts, and headers of turns.
//!
//! `<|im_end|>` and the like are read as control tokens, `</s>`, `[/INST]` and others by their spelling here. A server should
//! have removed them. They are dropped at both ends of the text, beside markup, and right after a word; if the sentence
//! continues after a token, the token is text.

use super::channel_writer::Channel;
use super::input::{Decision, Incomplete, Input, ReadResult, leading, skip_whitespace};
use super::opening_marks;

/// Opens struck-through text in HTML, which `</s>` closes.
pub(super) const STRIKE: &str = "<s>";
const STRIKE_END: &str = "</s>";
const THOUGHT_END: &str = "<channel|>";

/// Special tokens without bars on both sides.
pub(super) const SPECIAL: [&str; 15] = [
    STRIKE_END,
    STRIKE,
    "<eos>",
    "<bos>",
    "<pad>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<turn|>",
    THOUGHT_END,
    "<tool_response|>",
    "<start_function_response>",
    "<end_function_response>",
    "[e~[",
    "[/INST]",
    "[INST]",
];

/// Tokens, by name, after which the speaker of a turn is named.
const HEADERS: [&str; 4] = ["im_start", "start_header_id", "turn", "start_of_turn"];
const ROLES: [&str; 7] = ["assistant", "model", "user", "system", "tool", "developer", "ipython"];

/// The words that the names of special tokens are made of. Another token in the middle of a text belongs to a form that was
/// not read, and stays.
const NAME_WORDS: [&str; 44] = [
    "action",
    "argument",
    "arguments",
    "assistant",
    "begin",
    "bos",
    "bot",
    "call",
    "calls",
    "channel",
    "chatbot",
    "constrain",
    "end",
    "endoftext",
    "eom",
    "eos",
    "eot",
    "final",
    "fim",
    "header",
    "id",
    "im",
    "message",
    "model",
    "msg",
    "of",
    "output",
    "outputs",
    "pad",
    "python",
    "response",
    "result",
    "return",
    "section",
    "sentence",
    "start",
    "system",
    "tag",
    "text",
    "token",
    "tool",
    "tools",
    "turn",
    "user",
];

/// Whether a token of this name ends or begins texts, turns, messages or calls.
pub(super) fn is_special(name: &str) -> bool {
    name.split(['_', '▁', '-']).all(|word| NAME_WORDS.contains(&word.to_lowercase().as_str()))
}

/// Reads one of [`SPECIAL`].
pub(super) fn next(mark: &str, input: &Input<'_>) -> ReadResult {
    match mark {
        THOUGHT_END if input.channel == Channel::Reasoning => Ok(Decision::Switch(mark.len(), Channel::Text)),
        STRIKE if input.context.in_words() => Ok(Decision::Text),
        STRIKE_END if input.context.in_strikethrough => Ok(Decision::Text),
        STRIKE_END if input.context.in_words() => at_end(input, mark.len()),
        _ => drop(input, mark.trim_matches(['<', '>']), mark.len()),
    }
}

/// Drops the token `name`, which is `length` long, unless the sentence continues after it.
pub(super) fn drop(input: &Input<'_>, name: &str, length: usize) -> ReadResult {
    if talked_about(input, length)? {
        return Ok(Decision::Text);
    }
    if HEADERS.contains(&name) { drop_header(input, length) } else { Ok(Decision::Markup(length)) }
}

/// Whether the token that ends at `length` is a word of a sentence.
pub(super) fn talked_about(input: &Input<'_>, length: usize) -> ReadResult<bool> {
    let in_sentence = input.context.in_words() && input.context.apart();
    Ok(in_sentence && input.sentence_continues(length, |character| !character.is_alphanumeric())?)
}

/// A token that may also be a part of the text, as `</s>` in HTML: it is one only before the end of the text or markup.
pub(super) fn at_end(input: &Input<'_>, length: usize) -> ReadResult {
    let after = skip_whitespace(input.body, length);
    if after == input.body.len() {
        return input.wait_or(Decision::Markup(length));
    }
    let is_markup = opening_marks::markup_begins(input.from(after), input.ended())?;
    Ok(if is_markup { Decision::Markup(length) } else { Decision::Text })
}

/// The role after the token belongs to it, if nothing else is on its line.
fn drop_header(input: &Input<'_>, length: usize) -> ReadResult {
    let role = leading(input.from(length), |character| character.is_ascii_lowercase());
    match input.from(length + role.len()).chars().next() {
        None if ROLES.iter().any(|known| known.starts_with(role)) => Err(Incomplete),
        Some('\n' | '\r' | '<') if ROLES.contains(&role) => Ok(Decision::Markup(length + role.len())),
        _ => Ok(Decision::Markup(length)),
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::table_runner::{complete, cut, unchanged};

    #[test]
    fn tokens_that_a_server_left_are_dropped() {
        complete(&[
            ("Hello.</s>", &["text Hello."]),
            ("<s> Hello.</s>\n", &["text Hello."]),
            ("<bos>Hello<eos>", &["text Hello"]),
            ("Hello.<end_of_turn>\n<start_of_turn>model\nMore.", &["text Hello.\nMore."]),
            ("[/INST] Hello.[INST]", &["text Hello."]),
            ("<|im_start|>assistant\nHello.<|im_end|>", &["text Hello."]),
            ("<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>", &["text Hello."]),
            ("<|turn>model\n<|channel>thought\nHm.<channel|>Hello.<turn|>", &["reasoning Hm.", "text Hello."]),
            ("Hello.</s> </s>", &["text Hello."]),
        ]);
        cut(&[("Hello.<|im_start|>assis", &["text Hello."]), ("Hello.<end_of_tu", &["text Hello."])]);
    }

    #[test]
    fn tokens_in_sentences_are_text() {
        unchanged(&[
            "The token <|im_end|> ends a turn, and <|im_start|> begins one.",
            "It ends with <eos>, or (<end_of_turn>).",
            "Put [INST] before and [/INST] behind it.",
            "Was <s>5</s> now 4, no <s>6</s>",
            "A list: [\"<eos>\", \"<bos>\"] and so on.",
            "Write </s> at the end of it.",
            "A form of its own: <|dark|>night<|sep|>stage<|dark|> it was.",
            "<start> and <end> and <sample> stay",
        ]);
    }
}
