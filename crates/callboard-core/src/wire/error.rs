//! Errors as OpenAI clients read them: status, type, code, `param`, and the wording of every error that is not about one field
//! of a request. Errors about a field ([`BadRequest`]) are worded where the field is read.

use serde_json::json;

use super::near_names::unknown_name;
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

    /// A WebSocket that has been open for too long.
    #[must_use]
    pub fn socket_too_old() -> Self {
        let message = "this connection has reached timeouts.socket_life_seconds; open a new one and continue from a stored response, or send all input";
        Self::new(400, "websocket_connection_limit_reached", message)
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
            "there is no {method} {path}; Callboard serves /v1/chat/completions, /v1/responses, /v1/conversations, /v1/models, /v1/characters, /v1/traces, /health, /ready, /metrics, and passes /v1/embeddings and others through to model servers: the setting passthrough_paths adds more"
        );
        Self::new(404, "unknown_url", message)
    }

    /// A path that is not valid percent-encoded UTF-8.
    #[must_use]
    pub fn unreadable_path() -> Self {
        Self::new(400, "invalid_url", "the path is not valid percent-encoded UTF-8")
    }

    /// A path that exists and does not take this method.
    #[must_use]
    pub fn wrong_method(method: &str, path: &str) -> Self {
        Self::new(405, "method_not_allowed", format!("{path} does not take {method}"))
    }

    /// A model that no upstream serves. The nearest of the `known` names come first.
    #[must_use]
    pub fn model_not_found(model: &str, known: &[String]) -> Self {
        let mut error = Self::new(404, "model_not_found", unknown_name("the model", model, known));
        error.param = Some("model".to_owned());
        error
    }

    /// A model that does not take requests of this path.
    #[must_use]
    pub fn model_not_supported(what: &str, model: &str, path: &str) -> Self {
        let message = format!(
            "{model:?} is {what}, which takes /v1/chat/completions and /v1/responses; {path} needs a model of a model server: GET \
             /v1/models lists them"
        );
        let mut error = Self::new(400, "model_not_supported", message);
        error.param = Some("model".to_owned());
        error
    }

    /// A character that is not loaded.
    #[must_use]
    pub fn character_not_found(id: &str, known: &[String]) -> Self {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Self::new(404, "character_not_found", format!("there is no character {id:?}; loaded are: {known}"))
    }

    /// A character whose file cannot be loaded. No model answers under its name.
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

    /// A body that arrives too slowly.
    #[must_use]
    pub fn body_too_slow(seconds: f64) -> Self {
        let message = format!(
            "the request body did not come within {seconds} s, which is the limit timeouts.body_seconds; send it again"
        );
        Self::new(408, "request_timeout", message)
    }

    /// A client of HTTP/1.0 that closed its side before the reply.
    #[must_use]
    pub fn half_closed() -> Self {
        let message = "the client closed its side of the connection before the reply; send HTTP/1.1, or keep it open";
        Self::new(400, "connection_closed", message)
    }

    /// More concurrent requests than the limit.
    #[must_use]
    pub fn too_many_in_flight(limit: usize) -> Self {
        let message =
            format!("{limit} requests are being answered, which is the limit limits.in_flight; try again soon");
        Self::new(503, "overloaded", message).with_retry_after(1)
    }

    /// More work than one request may cost.
    #[must_use]
    pub fn too_much_work(seconds: f64) -> Self {
        let message =
            format!("the reply kept a thread busy for longer than the limit timeouts.busy_seconds of {seconds} s");
        Self::new(500, "too_much_work", message).not_to_be_retried()
    }

    /// More open WebSockets than the limit.
    #[must_use]
    pub fn too_many_sockets(limit: usize) -> Self {
        let message =
            format!("{limit} WebSockets are open, which is the limit limits.sockets; close one, or ask with POST");
        Self::new(503, "overloaded", message).with_retry_after(1)
    }

    /// The server stops before the reply is complete.
    #[must_use]
    pub fn stopping() -> Self {
        let message = "the server is stopping, and the reply did not become whole in time; send the request again";
        Self::new(503, "server_stopping", message).with_retry_after(1)
    }

    /// The server stops in the middle of a reply that the client has partly seen.
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
    pub fn upstream_unreachable(url: &str, reason: &str) -> Self {
        let message = format!("the model server at {url} cannot be reached: {reason}; is it running?");
        Self::new(503, "upstream_unavailable", message).with_retry_after(2)
    }

    /// None of the configured model servers answers.
    #[must_use]
    pub fn no_upstream_answers(urls: &str) -> Self {
        Self::new(503, "upstream_unavailable", format!("no model server answers: {urls}")).with_retry_after(2)
    }

    /// The model server took too long.
    #[must_use]
    pub fn upstream_timeout(what: &str, seconds: f64) -> Self {
        let message = format!("the model server sent nothing for {seconds} s ({what})");
        Self::new(504, "upstream_timeout", message).with_retry_after(2)
    }

    /// The model server's reply broke off or cannot be read.
    #[must_use]
    pub fn upstream_broken(what: &str) -> Self {
        Self::new(502, "upstream_error", format!("the model server's reply cannot be used: {what}"))
    }

    /// A response that is not stored.
    #[must_use]
    pub fn response_not_found(id: &str) -> Self {
        let message = format!("there is no response {id:?}; it was deleted, has expired, or was not stored");
        Self::new(404, "response_not_found", message)
    }

    /// A conversation that does not exist.
    #[must_use]
    pub fn conversation_not_found(id: &str) -> Self {
        let message = format!("there is no conversation {id:?}; make one with POST /v1/conversations");
        Self::new(404, "conversation_not_found", message)
    }

    /// A connection to `/v1/responses` that is no WebSocket.
    #[must_use]
    pub fn upgrade_required() -> Self {
        let message = "GET here opens a WebSocket; send the headers of an upgrade, or ask with POST";
        Self::new(426, "upgrade_required", message)
    }

    /// A request for a host name that is not this machine's, as a web page sends it that has changed its DNS entry.
    #[must_use]
    pub fn host_not_allowed(host: &str) -> Self {
        let message = format!(
            "the host {host:?} is not served without a key; use 127.0.0.1 or localhost, add the name to the setting hosts, or set api_keys"
        );
        Self::new(421, "host_not_allowed", message)
    }

    /// A request of a web page of another host.
    #[must_use]
    pub fn foreign_page() -> Self {
        let message = "web pages of other hosts may not connect here without a key; set api_keys, add the page's host to the setting \
                       hosts, or serve the page from this host";
        Self::new(403, "origin_not_allowed", message)
    }

    /// A body of a type that browsers send to other origins without asking.
    #[must_use]
    pub fn body_not_json(kind: &str) -> Self {
        let got = if kind.is_empty() { "none".to_owned() } else { format!("{kind:?}") };
        let message = format!(
            "the content-type must be application/json, and is {got}; send `content-type: application/json` (curl: -H 'content-type: \
             application/json')"
        );
        Self::new(415, "unsupported_media_type", message)
    }

    /// An item that is not in the conversation.
    #[must_use]
    pub fn item_not_found(id: &str, conversation: &str) -> Self {
        Self::new(404, "item_not_found", format!("the conversation {conversation:?} holds no item {id:?}"))
    }

    /// A response that cannot be cancelled, because only those in the background can.
    #[must_use]
    pub fn response_not_cancellable(id: &str) -> Self {
        let message = format!("the response {id:?} is not in the background; end its connection to stop it");
        Self::new(400, "response_not_cancellable", message)
    }

    /// A request that continues a response which is not stored.
    #[must_use]
    pub fn previous_response_not_found(id: &str) -> Self {
        let message = format!("there is no response {id:?} to continue; was it sent with \"store\": false?");
        BadRequest::at("previous_response_id", "previous_response_not_found", message).into()
    }

    /// A response that was deleted while the one that follows it was made.
    #[must_use]
    pub fn previous_response_deleted(id: &str) -> Self {
        let message = format!(
            "the response {id:?} was deleted while this one, which follows it, was made; nothing of it is stored: send the whole input anew"
        );
        BadRequest::at("previous_response_id", "previous_response_not_found", message).into()
    }

    /// A history over the size limit of a turn.
    #[must_use]
    pub fn history_too_large(history: &str, bytes: u64, limit: u64) -> Self {
        let (whose, remedy) = match history.split_once('_') {
            Some(("conv", _)) => (format!("{history:?}"), "delete items of it, or begin a new conversation"),
            Some(("resp", _)) => (format!("{history:?}"), "leave it out and send what matters of it as input"),
            _ => ("this conversation".to_owned(), "begin a new one"),
        };
        let message = format!(
            "the history of {whose} has at least {bytes} bytes, more than the limit limits.history_bytes of {limit} bytes; {remedy} \
             (nothing is left out by itself, also not with truncation \"auto\")"
        );
        Self::new(400, "context_length_exceeded", message)
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
