//! What all serving threads share: built once by `app`, used by every handler and by the commands of authors.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, PoisonError, RwLock};

use callboard_core::contract::ToolCache;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Semaphore;

use crate::characters::CharacterRegistry;
use crate::config::{Secret, Settings};
use crate::memory_budget::MemoryBudget;
use crate::store::Store;
use crate::trace::Traces;
use crate::upstream::{Client, Tls, Upstreams};

/// The services of the program.
pub struct Services {
    /// The settings.
    pub settings: Settings,
    /// The accepted API keys, which a reload may change.
    pub api_keys: Arc<RwLock<Vec<Secret>>>,
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
    /// The memory of requests, all threads together.
    pub memory: MemoryBudget,
    /// A permit for each WebSocket that may be open.
    pub sockets: Arc<Semaphore>,
    /// For connections to model servers.
    pub tls: Tls,
}

impl Services {
    /// Accepts these API keys from now on. The last key cannot be removed in a running program, which would open it to everyone.
    pub fn set_api_keys(&self, keys: Vec<Secret>) {
        let mut accepted = self.api_keys.write().unwrap_or_else(PoisonError::into_inner);
        if keys.is_empty() && !accepted.is_empty() {
            tracing::error!("the settings name no api_keys any more: the old ones stay; restart to serve without keys");
            return;
        }
        *accepted = keys;
    }

    /// A client with a connection pool for one thread.
    pub fn client(&self) -> Client {
        let timeouts = &self.settings.timeouts;
        Client::new(&self.tls, timeouts.connect, timeouts.first_byte)
    }
}
