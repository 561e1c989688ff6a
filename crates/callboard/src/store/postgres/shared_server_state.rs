//! A PostgreSQL server as all pools of one store see it: how it is reached, which connections are stale, whether the shared pool has
//! one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::super::error::StoreError;
use super::connect_options::ConnectOptions;

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(super) options: ConnectOptions,
    generation: AtomicU64,
    shared_pool_is_connected: AtomicBool,
}

impl Server {
    /// Reads a URL.
    pub(crate) fn read(url: &str) -> Result<Self, StoreError> {
        let options = ConnectOptions::read(url)?;
        Ok(Self { options, generation: AtomicU64::new(0), shared_pool_is_connected: AtomicBool::new(false) })
    }

    /// The generation of connections that are opened now. Those of earlier generations are stale.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Makes connections of this generation stale, if they are not yet.
    pub(super) fn end_generation(&self, ended: u64) {
        let _ = self.generation.compare_exchange(ended, ended + 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether the shared pool has a connection: the pools of threads take what the server allows beside that.
    pub(super) fn shared_pool_is_connected(&self) -> bool {
        self.shared_pool_is_connected.load(Ordering::Relaxed)
    }

    pub(super) fn set_shared_pool_connected(&self, is_connected: bool) {
        self.shared_pool_is_connected.store(is_connected, Ordering::Relaxed);
    }
}
