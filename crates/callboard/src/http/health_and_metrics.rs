//! Endpoints for operators: health, readiness, metrics.

use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use callboard_core::wire::ApiError;
use http::HeaderMap;
use serde_json::json;

use super::reply;
use super::router::Shared;
use crate::upstream::Upstream;

/// The timeout of the store check.
const STORE_TIME: Duration = Duration::from_secs(1);
/// Anyone may ask for readiness; where the model servers are is for those with a key.
const NEEDS_KEY: &str = "send an API key to see which were asked";

/// The process is alive.
pub(super) async fn health() -> Response {
    reply::json(r#"{"status":"ok"}"#.to_owned())
}

/// Ready when a model server answers. An unavailable store is reported but does not make it unready: plain models work without
/// one, and a shared database would otherwise take every instance out of service. `?store=required` changes that.
pub(super) async fn ready(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    if !shared.app.upstreams.any_answers(&shared.client).await {
        let servers = shared.app.upstreams.list().iter().filter(|upstream| upstream.local.is_none());
        let urls: Vec<String> = servers.map(|upstream| name_with_state(upstream)).collect();
        let urls = if shared.keys.admit(&headers) { urls.join(", ") } else { NEEDS_KEY.to_owned() };
        return reply::error(&ApiError::no_upstream_answers(&urls));
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

/// The server's URL, or its name and what it does where Callboard starts it.
fn name_with_state(upstream: &Upstream) -> String {
    match &upstream.supervised {
        Some(server) => format!("{} {}", upstream.url, server.status()),
        None => upstream.url.clone(),
    }
}

/// Counters and timings for Prometheus.
pub(super) async fn metrics(State(shared): State<Shared>) -> Response {
    shared.app.traces.count();
    shared.app.characters.count_at_rest();
    reply::text(shared.app.metrics.render())
}
