//! Failures of requests to model servers, and the errors that clients see for them.

use std::time::Duration;

use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ReplyFault;
use callboard_core::wire::chat::adapt::Refusal;
use http::StatusCode;
use thiserror::Error;

use super::ErrorReply;

/// A longer message is cut before it is passed on.
const MOST_MESSAGE_BYTES: usize = 2000;
/// The same for the log.
const MOST_LOGGED_BYTES: usize = 300;

/// Longer waits are left to the client.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Why a model server gave no usable reply. The details are for the log; `to_api` is what clients see.
#[derive(Debug, Error)]
pub enum Failure {
    /// No connection.
    #[error("cannot connect: {reason}")]
    Unreachable {
        /// The server; empty until it is known.
        url: String,
        /// Why.
        reason: String,
    },
    /// A server that Callboard starts does not run.
    #[error("model server {server} is not running: {reason}")]
    NotRunning {
        /// Its name.
        server: String,
        /// Why.
        reason: String,
    },
    /// The connection broke while it was used.
    #[error("connection broken: {0}")]
    Broken(String),
    /// A reused connection broke before any of the body had come.
    #[error("pooled connection broken: {0}")]
    Stale(String),
    /// The reply cannot be used.
    #[error("unusable reply: {0}")]
    Unusable(String),
    /// A stream without a single event.
    #[error("empty stream")]
    Empty,
    /// A timeout.
    #[error("timed out after {seconds} s ({phase})")]
    Timeout {
        /// What was waited for.
        phase: &'static str,
        /// How long.
        seconds: f64,
    },
    /// The server answered with an error.
    #[error("status {}{}", .status.as_u16(), logged_reason(*.status, .reply))]
    Refused {
        /// Its status.
        status: StatusCode,
        /// Its error.
        reply: ErrorReply,
        /// Seconds after which it may be retried.
        retry_after: Option<u64>,
    },
}

impl Failure {
    /// No connection, to a server that [`Failure::at`] names.
    pub(super) fn unreachable(reason: &str) -> Self {
        Self::Unreachable { url: String::new(), reason: reason.to_owned() }
    }

    /// The same failure, of the server at this URL.
    #[must_use]
    pub fn at(self, url: &str) -> Self {
        match self {
            Self::Unreachable { reason, .. } => Self::Unreachable { url: url.to_owned(), reason },
            other => other,
        }
    }

    /// True when the server refused the request itself.
    pub fn is_bad_request(&self) -> bool {
        matches!(self, Self::Refused { status, reply, .. } if is_bad_request(*status, reply))
    }

    /// True when the server is at fault, and another one might succeed.
    pub fn is_upstream_fault(&self) -> bool {
        match self {
            Self::Refused { status, reply, .. } => is_fault(*status, reply),
            _ => true,
        }
    }

    /// How long to wait before a retry at the same server; none when a retry is pointless.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unreachable { .. } => Some(Duration::from_millis(50)),
            Self::Refused { status, retry_after, .. } => {
                let busy = matches!(status.as_u16(), 429 | 503 | 529);
                let stated = retry_after.filter(|_| self.is_upstream_fault());
                let wait = Duration::from_secs(stated.or(busy.then_some(1))?);
                (wait <= LONGEST_WAIT).then_some(wait)
            }
            _ => None,
        }
    }

    /// True when the connection failed, as it does when the server ends.
    pub(super) fn is_lost_connection(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Broken(_) | Self::Stale(_))
    }

    /// The error reply, to learn quirks from.
    pub fn refusal(&self) -> Option<Refusal<'_>> {
        let Self::Refused { status, reply: ErrorReply { message, code, param, .. }, .. } = self else { return None };
        let message = message.as_deref().unwrap_or_default();
        Some(Refusal { status: status.as_u16(), message, param: param.as_deref(), code: code.as_deref() })
    }

    /// The label in metrics and traces.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } | Self::NotRunning { .. } => "unreachable",
            Self::Broken(_) | Self::Stale(_) | Self::Unusable(_) | Self::Empty => "broken",
            Self::Timeout { .. } => "timeout",
            Self::Refused { .. } => "refused",
        }
    }

    /// The error for the client.
    pub fn to_api(&self) -> ApiError {
        match self {
            Self::Unreachable { url, reason } => ApiError::upstream_unreachable(url, reason),
            Self::NotRunning { server, reason } => ApiError::upstream_not_running(server, reason),
            Self::Broken(_) | Self::Stale(_) => ApiError::upstream_broken("the connection broke before it was whole"),
            Self::Unusable(words) => ApiError::upstream_broken(words),
            Self::Empty => ApiError::upstream_broken(&ReplyFault::NoEvents.to_string()),
            Self::Timeout { phase, seconds } => ApiError::upstream_timeout(phase, *seconds),
            Self::Refused { status, reply, retry_after } => {
                let known = if self.is_bad_request() { 400 } else { known_status(status.as_u16()) };
                refusal(known, status.as_u16(), reply, *retry_after)
            }
        }
    }
}

