//! Special tokens that carry nothing: the ends of texts, and the headers of turns.
//!
//! `<|im_end|>` and its like are read as control tokens, `</s>`, `[/INST]` and others by their spelling here. A server should have
//! taken them away. They are dropped at both ends of the text, beside markup, and right behind a word; a sentence that goes
//! on behind a token talks about it.

use super::opener;
use super::outlet::Channel;
use super::sight::{Begins, Sight, Step, skip_whitespace};

const STRIKE: &str = "<s>";
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

/// Tokens, by name, behind which the speaker of a turn is named.
const HEADERS: [&str; 4] = ["im_start", "start_header_id", "turn", "start_of_turn"];
const ROLES: [&str; 7] = ["assistant", "model", "user", "system", "tool", "developer", "ipython"];

/// Whether `mark` opens what `</s>` may close: text struck through in HTML.
pub(super) fn strikes(mark: &str) -> bool {
    mark == STRIKE
}

/// Reads one of [`SPECIAL`].
pub(super) fn next(mark: &str, sight: &Sight<'_>) -> Step {
    match mark {
        THOUGHT_END if sight.channel == Channel::Reasoning => Step::Turn(mark.len(), Channel::Text),
        STRIKE if sight.surroundings.in_words() => Step::Text,
        STRIKE_END if sight.surroundings.struck() => Step::Text,
        STRIKE_END if sight.surroundings.in_words() => at_end(mark, sight),
        _ => drop(sight, mark.trim_matches(['<', '>']), mark.len()),
    }
}

/// Drops the token `name`, which is `length` long, unless the sentence goes on behind it.
pub(super) fn drop(sight: &Sight<'_>, name: &str, length: usize) -> Step {
    match talked_about(sight, length) {
        Begins::Yes => Step::Text,
        Begins::Perhaps => Step::Wait,
        Begins::No if HEADERS.contains(&name) => drop_header(sight, length),
        Begins::No => Step::Markup(length),
    }
}

/// Whether the token that ends at `length` is a word of a sentence.
pub(super) fn talked_about(sight: &Sight<'_>, length: usize) -> Begins {
    if !sight.surroundings.in_words() || !sight.surroundings.apart() {
        return Begins::No;
    }
    let after = sight.from(length);
    let line = after.trim_start_matches([' ', '\t']);
    match line.chars().next() {
        None if sight.ended() => Begins::No,
        None => Begins::Perhaps,
        Some('\n' | '\r' | '<' | '{' | '[') => Begins::No,
        Some(_) if line.len() < after.len() => Begins::Yes,
        Some(sign) if sign.is_alphanumeric() => Begins::No,
        Some(_) => Begins::Yes,
    }
}

/// In HTML the same tag closes struck text, so it is a token only before the end of the text or markup.
fn at_end(mark: &str, sight: &Sight<'_>) -> Step {
    let after = skip_whitespace(sight.body, mark.len());
    if after == sight.body.len() {
        return sight.wait_or(Step::Markup(mark.len()));
    }
    match opener::markup_begins(sight.from(after), sight.ended()) {
        Begins::Yes => Step::Markup(mark.len()),
        Begins::Perhaps => Step::Wait,
        Begins::No => Step::Text,
    }
}

/// The role behind the token belongs to it, if nothing else stands on its line.
fn drop_header(sight: &Sight<'_>, length: usize) -> Step {
    let rest = sight.from(length);
    let role = rest.get(..rest.find(|sign: char| !sign.is_ascii_lowercase()).unwrap_or(rest.len())).unwrap_or_default();
    let behind = rest.get(role.len()..).unwrap_or_default();
    match behind.chars().next() {
        None if ROLES.iter().any(|known| known.starts_with(role)) => Step::Wait,
        Some('\n' | '\r' | '<') if ROLES.contains(&role) => Step::Markup(length + role.len()),
        _ => Step::Markup(length),
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::check::{complete, cut, unchanged};

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
            "<start> and <end> and <sample> stay",
        ]);
    }
}
