//! What reading arguments yields: the objects with the repairs that led to them, or the reason why there are none.
//!
//! The wording of every refusal is built here, so that a position always means the same thing: how many characters stand
//! before the place. Where the trouble is inside JSON that was itself encoded as a string, it counts in that inner text.

use serde_json::{Map, Value};

/// How deep objects and arrays of arguments may nest; both readers agree on it.
pub(super) const DEEPEST: usize = 64;

/// The longest piece of a model's own text that a message repeats.
const SHOWN: usize = 40;

/// The objects found in an `arguments` text, and how they were come by.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Normally exactly one; several where a model wrote `{…}{…}` for several calls.
    pub values: Vec<Map<String, Value>>,
    /// Each kind of repair once, in the order it was first needed; empty for strict JSON.
    pub repairs: Vec<JsonRepair>,
}

/// A slip in the text whose meaning is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JsonRepair {
    /// A Markdown code fence stands around the JSON.
    CodeFence,
    /// The object is inside a JSON string.
    EncodedTwice,
    /// Nothing, or `null`, stands for `{}`.
    Empty,
    /// A comma before `}` or `]`.
    TrailingComma,
    /// `'text'` for `"text"`.
    SingleQuotes,
    /// `True`, `False` or `None`.
    PythonLiteral,
    /// `{key: …}` for `{"key": …}`.
    UnquotedKey,
    /// A line break, tab or other control character inside a string.
    RawControlCharacter,
    /// A lone backslash, as in `"\d"`, that can only mean itself.
    InvalidEscape,
    /// The same key twice, with equal values.
    RepeatedEqualKey,
    /// Several objects, one after the other.
    Concatenated,
}

impl JsonRepair {
    /// The name used in headers, metrics and the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CodeFence => "code_fence",
            Self::EncodedTwice => "encoded_twice",
            Self::Empty => "empty",
            Self::TrailingComma => "trailing_comma",
            Self::SingleQuotes => "single_quotes",
            Self::PythonLiteral => "python_literal",
            Self::UnquotedKey => "unquoted_key",
            Self::RawControlCharacter => "raw_control_character",
            Self::InvalidEscape => "invalid_escape",
            Self::RepeatedEqualKey => "repeated_equal_key",
            Self::Concatenated => "concatenated",
        }
    }

    /// What is wrong, for a reader that repairs nothing.
    pub(super) fn complaint(self) -> &'static str {
        match self {
            Self::CodeFence => "a code fence stands around the JSON",
            Self::EncodedTwice => "the JSON is encoded twice",
            Self::Empty => "there is no JSON value",
            Self::TrailingComma => "a comma stands before the closing bracket",
            Self::SingleQuotes => "text must be in double quotes, not single quotes",
            Self::PythonLiteral => "write `true`, `false` or `null` in lower case",
            Self::UnquotedKey => "a key must be in double quotes",
            Self::RawControlCharacter => "a line break or control character in a string must be escaped",
            Self::InvalidEscape => "a backslash in a string must be written as `\\\\`",
            Self::RepeatedEqualKey => "a key appears twice",
            Self::Concatenated => "there is more than one JSON value",
        }
    }
}

/// Why a text cannot be read without guessing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Malformed {
    /// What is wrong and where, in words a model can act on.
    pub message: String,
    /// How many characters stand before the place.
    pub at: usize,
    /// Whether the text ended before its JSON did.
    pub cut_off: bool,
}

impl Malformed {
    /// Something is wrong at a byte position of `text`.
    pub(super) fn new(text: &str, position: usize, problem: &str) -> Self {
        let at = characters_before(text, position);
        Self { message: format!("{problem} (at character {at})"), at, cut_off: false }
    }

    /// The text ended where more was due.
    pub(super) fn cut_off(text: &str) -> Self {
        let at = characters_before(text, text.len());
        let message = format!("unexpected end: the JSON is cut off at character {at}");
        Self { message, at, cut_off: true }
    }
}

fn characters_before(text: &str, position: usize) -> usize {
    text.char_indices().take_while(|(start, _)| *start < position).count()
}

/// A piece of the model's text, short enough to be repeated in a message.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