fn is_bad_request(status: StatusCode, reply: &ErrorReply) -> bool {
    match status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => true,
        // Some servers answer 500 to a request that does not match their schema.
        StatusCode::INTERNAL_SERVER_ERROR => reply.is_validation_error(),
        _ => false,
    }
}

fn is_fault(status: StatusCode, reply: &ErrorReply) -> bool {
    let is_busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
    (status.is_server_error() || is_busy) && !is_bad_request(status, reply)
}

/// The server's reason, where the fault is its own: what it says about a request may quote the user.
fn logged_reason(status: StatusCode, reply: &ErrorReply) -> String {
    let reason = reply.message.as_deref().filter(|_| is_fault(status, reply));
    reason.map_or_else(String::new, |reason| format!(": {}", in_one_line(reason)))
}

/// The beginning of a message, without line breaks.
fn in_one_line(message: &str) -> String {
    let cut = message.get(..message.floor_char_boundary(MOST_LOGGED_BYTES)).unwrap_or_default();
    let mut line =
        cut.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect::<Vec<_>>().join(" ");
    if cut.len() < message.len() {
        line.push('…');
    }
    line
}

/// The message of a fault goes to the client; the log gets its kind, and the reason of an error that is the server's own.
impl From<&ReplyFault> for Failure {
    fn from(fault: &ReplyFault) -> Self {
        match fault {
            ReplyFault::NoEvents => Self::Empty,
            ReplyFault::Reported { message, status: Some(status @ 400..=499) } => {
                let reply = ErrorReply { message: Some(message.clone()), ..ErrorReply::default() };
                let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_REQUEST);
                Self::Refused { status, reply, retry_after: None }
            }
            ReplyFault::Reported { message, .. } => {
                Self::Unusable(format!("{}: {}", fault.kind(), in_one_line(message)))
            }
            _ => Self::Unusable(fault.kind().to_owned()),
        }
    }
}

/// Client errors keep their status; failures of the server become 502, or stay 503 and 504.
fn known_status(theirs: u16) -> u16 {
    match theirs {
        known @ (400 | 401 | 403 | 404 | 408 | 409 | 413 | 429 | 503 | 504) => known,
        _ => 502,
    }
}

fn refusal(status: u16, theirs: u16, reply: &ErrorReply, retry_after: Option<u64>) -> ApiError {
    let words = reply.message.as_deref().unwrap_or("no reason was given");
    let words = words.get(..words.floor_char_boundary(MOST_MESSAGE_BYTES)).unwrap_or_default();
    let code = reply.code.as_deref().unwrap_or(if status == 404 && names_no_model(words) {
        "model_not_found"
    } else {
        "upstream_error"
    });
    let mut error = ApiError::new(status, code, format!("the model server answered {theirs}: {words}"));
    error.param.clone_from(&reply.param);
    error.retry_after = retry_after.or((status == 429 || status >= 503).then_some(1));
    error
}

