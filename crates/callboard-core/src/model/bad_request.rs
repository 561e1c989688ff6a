//! A request that is rejected before anything is sent upstream: message, place and error code.

use thiserror::Error;

/// Why a request is refused. `param` is the exact place, such as `messages[2].tool_call_id`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct BadRequest {
    /// What is wrong and what to write instead.
    pub message: String,
    /// The place in the request, where there is one.
    pub param: Option<String>,
    /// A stable, machine-readable code.
    pub code: &'static str,
}

impl BadRequest {
    /// A refusal that points at a place.
    pub fn at(param: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self { message: message.into(), param: Some(param.into()), code }
    }

    /// A refusal of the request as a whole.
    pub fn whole(code: &'static str, message: impl Into<String>) -> Self {
        Self { message: message.into(), param: None, code }
    }

    /// A value that is present and not allowed.
    pub fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(param, "invalid_value", message)
    }

    /// A value of the wrong JSON type.
    pub fn wrong_type(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(param, "invalid_type", message)
    }

    /// A value that must be there and is not.
    pub fn missing(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(param, "missing_required_field", message)
    }
}
