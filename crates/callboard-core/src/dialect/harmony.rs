//! The channels of gpt-oss, where a server passes them on as text.
//!
//! `<|start|>assistant<|channel|>analysis<|message|>…<|end|>` is reasoning, the channels `final` and
//! `commentary` are words for the user, and a header with `to=functions.name` makes the message the
//! arguments of a call. Models put the parts of a header in any order, tokens where none belong, and
//! forget the one before the message.

use super::capture::Capture;
use super::delimited::{Delimited, Form};
use super::objects::JsonCalls;
use super::outlet::Channel;
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, skip_whitespace};
use super::special::talked_about;
use super::tool_names::{bare_name, is_name_character};

const LONGEST_HEADER: usize = 400;

/// Tokens that end a message.
pub(super) const ENDS: [&str; 5] = ["<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|channel|>"];

/// Tokens of a header; a word may stand right behind each.
const TOKENS: [&str; 3] = ["<|start|>", CHANNEL, "<|constrain|>"];
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";

/// Words of a header that stand apart from its tokens.
const WORDS: [&str; 11] =
    ["assistant", "user", "system", "developer", "tool", "analysis", "commentary", "final", "json", "code", "text"];

/// How words begin that say who is addressed, or speaks.
const ADDRESSES: [&str; 2] = ["to=", "functions."];

/// Where a header comes to its end.
enum HeaderEnd {
    /// The message begins here.
    Message(usize),
    /// Something stands here that belongs neither to a header nor to a call.
    Other(usize),
    /// More text has to come.
    Open,
}

/// Reads a header, from `<|start|>` or `<|channel|>` to its message.
pub(super) fn next(sight: &Sight<'_>) -> Step {
    let (header, start) = match header_end(sight) {
        HeaderEnd::Message(start) => (sight.body.get(..start).unwrap_or_default(), start),
        HeaderEnd::Other(at) => return break_off(sight, at),
        HeaderEnd::Open if sight.complete() => return break_off(sight, sight.body.len()),
        HeaderEnd::Open => return Step::Wait,
    };
    match recipient(header) {
        Some(name) => Step::Become(Capture::Delimited(Delimited::new(Form::Harmony { name: name.to_owned() }, start))),
        // Arguments for nobody: a call that names its tool inside, or has to be asked for again.
        None if header.contains(TOKENS[2])
            && !header.contains("final")
            && sight.from(start).trim_ascii().is_empty() =>
        {
            sight.wait_or(Step::Turn(start, Channel::Text))
        }
        None if header.contains(TOKENS[2]) && !header.contains("final") && opens_object(sight, start) => {
            Step::Become(Capture::JsonCalls(JsonCalls::new(start)))
        }
        None => Step::Turn(start, channel(header)),
    }
}

fn opens_object(sight: &Sight<'_>, at: usize) -> bool {
    sight.from(at).trim_ascii_start().starts_with('{')
}

fn channel(header: &str) -> Channel {
    if header.contains("analysis") { Channel::Reasoning } else { Channel::Text }
}

/// A header without a message: the sentence is about it, or a call without arguments was made, or it carries nothing.
fn break_off(sight: &Sight<'_>, at: usize) -> Step {
    let header = sight.body.get(..at).unwrap_or_default();
    let words_follow = at < sight.body.len() && !sight.from(at).starts_with('<');
    match (recipient(header), talked_about(sight, header.trim_ascii_end().len())) {
        (None, Begins::Yes) => Step::Text,
        (None, Begins::Perhaps) => Step::Wait,
        (Some(name), _) => Step::call(at, TextCall { name: name.to_owned(), arguments: "{}".to_owned() }),
        (None, Begins::No) if words_follow && header.contains(CHANNEL) => Step::Turn(at, channel(header)),
        (None, Begins::No) => Step::Markup(at),
    }
}

fn header_end(sight: &Sight<'_>) -> HeaderEnd {
    let mut at = 0;
    loop {
        let begin = skip_whitespace(sight.body, at);
        let rest = sight.from(begin);
        let part = if rest.starts_with('<') { token(sight, begin) } else { word(sight, begin, at) };
        let addressed = || recipient(sight.body.get(..at).unwrap_or_default()).is_some();
        match part {
            _ if rest.is_empty() => return HeaderEnd::Open,
            _ if at > LONGEST_HEADER => return HeaderEnd::Other(at),
            _ if rest.starts_with(MESSAGE) => return HeaderEnd::Message(begin + MESSAGE.len()),
            Part::None if rest.starts_with(['{', '[']) && addressed() => return HeaderEnd::Message(begin),
            Part::None => return HeaderEnd::Other(at),
            Part::Open => return HeaderEnd::Open,
            Part::To(end) => at = end,
        }
    }
}

/// A part of a header, as far as it has arrived.
enum Part {
    /// It ends here.
    To(usize),
    Open,
    None,
}

fn token(sight: &Sight<'_>, at: usize) -> Part {
    match sight.begins_any(at, &[TOKENS[0], TOKENS[1], TOKENS[2], MESSAGE]) {
        Begins::Yes => Part::To(at + sight.from(at).find('>').map_or(0, |end| end + 1)),
        Begins::Perhaps => Part::Open,
        // Nothing more comes, and the text breaks off within a token.
        Begins::No if sight.ended() && !sight.from(at).contains('>') => Part::Open,
        Begins::No => Part::None,
    }
}

/// A word at `at`: any right behind a token, which ends at `token_end`; else one that headers are made of.
fn word(sight: &Sight<'_>, at: usize, token_end: usize) -> Part {
    let rest = sight.from(at);
    let length =
        rest.find(|sign: char| sign.is_ascii_whitespace() || matches!(sign, '<' | '{' | '[')).unwrap_or(rest.len());
    let word = rest.get(..length).unwrap_or_default();
    let adjacent = at == token_end && sight.body.get(..at).unwrap_or_default().ends_with('>');
    let known = WORDS.contains(&word) || ADDRESSES.iter().any(|start| word.starts_with(start));
    let at_end = length == rest.len();
    let grows = || WORDS.iter().chain(&ADDRESSES).any(|known| known.starts_with(word));
    match () {
        () if length == 0 || length > LONGEST_HEADER => Part::None,
        () if at_end && (adjacent || known || grows()) => Part::Open,
        () if adjacent || known => Part::To(at + length),
        () => Part::None,
    }
}

/// Reads the message that is the arguments of a call.
pub(super) fn read(name: &str, message: &str) -> TextCall {
    TextCall { name: name.to_owned(), arguments: message.trim_ascii().to_owned() }
}

/// The function a message is addressed to.
fn recipient(header: &str) -> Option<&str> {
    let (_, address) = header.split_once("to=")?;
    let length = address.find(|character| !is_name_character(character)).unwrap_or(address.len());
    let name = bare_name(address.get(..length)?);
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
