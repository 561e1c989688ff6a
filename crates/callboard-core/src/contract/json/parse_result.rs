//! The result of reading arguments: the objects with the repairs that led to them, or why there are none.
//!
//! Every error message is built here, so that a position always counts the characters before it. For JSON
//! encoded as a string, it counts in the inner text.

use serde_json::{Map, Value};

/// How deep objects and arrays of arguments may nest; both readers agree on it.
pub(super) const DEEPEST: usize = 64;

/// The longest piece of a model's own text that a message repeats.
const SHOWN: usize = 40;

/// The objects in an `arguments` text, and the repairs made.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedArguments {
    /// Normally exactly one; several where a model wrote `{…}{…}` for several calls.
    pub values: Vec<Map<String, Value>>,
    /// Each kind of repair once, in the order it was first needed; empty for strict JSON.
    pub repairs: Vec<JsonRepair>,
}

/// An unambiguous slip in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JsonRepair {
    /// A Markdown code fence encloses the JSON.
    CodeFence,
    /// The object is inside a JSON string.
    EncodedTwice,
    /// An empty text or `null` for `{}`.
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
    /// A lone backslash, as in `"\d"`, kept literally.
    InvalidEscape,
    /// The same key twice, with equal values.
    RepeatedEqualKey,
    /// Several objects, one after the other.
    Concatenated,
    /// The same object, more than once.
    RepeatedObject,
}

impl JsonRepair {
    /// The name used in headers, metrics and traces.
    pub fn as_str(self) -> &'static str {
        self.wording().0
    }

    /// The error message in strict mode.
    pub(super) fn complaint(self) -> &'static str {
        self.wording().1
    }

    /// The name, and the complaint.
    fn wording(self) -> (&'static str, &'static str) {
        match self {
            Self::CodeFence => ("code_fence", "a code fence stands around the JSON"),
            Self::EncodedTwice => ("encoded_twice", "the JSON is encoded twice"),
            Self::Empty => ("empty", "there is no JSON value"),
            Self::TrailingComma => ("trailing_comma", "a comma stands before the closing bracket"),
            Self::SingleQuotes => ("single_quotes", "text must be in double quotes, not single quotes"),
            Self::PythonLiteral => ("python_literal", "write `true`, `false` or `null` in lower case"),
            Self::UnquotedKey => ("unquoted_key", "a key must be in double quotes"),
            Self::RawControlCharacter => {
                ("raw_control_character", "a line break or control character in a string must be escaped")
            }
            Self::InvalidEscape => ("invalid_escape", "a backslash in a string must be written as `\\\\`"),
            Self::RepeatedEqualKey => ("repeated_equal_key", "a key appears twice"),
            Self::Concatenated => ("concatenated", "there is more than one JSON value"),
            Self::RepeatedObject => ("repeated_object", "the same object is written more than once"),
        }
    }
}

/// Why a text cannot be read without guessing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MalformedJson {
    /// What is wrong and where, in words that a model can act on.
    pub message: String,
    /// How many characters precede the fault.
    pub at: usize,
    /// Whether the text ended before its JSON did.
    pub cut_off: bool,
}

impl MalformedJson {
    /// An error at a byte position of `text`.
    pub(super) fn new(text: &str, position: usize, problem: &str) -> Self {
        let at = characters_before(text, position);
        Self { message: format!("{problem} (at character {at})"), at, cut_off: false }
    }

    /// The text ended too early.
    pub(super) fn cut_off(text: &str) -> Self {
        let at = characters_before(text, text.len());
        let message = format!("unexpected end: the JSON is cut off at character {at}");
        Self { message, at, cut_off: true }
    }
}

fn characters_before(text: &str, position: usize) -> usize {
    text.char_indices().take_while(|(start, _)| *start < position).count()
}

/// A piece of the model's text, shortened for a message.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
