//! The channels of gpt-oss, where a server passes them on as text.
//!
//! `<|start|>assistant<|channel|>analysis<|message|>…<|end|>` is reasoning, the channels `final` and
//! `commentary` are words for the user, and a header with `to=functions.name` makes the message the
//! arguments of a call. Models put the parts of a header in any order, and tokens where none belong.

use super::capture::Capture;
use super::delimited::{Delimited, Form};
use super::outlet::Channel;
use super::piece::TextCall;
use super::sight::{Sight, Step};
use super::tool_names::{bare_name, is_name_character};

const MESSAGE: &str = "<|message|>";
const LONGEST_HEADER: usize = 400;

/// Tokens that end a message.
pub(super) const ENDS: [&str; 5] = ["<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|channel|>"];

/// Tokens that end a header which never came to its message.
const BROKEN_OFF: [&str; 3] = ["<|end|>", "<|call|>", "<|return|>"];

/// Reads a header, from `<|start|>` or `<|channel|>` to `<|message|>`.
pub(super) fn next(sight: &Sight<'_>) -> Step {
    let window = sight.body.get(..sight.body.floor_char_boundary(LONGEST_HEADER)).unwrap_or_default();
    let Some(length) = memchr::memmem::find(window.as_bytes(), MESSAGE.as_bytes()) else {
        let broken_off = window.len() < sight.body.len() || BROKEN_OFF.iter().any(|end| window.contains(end));
        return if broken_off { Step::Markup(opening_length(window)) } else { Step::Wait };
    };
    let header = window.get(..length).unwrap_or_default();
    let start = length + MESSAGE.len();
    if BROKEN_OFF.iter().any(|end| header.contains(end)) {
        return Step::Markup(opening_length(sight.body));
    }
    match recipient(header) {
        Some(name) => Step::Become(Capture::Delimited(Delimited::new(Form::Harmony { name: name.to_owned() }, start))),
        None if header.contains("analysis") => Step::Turn(start, Channel::Reasoning),
        None => Step::Turn(start, Channel::Text),
    }
}

/// Reads the message that is the arguments of a call.
pub(super) fn read(name: &str, message: &str) -> TextCall {
    TextCall { name: name.to_owned(), arguments: message.trim_ascii().to_owned() }
}

fn opening_length(body: &str) -> usize {
    memchr::memchr(b'>', body.as_bytes()).map_or(body.len(), |at| at + 1)
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
