//! For those who run Callboard: is it alive, can it answer, what has it done.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use callboard_core::wire::ApiError;
use serde_json::json;

use super::reply;
use super::router::Shared;

/// How long the store has to answer.
const STORE_TIME: Duration = Duration::from_secs(1);

/// The process is alive.
pub(super) async fn health() -> Response {
    reply::json(r#"{"status":"ok"}"#.to_owned())
}

/// A model server answers. Whether the store does is told beside it: without one, plain models are served all the same.
pub(super) async fn ready(State(shared): State<Shared>) -> Response {
    if shared.app.upstreams.any_answers(&shared.client).await {
        let checked = tokio::time::timeout(STORE_TIME, shared.app.store.check()).await;
        let store = if matches!(checked, Ok(Ok(()))) { "ok" } else { "unavailable" };
        return reply::json(json!({"status": "ready", "store": store}).to_string());
    }
    let no_server = shared.app.settings.upstreams.is_empty();
    reply::error(&if no_server { ApiError::no_upstream() } else { ApiError::upstream_unreachable() })
}

/// Counters and timings for Prometheus.
pub(super) async fn metrics(State(shared): State<Shared>) -> Response {
    shared.app.traces.count();
    reply::text(shared.app.metrics.render())
}
