//! An error on its way to a client: status, type, code, `param` and message, as a body and as an event.

use serde_json::json;

use crate::contract::Violation;
use crate::model::BadRequest;

/// The families of errors that clients tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorType {
    /// The request must be changed. As with OpenAI's own servers, this includes what is not found.
    InvalidRequest,
    /// The key is missing or wrong.
    Authentication,
    /// The key is not allowed to do this.
    PermissionDenied,
    /// Too many requests.
    RateLimit,
    /// The server, or the model server behind it, failed.
    Server,
}

impl ErrorType {
    fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request_error",
            Self::Authentication => "authentication_error",
            Self::PermissionDenied => "permission_denied_error",
            Self::RateLimit => "rate_limit_error",
            Self::Server => "server_error",
        }
    }

    fn for_status(status: u16) -> Self {
        match status {
            401 => Self::Authentication,
            403 => Self::PermissionDenied,
            429 => Self::RateLimit,
            400..=499 => Self::InvalidRequest,
            _ => Self::Server,
        }
    }
}

/// An error on its way to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// The family.
    pub kind: ErrorType,
    /// What is wrong and what to do.
    pub message: String,
    /// The place in the request.
    pub param: Option<String>,
    /// A stable word for programs.
    pub code: String,
    /// Seconds to wait before a retry.
    pub retry_after: Option<u64>,
    /// Whether clients must not retry on their own, because a retry is harmful or pointless.
    pub no_retry: bool,
}

impl ApiError {
    /// An error with the family that belongs to its status.
    #[must_use]
    pub fn new(status: u16, code: impl Into<String>, message: impl Into<String>) -> Self {
        let (code, message) = (code.into(), message.into());
        Self {
            status,
            kind: ErrorType::for_status(status),
            message,
            param: None,
            code,
            retry_after: None,
            no_retry: false,
        }
    }

    /// The same error, with the seconds to wait before a retry.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same error with a `param`, unless it has one or is not the client's fault.
    #[must_use]
    pub fn about(mut self, param: &str) -> Self {
        if self.status < 500 {
            self.param.get_or_insert_with(|| param.to_owned());
        }
        self
    }

    /// The same error, not to be retried automatically.
    #[must_use]
    pub fn not_to_be_retried(mut self) -> Self {
        self.no_retry = true;
        self
    }

    /// The error body as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let error =
            json!({"message": self.message, "type": self.kind.as_str(), "param": self.param, "code": self.code});
        json!({"error": error}).to_string()
    }

    /// The error as an event of a stream that has begun.
    #[must_use]
    pub fn to_event(&self) -> String {
        format!("data: {}\n\n", self.to_json())
    }
}

impl From<BadRequest> for ApiError {
    fn from(refusal: BadRequest) -> Self {
        Self { param: refusal.param, ..Self::new(400, refusal.code, refusal.message) }
    }
}

impl From<&Violation> for ApiError {
    fn from(violation: &Violation) -> Self {
        let message = format!("the model broke the tool-call contract: {violation}");
        // The model was asked again already, as often as the settings allow.
        Self::new(502, violation.kind.code(), message).not_to_be_retried()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_body_has_all_four_keys_at_the_top() {
        let error: ApiError = BadRequest::missing("messages[2].tool_call_id", "missing").into();
        let value: serde_json::Value = serde_json::from_str(&error.to_json()).unwrap();
        assert_eq!(
            value,
            json!({"error": {"message": "missing", "type": "invalid_request_error", "param": "messages[2].tool_call_id",
                "code": "missing_required_field"}})
        );
        assert_eq!(ApiError::invalid_api_key().kind, ErrorType::Authentication);
    }
}
