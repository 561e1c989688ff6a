//! Items that Callboard appends to a conversation for a further request.

use super::CallId;

/// A message after the client's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The model's message: text, calls, or both.
    Assistant {
        /// Its text; empty for none.
        text: String,
        /// Its calls, in a form that every server accepts.
        calls: Vec<SpokenCall>,
    },
    /// The result of one of those calls.
    ToolResult {
        /// The call that is answered.
        id: CallId,
        /// The answer.
        text: String,
    },
    /// A message in the user's role, for replies without a call to answer.
    Remark(String),
}

/// A call as the model made it, sanitised so that a server accepts it in a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenCall {
    /// Callboard's id for it.
    pub id: CallId,
    /// Letters, digits, `_` and `-` only.
    pub name: String,
    /// Text of a JSON object.
    pub arguments: String,
}
