//! A tag, a control token or a word in brackets, of whatever spelling: `<name key="value">`, `</ns:name>`, `<|name|>`,
//! `<｜｜name｜｜>`, `[NAME]`, `[/NAME]`.

use super::input::{Incomplete, ReadResult};

/// Longer ones are text.
const LONGEST: usize = 256;

/// What Kimi K3 writes for `<`, `</` and `>`.
const TOKENS: (&str, &str, &str) = ("<|open|>", "<|close|>", "<|sep|>");

/// A tag at the beginning of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'a> {
    pub(super) length: usize,
    /// All between the brackets, without bars and slashes at both ends.
    inside: &'a str,
    pub(super) closing: bool,
    /// It ends with a slash, so it has no content.
    pub(super) empty: bool,
    /// It begins with a bar, so it is a token.
    pub(super) barred: bool,
    pub(super) bracket: bool,
}

impl<'a> Tag<'a> {
    /// Reads the tag that `text` begins with, if it is one.
    pub(super) fn read(text: &'a str, ended: bool) -> ReadResult<Option<Self>> {
        if let Some(tag) = Self::in_tokens(text) {
            return Ok(Some(tag));
        }
        if !ended
            && text.len() < LONGEST
            && [TOKENS.0, TOKENS.1].iter().any(|open| open.starts_with(text) || text.starts_with(open))
        {
            return Err(Incomplete);
        }
        let bracket = text.starts_with('[');
        let length = match end_of_tag(text, bracket) {
            Ok(Some(length)) => length,
            Err(Incomplete) if !ended && text.len() < LONGEST => return Err(Incomplete),
            _ => return Ok(None),
        };
        let all = text.get(1..length - 1).unwrap_or_default();
        let inside = all.trim_matches(is_frame).trim();
        let before = all.trim_start_matches(is_frame);
        let opening = all.get(..all.len() - before.len()).unwrap_or_default();
        Ok((!inside.is_empty()).then_some(Self {
            length,
            inside,
            closing: opening.contains('/'),
            empty: all.ends_with('/'),
            barred: opening.contains(is_bar),
            bracket,
        }))
    }

    /// A tag whose brackets are tokens: `<|open|>name key="value"<|sep|>`.
    fn in_tokens(text: &'a str) -> Option<Self> {
        let (opens, closes) = (text.strip_prefix(TOKENS.0), text.strip_prefix(TOKENS.1));
        let all = opens.or(closes)?;
        let window = all.get(..all.floor_char_boundary(LONGEST)).unwrap_or_default();
        let inside = window.split_once(TOKENS.2).map(|(inside, _)| inside)?;
        let is_name = !inside.contains(['<', '\n']) && !inside.trim().is_empty();
        is_name.then_some(Self {
            length: text.len() - all.len() + inside.len() + TOKENS.2.len(),
            inside: inside.trim(),
            closing: opens.is_none(),
            empty: false,
            barred: false,
            bracket: false,
        })
    }

    /// Whether the text ends within a tag.
    pub(super) fn breaks_off(text: &str) -> bool {
        text.len() < LONGEST && end_of_tag(text, text.starts_with('[')).is_err()
    }

    /// Whether this is a token, and not an element with bars in its name.
    pub(super) fn is_token(&self) -> bool {
        self.barred && self.attributes().is_empty()
    }

    /// The name of the tag without prefixes: the last part of its first word.
    pub(super) fn element(&self) -> &'a str {
        let before_values = self.inside.split(['"', '\'']).next().unwrap_or_default();
        let own = before_values.rsplit(is_bar).next().unwrap_or_default().trim_start();
        let first = own.split(|character: char| character.is_whitespace() || character == '=').next();
        first.unwrap_or_default().rsplit(':').next().unwrap_or_default()
    }

    /// The name of the tag with its prefixes.
    pub(super) fn name(&self) -> &'a str {
        self.inside.split(['=', '"', '\'']).next().unwrap_or_default()
    }

    /// Everything in the tag that may be a name: its own, and its values.
    pub(super) fn words(&self) -> impl Iterator<Item = &'a str> {
        let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.');
        self.inside.split(move |character| !is_part(character)).filter(|word| !word.is_empty())
    }

    /// The attributes: keys, and values without quotes. `name=value` alone is one as well.
    pub(super) fn attributes(&self) -> Vec<(&'a str, &'a str)> {
        let mut attributes = Vec::new();
        let mut rest = self.inside;
        while let Some((before, after)) = rest.split_once('=') {
            let key = before
                .rsplit(|character: char| character.is_whitespace() || matches!(character, '|' | '｜' | ','))
                .find(|key| !key.is_empty());
            let after = after.trim_ascii_start();
            let quote = after.chars().next().filter(|first| matches!(first, '"' | '\''));
            let (value, behind) = match quote {
                Some(quote) => after.get(1..).and_then(|inside| inside.split_once(quote)).unwrap_or((after, "")),
                None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
            };
            attributes.extend(key.map(|key| (key, value)));
            rest = behind;
        }
        attributes
    }
}

