//! What all serving threads share: built once by `app`, used by every handler and by the commands of authors.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use callboard_core::contract::ToolCache;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Semaphore;

use crate::characters::CharacterRegistry;
use crate::config::Settings;
use crate::store::Store;
use crate::trace::Traces;
use crate::upstream::{Client, Tls, Upstreams};

/// The services of the program.
pub struct Services {
    /// The settings.
    pub settings: Settings,
    /// Compiled tools.
    pub tools: ToolCache,
    /// The model servers.
    pub upstreams: Upstreams,
    /// Renders the metrics.
    pub metrics: PrometheusHandle,
    /// The characters.
    pub characters: Arc<CharacterRegistry>,
    /// The store, for background work: each serving thread has a handle of its own.
    pub store: Store,
    /// Traces on their way to the store, to `/metrics` and to a collector.
    pub traces: Traces,
    /// Requests being answered, all threads together.
    pub in_flight: Arc<AtomicUsize>,
    /// A permit for each byte of request bodies that may be in memory, all threads together.
    pub body_bytes: Arc<Semaphore>,
    /// A permit for each WebSocket that may be open.
    pub sockets: Arc<Semaphore>,
    /// For connections to model servers.
    pub tls: Tls,
}

impl Services {
    /// A client with a connection pool for one thread.
    pub fn client(&self) -> Client {
        let timeouts = &self.settings.timeouts;
        Client::new(&self.tls, timeouts.connect, timeouts.first_byte)
    }
}
