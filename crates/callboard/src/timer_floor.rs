//! A short timer that runs while a thread serves requests.
//!
//! Tokio wakes its runtime, by a system call, whenever a timer is registered that expires before all others. Each request registers some,
//! such as the timeout of the model server. Beside a timer that is always earlier, none of them is the first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// Shorter than the timers of requests.
const TICK: Duration = Duration::from_millis(50);

/// Says that the thread is busy; clones share it.
#[derive(Debug, Clone, Default)]
pub struct TimerFloor(Arc<Activity>);

#[derive(Debug, Default)]
struct Activity {
    /// A request has come since the last tick.
    is_busy: AtomicBool,
    is_ticking: AtomicBool,
    begun: Notify,
}

impl TimerFloor {
    /// A request has come.
    pub fn request(&self) {
        self.0.is_busy.store(true, Ordering::Relaxed);
        if !self.0.is_ticking.load(Ordering::Relaxed) {
            self.0.begun.notify_one();
        }
    }

    /// Ticks while requests come; for ever.
    pub async fn run(self) {
        loop {
            self.0.is_ticking.store(false, Ordering::Relaxed);
            self.0.begun.notified().await;
            self.0.is_ticking.store(true, Ordering::Relaxed);
            while self.0.is_busy.swap(false, Ordering::Relaxed) {
                tokio::time::sleep(TICK).await;
            }
        }
    }
}
