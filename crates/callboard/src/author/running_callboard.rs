//! The Callboard that serves with the same settings, asked over HTTP.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderValue, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::config::Settings;
use crate::greeting::address_on_this_machine;
use crate::upstream::{Client, Failure, Upstream};

const MOST_BYTES: usize = 64 << 20;

/// A Callboard that may be running.
pub(super) struct RunningCallboard {
    /// Where it would listen, as a client reaches it.
    pub(super) address: SocketAddr,
    server: Upstream,
}

/// The outcome of a query.
pub(super) enum QueryResult<T> {
    Answer(T),
    /// It has other keys.
    Unauthorized,
    /// Nothing answers there, or nothing that is a Callboard.
    NotRunning,
}

impl RunningCallboard {
    /// The one with these settings. Its keys are in them, too.
    pub(super) fn of(settings: &Settings) -> Self {
        let address = SocketAddr::new(address_on_this_machine(settings.listen.ip()), settings.listen.port());
        let mut server = Upstream::new(format!("http://{address}/v1"));
        let key = settings.api_keys.first();
        server.key = key.and_then(|key| HeaderValue::from_str(&format!("Bearer {}", key.expose())).ok());
        Self { address, server }
    }

    /// Posts a body to a path below `/v1`, which answers with a document.
    pub(super) async fn post<T: DeserializeOwned>(&self, client: &Client, path: &str, body: &Value) -> QueryResult<T> {
        let headers = self.server.key.iter().map(|key| (AUTHORIZATION, key.clone())).collect();
        let url = format!("{}{path}", self.server.url);
        Self::result(client.post(&url, &headers, body.to_string().into_bytes()).await)
    }

    /// Asks for a document below `/v1`.
    pub(super) async fn get<T: DeserializeOwned>(&self, client: &Client, path: &str) -> QueryResult<T> {
        Self::result(client.get(&self.server, path, None, MOST_BYTES).await)
    }

    fn result<T: DeserializeOwned>(answer: Result<Bytes, Failure>) -> QueryResult<T> {
        match answer {
            Ok(body) => serde_json::from_slice(&body).map_or(QueryResult::NotRunning, QueryResult::Answer),
            Err(Failure::Refused { status: StatusCode::UNAUTHORIZED, .. }) => QueryResult::Unauthorized,
            Err(_) => QueryResult::NotRunning,
        }
    }
}
