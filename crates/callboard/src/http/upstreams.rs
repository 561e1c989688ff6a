//! The model servers over HTTP: how they are doing, and what they were found to refuse.

use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::reply;
use super::router::Shared;
use crate::upstream::Upstream;

/// All of them.
pub(super) async fn list(State(shared): State<Shared>) -> Response {
    let list: Vec<Value> = shared.app.upstreams.on_offer().map(|upstream| entry(upstream)).collect();
    reply::json(json!({"object": "list", "data": list}).to_string())
}

fn entry(upstream: &Upstream) -> Value {
    json!({
        "url": upstream.url,
        "built_in": upstream.local.is_some(),
        "in_flight": upstream.in_flight(),
        "set_aside": upstream.is_set_aside(),
        "contract": upstream.contract.as_str(),
        "models": upstream.models,
        "aliases": upstream.aliases.iter().map(|alias| format!("{}={}", alias.name, alias.target)).collect::<Vec<_>>(),
        "learned": upstream.profiles.quirks(),
    })
}
