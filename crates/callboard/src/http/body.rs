//! Request bodies: read whole, up to a limit.

use axum::body::to_bytes;
use axum::extract::Request;
use callboard_core::wire::ApiError;
use http::header::CONTENT_LENGTH;

/// The body of a request.
pub(super) async fn read_body(request: Request, limit: usize) -> Result<Vec<u8>, ApiError> {
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(ApiError::body_too_large(limit));
    }
    match to_bytes(request.into_body(), limit).await {
        Ok(bytes) => Ok(bytes.into()),
        Err(error) if is_length_limit(&error) => Err(ApiError::body_too_large(limit)),
        Err(_) => Err(ApiError::new(400, "incomplete_body", "the request body broke off before it was whole")),
    }
}

fn is_length_limit(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
}
