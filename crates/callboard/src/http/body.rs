//! Request bodies: read whole, up to a limit of bytes and of time, within the memory budget.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use callboard_core::wire::ApiError;
use http::header::{CONTENT_LENGTH, EXPECT};
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use super::router::Shared;
use crate::memory_budget::RequestMemory;

/// Up to this multiple of the limit, a body that is refused is read and discarded first.
const READ_BEYOND: usize = 2;

/// A body, and the memory that its request takes.
pub(super) struct RequestBody {
    pub(super) bytes: Vec<u8>,
    pub(super) memory: RequestMemory,
}

/// The body of a request, which will be parsed.
pub(super) async fn read_body(request: Request, shared: &Shared) -> Result<RequestBody, ApiError> {
    let body = read_raw_body(request, shared).await?;
    body.memory.grow_for_json(&body.bytes, body.bytes.len())?;
    Ok(body)
}

/// The body of a request that is passed on as it is.
pub(super) async fn read_raw_body(request: Request, shared: &Shared) -> Result<RequestBody, ApiError> {
    let settings = &shared.app.settings;
    let (limit, time) = (settings.limits.body_bytes, settings.timeouts.body);
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    let is_waiting = request.headers().contains_key(EXPECT);
    let mut body = request.into_body();
    let memory = shared.app.memory.start();
    let read = match announced {
        Some(length) if length > limit => Err(ApiError::body_too_large(limit)),
        length => {
            let whole = collect(&mut body, length.unwrap_or_default(), limit, memory);
            timeout(time, whole).await.unwrap_or_else(|_| Err(ApiError::body_too_slow(time.as_secs_f64())))
        }
    };
    if read.as_ref().is_err_and(|error| matches!(error.status, 413 | 503)) && !is_waiting {
        discard(body, limit.saturating_mul(READ_BEYOND), time).await;
    }
    read
}

async fn collect(body: &mut Body, length: usize, limit: usize, memory: RequestMemory) -> Result<RequestBody, ApiError> {
    let mut bytes = Vec::with_capacity(length);
    while let Some(frame) = body.frame().await {
        let broken = |_| ApiError::new(400, "incomplete_body", "the request body broke off before it was whole");
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        if bytes.len().saturating_add(data.len()) > limit {
            return Err(ApiError::body_too_large(limit));
        }
        memory.grow(data.len())?;
        bytes.extend_from_slice(&data);
    }
    Ok(RequestBody { bytes, memory })
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