/// Whether a message says that there is no such model: many servers give a number as the code, or none.
fn names_no_model(message: &str) -> bool {
    let message = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|part| message.contains(part));
    says(&["model"]) && says(&["not found", "not exist", "no such", "unknown", "not available"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_model_has_its_code() {
        for (body, code) in [
            (r#"{"error":{"message":"no","code":"own_code"}}"#, "own_code"),
            (
                r#"{"error":{"message":"The model `x` does not exist.","type":"NotFoundError","code":404}}"#,
                "model_not_found",
            ),
            (r#"{"error":{"message":"model 'x' not found","code":null}}"#, "model_not_found"),
            (r#"{"error":"model \"x\" not found, try pulling it first"}"#, "model_not_found"),
            (r#"{"detail":"Not Found"}"#, "upstream_error"),
        ] {
            let error = refused(404, body).to_api();
            assert_eq!((error.status, error.code.as_str()), (404, code), "{body}");
        }
    }

    #[test]
    fn only_reasons_of_the_server_itself_are_logged() {
        for (status, body, logged) in [
            (
                500,
                r#"{"error":{"message":"CUDA out of memory.\nTried to allocate"}}"#,
                "status 500: CUDA out of memory. Tried to allocate",
            ),
            (503, "Loading model", "status 503: Loading model"),
            (503, "{}", "status 503"),
            (400, r#"{"error":{"message":"my secret is no number"}}"#, "status 400"),
            (401, r#"{"error":{"message":"wrong key sk-1"}}"#, "status 401"),
            (422, r#"{"detail":"my secret"}"#, "status 422"),
        ] {
            assert_eq!(refused(status, body).to_string(), logged);
        }
        let long = refused(500, &"é".repeat(1000)).to_string();
        assert!(long.ends_with("é…") && long.len() < 400, "{long}");
        let fault = ReplyFault::Reported { message: "CUDA out of memory".to_owned(), status: None };
        assert!(Failure::from(&fault).to_string().ends_with("within its reply: CUDA out of memory"));
    }

    fn refused(status: u16, body: &str) -> Failure {
        let status = StatusCode::from_u16(status).unwrap();
        Failure::Refused { status, reply: ErrorReply::read(body.as_bytes()), retry_after: None }
    }

    #[test]
    fn statuses_keep_their_class() {
        let table = [
            (400, 400),
            (401, 401),
            (404, 404),
            (422, 400),
            (429, 429),
            (500, 502),
            (502, 502),
            (503, 503),
            (504, 504),
            (418, 502),
        ];
        for (theirs, ours) in table {
            let error = refused(theirs, r#"{"error":{"message":"why"}}"#).to_api();
            assert_eq!(error.status, ours, "{theirs}");
            assert_eq!(error.message, format!("the model server answered {theirs}: why"));
        }
        let long = refused(400, &format!(r#"{{"detail":"{}"}}"#, "é".repeat(9000))).to_api();
        assert!(long.message.len() < MOST_MESSAGE_BYTES + 100);
    }

    #[test]
    fn an_invalid_request_is_not_an_upstream_fault() {
        let list = r#"{"error":{"message":"1 validation error:\n  {'loc': ('body', 'n'), 'msg': 'no'}"}}"#;
        let response = r#"{"error":{"message":"1 validation error:\n  {'loc': ('response', 'n'), 'msg': 'no'}"}}"#;
        for (status, body, bad_request) in
            [(500, list, true), (500, response, false), (500, "{}", false), (503, list, false), (422, "{}", true)]
        {
            let failure = refused(status, body);
            assert_eq!(
                (failure.is_bad_request(), failure.is_upstream_fault()),
                (bad_request, !bad_request),
                "{status} {body}"
            );
            assert_eq!(failure.to_api().status == 400, bad_request, "{status} {body}");
        }
    }
}
