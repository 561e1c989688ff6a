//! Responses: errors as OpenAI bodies, JSON, and the headers that every reply carries.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use callboard_core::wire::ApiError;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};

pub(super) const CONTRACT: HeaderName = HeaderName::from_static("callboard-contract");
pub(super) const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Official SDKs read it before they retry a failed request.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
pub(super) const USAGE: HeaderName = HeaderName::from_static("callboard-usage");

/// The code of the error that a response is, for the log.
#[derive(Clone)]
pub(super) struct ErrorCode(pub(super) String);

/// An error response.
pub(super) fn error(error: &ApiError) -> Response {
    let mut response = json(error.to_json());
    *response.status_mut() = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    if error.no_retry {
        response.headers_mut().insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    }
    response.extensions_mut().insert(ErrorCode(error.code.clone()));
    response
}

/// What most handlers return.
pub(super) type HttpResult = Result<Response, HttpError>;

/// An error that becomes a response.
pub(super) struct HttpError(ApiError);

impl<E: Into<ApiError>> From<E> for HttpError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        error(&self.0)
    }
}

/// A JSON response.
pub(super) fn json(text: String) -> Response {
    with_type(Body::from(text), JSON)
}

/// A response of plain text.
pub(super) fn text(text: String) -> Response {
    with_type(Body::from(text), HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"))
}

/// A response with a body of some type.
pub(super) fn with_type(body: Body, kind: HeaderValue) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A header from words that Callboard made.
pub(super) fn header(words: &str) -> HeaderValue {
    HeaderValue::from_str(words).unwrap_or(HeaderValue::from_static("unreadable"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_whether_to_try_again() {
        let plain = ApiError::new(503, "x", "y");
        for (error, after, should) in [
            (plain.clone(), None, None),
            (plain.clone().with_retry_after(2), Some("2"), None),
            (plain.not_to_be_retried(), None, Some("false")),
        ] {
            let response = super::error(&error);
            let header = |name: &HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
            assert_eq!((header(&RETRY_AFTER), header(&SHOULD_RETRY)), (after, should));
        }
    }
}
