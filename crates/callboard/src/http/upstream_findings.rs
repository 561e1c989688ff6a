//! Finding out about model servers on request, and forgetting what was found.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use callboard_core::model::BadRequest;
use callboard_core::wire::responses::read_object;
use futures_util::future::join_all;
use serde_json::Value;

use super::reply::HttpResult;
use super::router::Shared;
use super::upstreams;
use crate::upstream::Upstream;

const KNOWN: [&str; 2] = ["url", "model"];

/// The servers and the model that a body names; without a name they are all meant.
struct Selection {
    servers: Vec<Arc<Upstream>>,
    model: Option<String>,
}

/// Probes servers now, whatever the settings say; returns the list of all.
pub(super) async fn probe(State(shared): State<Shared>, body: Bytes) -> HttpResult {
    let Selection { servers, model } = Selection::read(&body, shared.app.upstreams.list())?;
    let client = shared.app.client().for_probes();
    join_all(servers.iter().map(|server| server.probe_now(model.as_deref(), &client))).await;
    Ok(upstreams::listed(&shared))
}

/// Forgets what was found about servers, so that it is found out again; returns the list of all.
pub(super) async fn forget(State(shared): State<Shared>, body: Bytes) -> HttpResult {
    let Selection { servers, model } = Selection::read(&body, shared.app.upstreams.list())?;
    servers.iter().for_each(|server| server.forget(model.as_deref()));
    Ok(upstreams::listed(&shared))
}

impl Selection {
    fn read(body: &[u8], list: &[Arc<Upstream>]) -> Result<Self, BadRequest> {
        let fields = if body.is_empty() { serde_json::Map::new() } else { read_object(body.to_vec())? };
        if let Some(unknown) = fields.keys().find(|key| !KNOWN.contains(&key.as_str())) {
            let message = format!("{unknown:?} is not known; there are: {}", KNOWN.join(", "));
            return Err(BadRequest::at(unknown, "unknown_parameter", message));
        }
        let text = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(BadRequest::wrong_type(name, format!("{name} is no text"))),
        };
        let (url, model) = (text("url")?, text("model")?);
        let is_meant =
            |server: &&Arc<Upstream>| server.local.is_none() && url.as_ref().is_none_or(|url| *url == server.url);
        let servers: Vec<_> = list.iter().filter(is_meant).cloned().collect();
        match url.filter(|_| servers.is_empty()) {
            Some(url) => Err(BadRequest::invalid(
                "url",
                format!("there is no model server {url:?}; GET /v1/upstreams lists them"),
            )),
            None => Ok(Self { servers, model }),
        }
    }
}
