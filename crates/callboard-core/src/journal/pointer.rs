//! JSON Pointer (RFC 6901): the way to a place in a JSON value.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The way to a place: one token for each step down.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Pointer {
    tokens: Vec<String>,
}

/// Text that is no pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no JSON Pointer: it must be empty or start with \"/\", and \"~\" must be written as \"~0\"")]
pub struct BadPointer(String);

impl Pointer {
    /// The steps, unescaped.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The place one step further down.
    #[must_use]
    pub fn then(&self, token: impl fmt::Display) -> Self {
        let mut tokens = self.tokens.clone();
        tokens.push(token.to_string());
        Self { tokens }
    }
}

impl FromIterator<String> for Pointer {
    fn from_iter<T: IntoIterator<Item = String>>(tokens: T) -> Self {
        Self { tokens: tokens.into_iter().collect() }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tokens.iter().try_for_each(|token| write!(f, "/{}", token.replace('~', "~0").replace('/', "~1")))
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> Self {
        pointer.to_string()
    }
}

impl TryFrom<String> for Pointer {
    type Error = BadPointer;

    fn try_from(text: String) -> Result<Self, BadPointer> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let Some(tokens) = text.strip_prefix('/') else { return Err(BadPointer(text)) };
        let tokens = tokens.split('/').map(unescape).collect::<Option<Vec<_>>>();
        tokens.map(|tokens| Self { tokens }).ok_or(BadPointer(text))
    }
}

fn unescape(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.strip_prefix('0').map(|rest| ('~', rest)).or_else(|| Some(('/', part.strip_prefix('1')?)));
        let (character, rest) = rest?;
        text.push(character);
        text.push_str(rest);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_tokens_agree() {
        let cases: [(&str, Option<&[&str]>); 8] = [
            ("", Some(&[])),
            ("/", Some(&[""])),
            ("/a/0", Some(&["a", "0"])),
            ("/a~1b/~0/~01", Some(&["a/b", "~", "~1"])),
            ("//", Some(&["", ""])),
            ("a", None),
            ("/~", None),
            ("/~2", None),
        ];
        for (text, tokens) in cases {
            let read = Pointer::try_from(text.to_owned()).ok();
            let expected = tokens.map(|tokens| tokens.iter().map(|token| (*token).to_owned()).collect::<Pointer>());
            assert_eq!(read, expected, "{text}");
            if let Some(pointer) = read {
                assert_eq!(pointer.to_string(), text);
            }
        }
    }
}
