//! What the pools of one store tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// News of a server.
#[derive(Debug, Default)]
pub(super) struct News {
    generation: AtomicU64,
    is_reached: AtomicBool,
}

impl News {
    /// The generation of connections that are opened now.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Connections of this generation are of no more use. Others have said so before, if it is not the newest.
    pub(super) fn end_generation(&self, ended: u64) {
        let _ = self.generation.compare_exchange(ended, ended + 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether the pool behind all others has a connection: they take what the server allows beside that.
    pub(super) fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }

    /// The pool behind all others says whether it has one.
    pub(super) fn set_reached(&self, is_reached: bool) {
        self.is_reached.store(is_reached, Ordering::Relaxed);
    }
}
