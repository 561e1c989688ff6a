//! The channels of gpt-oss, where a server passes them through as text.
//!
//! `<|start|>assistant<|channel|>analysis<|message|>…<|end|>` is reasoning, the channels `final` and
//! `commentary` are text for the user, and a header with `to=functions.name` makes the message the
//! arguments of a call. Models put the parts of a header in any order, tokens where none belong, and
//! omit the one before the message.

use super::channel_writer::Channel;
use super::delimited::{Delimited, DelimitedForm, Payload};
use super::input::{Decision, Found, Input, PrefixMatch, leading, skip_whitespace};
use super::marked_json::JsonCalls;
use super::markup_reader::MarkupReader;
use super::piece::TextCall;
use super::special_tokens::talked_about;
use super::tool_names::{bare_name, leading_name};

const LONGEST_HEADER: usize = 400;

/// A message that is the arguments of a call.
static HARMONY: DelimitedForm = DelimitedForm {
    ends: &["<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|channel|>"],
    separators: &[],
    read: |Payload { name, text, .. }| Some(TextCall::new(name, text.trim_ascii())),
};

/// Tokens of a header; a word may follow each directly.
const TOKENS: [&str; 4] = ["<|start|>", CHANNEL, CONSTRAIN, MESSAGE];
const CHANNEL: &str = "<|channel|>";
const CONSTRAIN: &str = "<|constrain|>";
const MESSAGE: &str = "<|message|>";

/// Words of a header that are separate from its tokens.
const WORDS: [&str; 11] =
    ["assistant", "user", "system", "developer", "tool", "analysis", "commentary", "final", "json", "code", "text"];

/// Beginnings of words that name the recipient or the speaker.
const ADDRESSES: [&str; 2] = ["to=", "functions."];

/// Where a header ends.
enum HeaderEnd {
    /// The message begins here.
    Message(usize),
    /// What follows belongs neither to a header nor to a call.
    Other(usize),
    /// More text has to arrive.
    Open,
}

/// Reads a header, from `<|start|>` or `<|channel|>` to its message.
pub(super) fn next(input: &Input<'_>) -> Decision {
    let (header, start) = match header_end(input) {
        HeaderEnd::Message(start) => (input.between(0, start), start),
        HeaderEnd::Other(at) => return break_off(input, at),
        HeaderEnd::Open if input.complete() => return break_off(input, input.body.len()),
        HeaderEnd::Open => return Decision::Wait,
    };
    match recipient(header) {
        Some(name) => Decision::Become(MarkupReader::Delimited(Delimited::named(&HARMONY, name, start))),
        // Arguments without a recipient: a call that names its tool inside, or has to be asked for again.
        None if header.contains(CONSTRAIN) && !header.contains("final") => {
            match input.from(start).trim_ascii_start().chars().next() {
                None => input.wait_or(Decision::Switch(start, Channel::Text)),
                Some('{') => Decision::Become(MarkupReader::JsonCalls(JsonCalls::new(start))),
                Some(_) => Decision::Switch(start, channel(header)),
            }
        }
        None => Decision::Switch(start, channel(header)),
    }
}

fn channel(header: &str) -> Channel {
    if header.contains("analysis") { Channel::Reasoning } else { Channel::Text }
}

/// A header without a message: the sentence is about it, or a call without arguments was made, or it carries nothing.
fn break_off(input: &Input<'_>, at: usize) -> Decision {
    let header = input.between(0, at);
    let words_follow = at < input.body.len() && !input.from(at).starts_with('<');
    match (recipient(header), talked_about(input, header.trim_ascii_end().len())) {
        (None, PrefixMatch::Yes) => Decision::Text,
        (None, PrefixMatch::Partial) => Decision::Wait,
        (Some(name), _) => Decision::call(at, TextCall::without_arguments(name)),
        (None, PrefixMatch::No) if words_follow && header.contains(CHANNEL) => Decision::Switch(at, channel(header)),
        (None, PrefixMatch::No) => Decision::Markup(at),
    }
}

fn header_end(input: &Input<'_>) -> HeaderEnd {
    let mut at = 0;
    loop {
        let begin = skip_whitespace(input.body, at);
        let rest = input.from(begin);
        let part = if rest.starts_with('<') { token(input, begin) } else { word(input, begin, at) };
        let addressed = || recipient(input.between(0, at)).is_some();
        match part {
            _ if rest.is_empty() => return HeaderEnd::Open,
            _ if at > LONGEST_HEADER => return HeaderEnd::Other(at),
            _ if rest.starts_with(MESSAGE) => return HeaderEnd::Message(begin + MESSAGE.len()),
            Found::None if rest.starts_with(['{', '[']) && addressed() => return HeaderEnd::Message(begin),
            Found::None => return HeaderEnd::Other(at),
            Found::Partial => return HeaderEnd::Open,
            Found::Whole(end) => at = end,
        }
    }
}

/// The end of the token at `at`.
fn token(input: &Input<'_>, at: usize) -> Found<usize> {
    match input.begins_any(at, &TOKENS) {
        PrefixMatch::Yes => Found::Whole(at + input.from(at).find('>').map_or(0, |end| end + 1)),
        PrefixMatch::Partial => Found::Partial,
        // Nothing more comes, and the text breaks off within a token.
        PrefixMatch::No if input.ended() && !input.from(at).contains('>') => Found::Partial,
        PrefixMatch::No => Found::None,
    }
}

/// The end of the word at `at`: any word right behind a token, which ends at `token_end`; else one that headers are made of.
fn word(input: &Input<'_>, at: usize, token_end: usize) -> Found<usize> {
    let rest = input.from(at);
    let word = leading(rest, |character| !character.is_ascii_whitespace() && !matches!(character, '<' | '{' | '['));
    let length = word.len();
    let adjacent = at == token_end && input.between(0, at).ends_with('>');
    let known = WORDS.contains(&word) || ADDRESSES.iter().any(|start| word.starts_with(start));
    let at_end = length == rest.len();
    let grows = || WORDS.iter().chain(&ADDRESSES).any(|known| known.starts_with(word));
    if length == 0 || length > LONGEST_HEADER {
        Found::None
    } else if at_end && (adjacent || known || grows()) {
        Found::Partial
    } else if adjacent || known {
        Found::Whole(at + length)
    } else {
        Found::None
    }
}

/// The function a message is addressed to.
fn recipient(header: &str) -> Option<&str> {
    let (_, address) = header.split_once("to=")?;
    let name = bare_name(leading_name(address));
    (!name.is_empty() && name != "assistant" && name != "user").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipients_are_found_in_damaged_headers() {
        for (header, expected) in [
            ("<|channel|>commentary to=functions.f <|constrain|>json", Some("f")),
            ("<|start|>assistant to=functions.f<|channel|>commentary json", Some("f")),
            ("<|channel|>commentary to=functions.f<|channel|>commentary", Some("f")),
            ("<|channel|>analysis to=browser.search code", Some("browser.search")),
            ("<|channel|>commentary to=<|constrain|>json", None),
            ("<|channel|>commentary", None),
        ] {
            assert_eq!(recipient(header), expected, "{header}");
        }
    }
}
