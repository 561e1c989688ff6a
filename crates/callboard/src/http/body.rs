//! Request bodies: read whole, up to a limit of bytes and of time.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use callboard_core::wire::ApiError;
use http::header::{CONTENT_LENGTH, EXPECT};
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use crate::config::Settings;

/// Up to this multiple of the limit, a body that is too large is read and discarded before it is refused.
const READ_BEYOND: usize = 2;

/// The body of a request.
pub(super) async fn read_body(request: Request, settings: &Settings) -> Result<Vec<u8>, ApiError> {
    let (limit, time) = (settings.limits.body_bytes, settings.timeouts.body);
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        if !request.headers().contains_key(EXPECT) {
            discard(request.into_body(), limit.saturating_mul(READ_BEYOND), time).await;
        }
        return Err(ApiError::body_too_large(limit));
    }
    match timeout(time, to_bytes(request.into_body(), limit)).await {
        Ok(Ok(bytes)) => Ok(bytes.into()),
        Err(_) => Err(ApiError::body_too_slow(time.as_secs_f64())),
        Ok(Err(error)) if is_length_limit(&error) => Err(ApiError::body_too_large(limit)),
        Ok(Err(_)) => Err(ApiError::new(400, "incomplete_body", "the request body broke off before it was whole")),
    }
}

/// Reads a bounded rest: a client that sends everything before it reads would get a reset connection, not the refusal.
async fn discard(mut body: Body, most: usize, time: Duration) {
    let reading = async {
        let mut passed = 0_usize;
        while passed < most
            && let Some(Ok(frame)) = body.frame().await
        {
            passed = passed.saturating_add(frame.data_ref().map_or(0, |data| data.len()));
        }
    };
    let _ = timeout(time, reading).await;
}

fn is_length_limit(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
}
