//! The channels of gpt-oss, where a server passes them through as text.
//!
//! `<|start|>assistant<|channel|>analysis<|message|>…<|end|>` is reasoning, the channels `final` and
//! `commentary` are text for the user, and a header with `to=functions.name` makes the message the
//! arguments of a call. Models put the parts of a header in any order, tokens where none belong, and
//! omit the one before the message.

use super::active_reader::MarkupReader;
use super::channel_writer::Channel;
use super::delimited::{Delimited, DelimitedForm, Payload};
use super::dropped_tokens::talked_about;
use super::input::{Decision, Incomplete, Input, ReadResult, leading, skip_whitespace};
use super::marked_json::JsonCalls;
use super::piece::TextCall;
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
}

/// Reads a header, from `<|start|>` or `<|channel|>` to its message.
pub(super) fn next(input: &Input<'_>) -> ReadResult {
    let (header, start) = match header_end(input) {
        Ok(HeaderEnd::Message(start)) => (input.between(0, start), start),
        Ok(HeaderEnd::Other(at)) => return break_off(input, at),
        Err(Incomplete) if input.complete() => return break_off(input, input.body.len()),
        Err(Incomplete) => return Err(Incomplete),
    };
    if let Some(name) = recipient(header) {
        return Ok(Decision::Become(MarkupReader::Delimited(Delimited::named(&HARMONY, name, start))));
    }
    // Arguments without a recipient: a call that names its tool inside, or one that the model is asked for again.
    if header.contains(CONSTRAIN) && !header.contains("final") {
        match input.from(start).trim_ascii_start().chars().next() {
            None => return input.wait_or(Decision::Switch(start, Channel::Text)),
            Some('{') => return Ok(Decision::Become(MarkupReader::JsonCalls(JsonCalls::new(start)))),
            Some(_) => {}
        }
    }
    Ok(Decision::Switch(start, channel(header)))
}

fn channel(header: &str) -> Channel {
    if header.contains("analysis") { Channel::Reasoning } else { Channel::Text }
}

/// A header without a message: a call without arguments, a header that a sentence is about, or one that carries nothing.
fn break_off(input: &Input<'_>, at: usize) -> ReadResult {
    let header = input.between(0, at);
    let words_follow = at < input.body.len() && !input.from(at).starts_with('<');
    Ok(if let Some(name) = recipient(header) {
        Decision::call(at, TextCall::without_arguments(name))
    } else if talked_about(input, header.trim_ascii_end().len())? {
        Decision::Text
    } else if words_follow && header.contains(CHANNEL) {
        Decision::Switch(at, channel(header))
    } else {
        Decision::Markup(at)
    })
}

fn header_end(input: &Input<'_>) -> ReadResult<HeaderEnd> {
    let mut at = 0;
    loop {
        let begin = skip_whitespace(input.body, at);
        let rest = input.from(begin);
        if rest.is_empty() {
            return Err(Incomplete);
        }
        if at > LONGEST_HEADER {
            return Ok(HeaderEnd::Other(at));
        }
        if rest.starts_with(MESSAGE) {
            return Ok(HeaderEnd::Message(begin + MESSAGE.len()));
        }
        let part = if rest.starts_with('<') { token(input, begin) } else { word(input, begin, at) };
        let addressed = || recipient(input.between(0, at)).is_some();
        match part? {
            Some(end) => at = end,
            None if rest.starts_with(['{', '[']) && addressed() => return Ok(HeaderEnd::Message(begin)),
            None => return Ok(HeaderEnd::Other(at)),
        }
    }
}

/// The end of the token at `at`.
fn token(input: &Input<'_>, at: usize) -> ReadResult<Option<usize>> {
    let is_token = input.begins_any(at, &TOKENS)?;
    match input.from(at).find('>') {
        // The text has ended within a token.
        None if input.ended() => Err(Incomplete),
        end => Ok(end.filter(|_| is_token).map(|end| at + end + 1)),
    }
}

/// The end of the word at `at`: any word right after a token, which ends at `token_end`; else one that headers are made of.
fn word(input: &Input<'_>, at: usize, token_end: usize) -> ReadResult<Option<usize>> {
    let rest = input.from(at);
    let word = leading(rest, |character| !character.is_ascii_whitespace() && !matches!(character, '<' | '{' | '['));
    if word.is_empty() || word.len() > LONGEST_HEADER {
        return Ok(None);
    }
    let adjacent = at == token_end && input.between(0, at).ends_with('>');
    let known = adjacent || WORDS.contains(&word) || ADDRESSES.iter().any(|start| word.starts_with(start));
    let grows = || WORDS.iter().chain(&ADDRESSES).any(|known| known.starts_with(word));
    if word.len() == rest.len() && (known || grows()) {
        return Err(Incomplete);
    }
    Ok(known.then_some(at + word.len()))
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
