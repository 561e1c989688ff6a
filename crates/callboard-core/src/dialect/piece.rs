//! The output of the reader, and how a text can end.

/// One piece of a model's text, in the order in which it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPiece {
    /// Text for the user, free of markup.
    Text(String),
    /// The model's reasoning.
    Reasoning(String),
    /// A tool call.
    Call(TextCall),
    /// A call that the token limit cut off; nothing of it is delivered.
    CutOffCall,
}

/// A tool call as the model wrote it: neither its name nor its arguments have been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCall {
    /// The tool's name; empty where the call, complete otherwise, names none.
    pub name: String,
    /// The text of a JSON object, possibly damaged. Families that write parameters as tags have
    /// every value here as a JSON string: only the tool's schema can tell a number from digits.
    pub arguments: String,
}

impl TextCall {
    pub(super) fn new(name: &str, arguments: &str) -> Self {
        Self { name: name.to_owned(), arguments: arguments.to_owned() }
    }

    pub(super) fn without_arguments(name: &str) -> Self {
        Self::new(name, "{}")
    }
}

/// How the text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEnd {
    /// The model stopped by itself.
    Complete,
    /// The token limit, or a fault, cut the text: an unfinished call is not delivered.
    CutByLimit,
    /// The model server delivered native calls beside this text: leftovers of their markup
    /// carry nothing.
    CallsBeside,
}
