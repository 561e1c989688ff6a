//! For those who run Callboard: is it alive, can it answer, what has it done.

use std::time::Duration;

use axum::extract::{RawQuery, State};
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

/// A model server answers. Whether the store takes what is written to it is told beside that: without one, plain models are served all
/// the same, and a database that several Callboards share would take all of them out of service at once. Who serves characters alone asks for
/// `?store=required`.
pub(super) async fn ready(State(shared): State<Shared>, RawQuery(query): RawQuery) -> Response {
    if !shared.app.upstreams.any_answers(&shared.client).await {
        let no_server = shared.app.settings.upstreams.is_empty();
        return reply::error(&if no_server { ApiError::no_upstream() } else { ApiError::upstream_unreachable() });
    }
    let checked = tokio::time::timeout(STORE_TIME, shared.store.check()).await;
    let is_well = matches!(checked, Ok(Ok(())));
    if !is_well && query.is_some_and(|query| query.split('&').any(|pair| pair == "store=required")) {
        let message = "the store does not answer, or cannot be written to; the log says why";
        return reply::error(&ApiError::new(503, "store_unavailable", message).with_retry_after(1));
    }
    let store = if is_well { "ok" } else { "unavailable" };
    reply::json(json!({"status": "ready", "store": store}).to_string())
}

/// Counters and timings for Prometheus.
pub(super) async fn metrics(State(shared): State<Shared>) -> Response {
    shared.app.traces.count();
    reply::text(shared.app.metrics.render())
}
