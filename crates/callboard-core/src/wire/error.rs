//! Errors as OpenAI clients read them: status, type, code, the exact place, and public wording, all in one file.

use serde_json::json;

use crate::contract::Violation;
use crate::model::BadRequest;

/// The families of errors that clients tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorType {
    /// The request must be changed; also where it names what is not there, as OpenAI's own servers say it.
    InvalidRequest,
    /// The key is missing or wrong.
    Authentication,
    /// The key is right and not allowed to do this.
    PermissionDenied,
    /// Too much at once.
    RateLimit,
    /// Something behind the request failed.
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
    /// Seconds after which another try makes sense.
    pub retry_after: Option<u64>,
    /// Whether clients must not send the same again by themselves: it would do harm, or nothing.
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

    /// The same error, with a time after which another try makes sense.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same error, told to be about this part of the request; what is not the client's fault is about none.
    #[must_use]
    pub fn about(mut self, param: &str) -> Self {
        if self.status < 500 {
            self.param.get_or_insert_with(|| param.to_owned());
        }
        self
    }

    /// The same error, not to be tried again without thought.
    #[must_use]
    pub fn not_to_be_retried(mut self) -> Self {
        self.no_retry = true;
        self
    }

    /// No key, or a wrong one.
    #[must_use]
    pub fn invalid_api_key() -> Self {
        Self::new(
            401,
            "invalid_api_key",
            "the API key is missing or wrong; send one of Callboard's keys as `Authorization: Bearer KEY`",
        )
    }

    /// A path that does not exist.
    #[must_use]
    pub fn unknown_path(method: &str, path: &str) -> Self {
        let message = format!(
            "there is no {method} {path}; Callboard serves /v1/chat/completions, /v1/responses, /v1/conversations, /v1/models, /v1/characters, /v1/traces, /health, /ready, /metrics"
        );
        Self::new(404, "unknown_url", message)
    }

    /// A path that no text can be read from.
    #[must_use]
    pub fn unreadable_path() -> Self {
        Self::new(400, "invalid_url", "the path is badly written; write letters as %XX, the bytes of UTF-8")
    }

    /// A path that exists and does not take this method.
    #[must_use]
    pub fn wrong_method(method: &str, path: &str) -> Self {
        Self::new(405, "method_not_allowed", format!("{path} does not take {method}"))
    }

    /// A model that no upstream serves.
    #[must_use]
    pub fn model_not_found(model: &str, known: &[String]) -> Self {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let mut error =
            Self::new(404, "model_not_found", format!("the model {model:?} does not exist; there are: {known}"));
        error.param = Some("model".to_owned());
        error
    }

    /// A character that is not on stage.
    #[must_use]
    pub fn character_not_found(id: &str, known: &[String]) -> Self {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Self::new(404, "character_not_found", format!("there is no character {id:?}; on stage are: {known}"))
    }

    /// A character whose file cannot be loaded. Nobody else answers under its name.
    #[must_use]
    pub fn character_not_loaded(id: &str) -> Self {
        let message = format!(
            "the file of the character {id:?} cannot be loaded; GET /v1/characters and `callboard check` tell what is wrong with it"
        );
        let mut error = Self::new(404, "character_not_loaded", message);
        error.param = Some("model".to_owned());
        error
    }

    /// A body over the limit.
    #[must_use]
    pub fn body_too_large(limit: usize) -> Self {
        Self::new(
            413,
            "request_too_large",
            format!("the request body is larger than the limit limits.body_bytes of {limit} bytes"),
        )
    }

    /// A body that does not come.
    #[must_use]
    pub fn body_too_slow(seconds: f64) -> Self {
        let message = format!(
            "the request body did not come within {seconds} s, which is the limit timeouts.body_seconds; send it again"
        );
        Self::new(408, "request_timeout", message)
    }

    /// More requests at once than this Callboard takes.
    #[must_use]
    pub fn too_many_in_flight(limit: usize) -> Self {
        let message =
            format!("{limit} requests are being answered, which is the limit limits.in_flight; try again soon");
        Self::new(503, "overloaded", message).with_retry_after(1)
    }

    /// The program ends before the reply is whole.
    #[must_use]
    pub fn stopping() -> Self {
        let message = "the server is stopping, and the reply did not become whole in time; send the request again";
        Self::new(503, "server_stopping", message).with_retry_after(1)
    }

    /// The program ends in the middle of a reply of which the client has seen something.
    #[must_use]
    pub fn stopping_midway() -> Self {
        let message = "the server is stopping, and the reply was cut off; what a character's tools changed before is kept, so look at \
                       what holds before you send the request again";
        Self::new(503, "server_stopping", message)
    }

    /// No model server is configured.
    #[must_use]
    pub fn no_upstream() -> Self {
        let message = "no model server is configured; start Callboard with --upstream URL, for instance http://127.0.0.1:11434/v1";
        Self::new(503, "no_upstream", message)
    }

    /// The model server cannot be reached.
    #[must_use]
    pub fn upstream_unreachable() -> Self {
        Self::new(
            503,
            "upstream_unavailable",
            "the model server cannot be reached; is it running at the configured URL?",
        )
        .with_retry_after(2)
    }

    /// The model server took too long.
    #[must_use]
    pub fn upstream_timeout(what: &str, seconds: f64) -> Self {
        let message = format!("the model server sent nothing for {seconds} s ({what})");
        Self::new(504, "upstream_timeout", message).with_retry_after(2)
    }

    /// The model server broke off, or sent what cannot be read.
    #[must_use]
    pub fn upstream_broken(what: &str) -> Self {
        Self::new(502, "upstream_error", format!("the model server's reply cannot be used: {what}"))
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
        Self::new(502, violation.kind.code(), message)
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
