//! The model servers over HTTP: how they are doing, and what they were found to refuse.

use std::time::{Duration, Instant};

use axum::extract::{RawQuery, State};
use axum::response::Response;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::query::known_pairs;
use super::reply::{self, HttpResult};
use super::router::Shared;
use crate::upstream::{Client, ServerState, ServerStatus, Upstream};

/// All of them. With `ask=true` each is asked for its models now.
pub(super) async fn list(State(shared): State<Shared>, RawQuery(query): RawQuery) -> HttpResult {
    let pairs = known_pairs(query.as_deref().unwrap_or_default(), &["ask"])?;
    let is_asked = pairs.iter().any(|(name, value)| name == "ask" && value == "true");
    let entries = shared.app.upstreams.on_offer().map(|upstream| async {
        let mut entry = entry(upstream);
        if is_asked {
            entry["state"] = state(upstream, &shared.client).await;
        }
        entry
    });
    let list: Vec<Value> = join_all(entries).await;
    Ok(reply::json(json!({"object": "list", "data": list}).to_string()))
}

/// All of them, as they are known.
pub(super) fn listed(shared: &Shared) -> Response {
    let list: Vec<Value> = shared.app.upstreams.on_offer().map(|upstream| entry(upstream.as_ref())).collect();
    reply::json(json!({"object": "list", "data": list}).to_string())
}

fn entry(upstream: &Upstream) -> Value {
    json!({
        "url": upstream.url,
        "built_in": upstream.local.is_some(),
        "has_key": upstream.key.is_some(),
        "in_flight": upstream.in_flight(),
        "set_aside": upstream.is_set_aside(),
        "contract": upstream.contract.as_str(),
        "models": upstream.models,
        "aliases": upstream.aliases.iter().map(|alias| format!("{}={}", alias.name, alias.target)).collect::<Vec<_>>(),
        "learned": upstream.profiles.quirks(),
        "known": upstream.known_models(),
        "formats": upstream.profiles.families(),
        "process": upstream.supervised.as_ref().map(|server| process(&server.status())),
    })
}

/// The process of a server that Callboard starts.
fn process(status: &ServerStatus) -> Value {
    let running = status.process();
    json!({
        "state": status.as_str(),
        "words": status.to_string(),
        "pid": running.map(|process| process.pid),
        "url": running.map(|process| process.url.as_str()),
        "started_at": running.map(|process| process.started_at),
        "restarts": status.restarts,
        "last_exit": status.last_exit.as_ref().map(|exit| json!({"words": exit.words, "output": exit.output})),
    })
}

/// Whether it answers, in words, with its models and how long it took.
async fn state(upstream: &Upstream, client: &Client) -> Value {
    if upstream.local.is_some() {
        let words = "answers, 1 model, which lives in Callboard itself";
        return json!({"answers": true, "words": words, "models": [upstream.url], "took_ms": 0});
    }
    let begun = Instant::now();
    let state = upstream.state(client).await;
    let models = if let ServerState::Lists(models) = &state { models.as_slice() } else { &[] };
    json!({"answers": state.answers(), "words": state.to_string(), "models": models, "took_ms": millis(begun.elapsed())})
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
