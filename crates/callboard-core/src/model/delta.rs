//! A model's reply in deltas, independent of the wire format.
//!
//! A reply that was not streamed becomes the same deltas, so that all later code has one path.

use serde_json::{Map, Value};

use super::{OtherFields, Usage};

/// One piece of a model's reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// Text for the user; may contain tool calls written as text.
    Text(String),
    /// The model's reasoning, from a separate field.
    Reasoning(String),
    /// The model's refusal to answer, from a separate field.
    Refusal(String),
    /// Token probabilities of the preceding text, passed on untouched.
    Logprobs(Value),
    /// A piece of a native tool call.
    Call(CallFragment),
    /// Why the model stopped.
    Finish(Finish),
    /// Token usage.
    Usage(Usage),
    /// Fields that Callboard does not know.
    Other(Box<OtherFields>),
}

/// A piece of a native tool call, as servers send it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallFragment {
    /// The slot the server names; missing, repeated and wrong ones occur.
    pub index: Option<u64>,
    /// The server's id; empty ones are read as none.
    pub id: Option<String>,
    /// The name, or a piece of it; empty ones are read as none.
    pub name: Option<String>,
    /// A piece of the arguments' text; an object is given as its JSON text.
    pub arguments: Option<String>,
    /// True when the arguments came as an object and not as text.
    pub object: bool,
    /// Fields of the call that Callboard does not know.
    pub other: Map<String, Value>,
    /// True for a complete call (of a reply that was not streamed): it is never merged with another.
    pub whole: bool,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The token limit cut it off.
    Length,
    /// It made tool calls.
    ToolCalls,
    /// The server withheld the rest.
    ContentFilter,
}

impl Finish {
    /// The word on the wire.
    #[must_use]
    pub fn as_word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
        }
    }
}