fn is_bar(character: char) -> bool {
    matches!(character, '|' | '｜')
}

fn is_frame(character: char) -> bool {
    is_bar(character) || character == '/' || character == ' '
}

/// The length of the tag. It begins with a letter after its bars, and holds no other tag.
fn end_of_tag(text: &str, bracket: bool) -> ReadResult<Option<usize>> {
    let mut quote = None;
    let mut named = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if at > LONGEST => return Ok(None),
            ' ' if at == 1 => match text.get(2..).and_then(|rest| rest.chars().next()) {
                None => return Err(Incomplete),
                Some(next) if is_bar(next) || next == '/' => {}
                Some(_) => return Ok(None),
            },
            _ if !named && is_frame(character) => {}
            _ if !(named || character.is_alphabetic() || character == '_') => return Ok(None),
            _ if quote.is_some() => quote = quote.filter(|quote| *quote != character),
            '>' if !bracket => return Ok(Some(at + 1)),
            ']' if bracket => return Ok(Some(at + 1)),
            '"' if !bracket => quote = Some('"'),
            '<' | '{' | '[' | '(' | '`' => return Ok(None),
            '\n' if bracket || !text.get(..at).unwrap_or_default().contains('=') => return Ok(None),
            _ if bracket && !(character.is_alphanumeric() || "_ -:/.|".contains(character)) => return Ok(None),
            _ => {}
        }
        named |= !is_frame(character);
    }
    Err(Incomplete)
}

/// Whether the text that begins with `<` may be a tag and not a comparison in a sentence: a second word in it has a value.
pub(super) fn may_be_tag(text: &str) -> bool {
    let inside = text.get(1..text.floor_char_boundary(LONGEST)).unwrap_or_default();
    let mut words = inside.split([' ', '\t']);
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    first.contains(['>', '='])
        || second.is_none_or(|second| second.is_empty() || second.contains(['=', '>', '/']) || words.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_in_any_spelling() {
        for (text, element, closing) in [
            ("<a>", "a", false),
            ("</seed:tool_call> x", "tool_call", true),
            ("<|plugin|>", "plugin", false),
            ("<|/plugin|>", "plugin", true),
            ("<｜｜DSML｜｜invoke name=\"f\">", "invoke", false),
            ("<||DSML| |invoke name=\"f\">", "invoke", false),
            ("<function=get_weather>", "function", false),
            ("<get_weather city=\"a > b\"/>", "get_weather", false),
            ("[TOOL_REQUEST]", "TOOL_REQUEST", false),
            ("[/TOOL_REQUEST]", "TOOL_REQUEST", true),
            ("[Tool: f]", "Tool", false),
        ] {
            let tag = Tag::read(text, true).unwrap().unwrap();
            if !element.is_empty() && element != "Tool" {
                assert_eq!(tag.element(), element, "{text}");
            }
            assert_eq!(tag.closing, closing, "{text}");
        }
        for text in ["< a>", "<1>", "<a <b>", "<a\nb>", "<>", "[1]", "[ ]", "[a, b]", "[a](b", "<a", "[]"] {
            let read = Tag::read(text, true).unwrap();
            assert!(read.is_none() || text == "[a](b", "{text}: {read:?}");
        }
    }

    #[test]
    fn attributes_are_read() {
        let tag = Tag::read("<tool name=\"get weather\" city='Paris' days=3/>", true).unwrap().unwrap();
        assert_eq!(tag.attributes(), [("name", "get weather"), ("city", "Paris"), ("days", "3")]);
        assert_eq!(Tag::read("<parameter=city>", true).unwrap().unwrap().attributes(), [("parameter", "city")]);
    }
}
