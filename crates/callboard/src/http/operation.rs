//! For those who run Callboard: is it alive, can it answer, what has it done.

use axum::extract::State;
use axum::response::Response;
use callboard_core::wire::ApiError;

use super::reply;
use super::router::Shared;

/// The process is alive.
pub(super) async fn health() -> Response {
    reply::json(r#"{"status":"ok"}"#.to_owned())
}

/// A model server answers.
pub(super) async fn ready(State(shared): State<Shared>) -> Response {
    if shared.app.upstreams.any_answers(&shared.client).await {
        return reply::json(r#"{"status":"ready"}"#.to_owned());
    }
    let no_server = shared.app.settings.upstreams.is_empty();
    reply::error(&if no_server { ApiError::no_upstream() } else { ApiError::upstream_unreachable() })
}

/// Counters and timings for Prometheus.
pub(super) async fn metrics(State(shared): State<Shared>) -> Response {
    reply::text(shared.app.metrics.render())
}
