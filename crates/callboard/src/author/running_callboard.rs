//! The Callboard that serves with the same settings, asked over HTTP.

use std::net::SocketAddr;

use http::{HeaderValue, StatusCode};
use serde::de::DeserializeOwned;

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

    /// Asks for a document below `/v1`.
    pub(super) async fn get<T: DeserializeOwned>(&self, client: &Client, path: &str) -> QueryResult<T> {
        match client.get(&self.server, path, None, MOST_BYTES).await {
            Ok(body) => serde_json::from_slice(&body).map_or(QueryResult::NotRunning, QueryResult::Answer),
            Err(Failure::Refused { status: StatusCode::UNAUTHORIZED, .. }) => QueryResult::Unauthorized,
            Err(_) => QueryResult::NotRunning,
        }
    }
}
