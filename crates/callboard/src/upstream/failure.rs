//! What can go wrong on the way to a model server, and what a client is told about it.

use std::time::Duration;

use callboard_core::wire::ApiError;
use callboard_core::wire::chat::adapt::Refusal;
use http::StatusCode;
use serde_json::Value;
use thiserror::Error;

/// Longer waits are the client's own decision.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Why a model server gave no usable reply. Inner details are for the log; `to_api` is what clients see.
#[derive(Debug, Error)]
pub enum Failure {
    /// No connection.
    #[error("cannot connect: {0}")]
    Unreachable(String),
    /// The connection broke while it was used.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// Nothing came in time.
    #[error("nothing came within {seconds} s ({phase})")]
    Timeout {
        /// What was waited for.
        phase: &'static str,
        /// How long.
        seconds: f64,
    },
    /// The server answered with an error.
    #[error("status {status}")]
    Refused {
        /// Its status.
        status: StatusCode,
        /// Its words, where it sent any.
        message: Option<String>,
        /// Its code.
        code: Option<String>,
        /// The place it names.
        param: Option<String>,
        /// When it wants to be asked again.
        retry_after: Option<u64>,
    },
}

impl Failure {
    /// Reads an error reply.
    pub(super) fn refused(status: StatusCode, retry_after: Option<u64>, body: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let error = value.get("error").unwrap_or(&value);
        let text = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
        let listed = ["message", "detail", "errors"].iter().find_map(|key| error.get(*key).or_else(|| value.get(*key)));
        let message = text("message")
            .or_else(|| error.as_str().map(str::to_owned))
            .or_else(|| listed.map(|words| words.as_str().map_or_else(|| words.to_string(), str::to_owned)));
        Self::Refused { status, message, code: text("code"), param: text("param"), retry_after }
    }

    /// True when the server refused the request itself.
    pub fn is_bad_request(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if *status == StatusCode::BAD_REQUEST || *status == StatusCode::UNPROCESSABLE_ENTITY)
    }

    /// True when the server is to blame, and another one might do better.
    pub fn is_the_servers(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Broken(_) | Self::Timeout { .. } => true,
            Self::Refused { status, .. } => status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// How long to wait before the same server is asked again; nothing when that makes no sense.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unreachable(_) => Some(Duration::from_millis(50)),
            Self::Refused { status, retry_after, .. } => {
                let busy = *status == StatusCode::TOO_MANY_REQUESTS || *status == StatusCode::SERVICE_UNAVAILABLE;
                let wait = Duration::from_secs(retry_after.unwrap_or(u64::from(busy)));
                (busy && wait <= LONGEST_WAIT).then_some(wait)
            }
            Self::Broken(_) | Self::Timeout { .. } => None,
        }
    }

    /// What a refusal says, for those who learn from it.
    pub fn refusal(&self) -> Option<Refusal<'_>> {
        let Self::Refused { status, message, code, param, .. } = self else { return None };
        let message = message.as_deref().unwrap_or_default();
        Some(Refusal { status: status.as_u16(), message, param: param.as_deref(), code: code.as_deref() })
    }

    /// A short word for metrics.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "unreachable",
            Self::Broken(_) => "broken",
            Self::Timeout { .. } => "timeout",
            Self::Refused { .. } => "refused",
        }
    }

    /// What the client is told.
    pub fn to_api(&self) -> ApiError {
        match self {
            Self::Unreachable(_) => ApiError::upstream_unreachable(),
            Self::Broken(_) => ApiError::upstream_broken("the connection broke before it was whole"),
            Self::Timeout { phase, seconds } => ApiError::upstream_timeout(phase, *seconds),
            Self::Refused { status, message, code, param, retry_after } => {
                refusal(*status, message.as_deref(), code.as_deref(), param.clone(), *retry_after)
            }
        }
    }
}

/// Client errors keep their status; failures of the server become 502, or stay 503 and 504.
fn refusal(
    status: StatusCode,
    message: Option<&str>,
    code: Option<&str>,
    param: Option<String>,
    retry_after: Option<u64>,
) -> ApiError {
    let theirs = status.as_u16();
    let status = match theirs {
        422 => 400,
        known @ (400 | 401 | 403 | 404 | 408 | 409 | 413 | 429 | 503 | 504) => known,
        _ => 502,
    };
    let words = message.unwrap_or("no reason was given");
    let mut error =
        ApiError::new(status, code.unwrap_or("upstream_error"), format!("the model server answered {theirs}: {words}"));
    error.param = param;
    error.retry_after = retry_after.or((status == 429 || status >= 503).then_some(1));
    error
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let failure =
                Failure::refused(StatusCode::from_u16(theirs).unwrap(), None, b"{\"error\":{\"message\":\"why\"}}");
            let error = failure.to_api();
            assert_eq!(error.status, ours, "{theirs}");
            assert!(error.message.ends_with("why"));
        }
    }

    #[test]
    fn words_are_found_in_the_usual_places() {
        for body in [
            "{\"error\":{\"message\":\"why\"}}",
            "{\"message\":\"why\"}",
            "{\"detail\":\"why\"}",
            "{\"error\":\"why\"}",
        ] {
            let error = Failure::refused(StatusCode::BAD_REQUEST, None, body.as_bytes()).to_api();
            assert_eq!(error.message, "the model server answered 400: why", "{body}");
        }
        let odd = Failure::refused(StatusCode::TOO_MANY_REQUESTS, Some(7), b"<html>").to_api();
        assert_eq!((odd.retry_after, odd.code.as_str()), (Some(7), "upstream_error"));
    }
}
