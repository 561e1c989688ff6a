//! CORS: which web pages of other origins may read replies. Off without the setting `cors_origins`.
//!
//! The reply names the page's own origin. `*`, for any page, holds only while no API keys are configured: a page that asks its
//! user for a key is one that the operator knows.

use std::sync::Arc;

use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};

/// Any page.
const ANY: &str = "*";
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE, OPTIONS");
/// What a page may read besides the body.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "x-request-id, x-should-retry, retry-after, callboard-contract, callboard-usage, callboard-conversation",
);
/// How long a browser remembers the answer, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");
/// Browsers ask before a public page reaches a private address.
const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The origins from the setting.
#[derive(Clone)]
pub(super) struct CorsOrigins {
    origins: Arc<[String]>,
}

impl CorsOrigins {
    pub(super) fn new(origins: &[String]) -> Self {
        Self { origins: origins.into() }
    }

    /// The page that sent a request, if it may read the reply.
    pub(super) fn allowed(&self, headers: &HeaderMap, without_keys: bool) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        let written = origin.to_str().ok()?;
        let allows = |allowed: &String| allowed == ANY && without_keys || allowed.eq_ignore_ascii_case(written);
        self.origins.iter().any(allows).then(|| origin.clone())
    }
}

/// Whether a browser asks what a page may send.
pub(super) fn is_preflight<B>(request: &Request<B>) -> bool {
    *request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to a browser that asks.
pub(super) fn preflight(asked: &HeaderMap) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    if let Some(wanted) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    if asked.contains_key(REQUEST_PRIVATE_NETWORK) {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    response
}

/// Lets a page read a response.
pub(super) fn expose(response: &mut Response, page: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.append(VARY, HeaderValue::from_static("origin"));
}
