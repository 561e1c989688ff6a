//! Two waits in one timer: the model server's silence, and the client's.
//!
//! The timer is set once and looked at again only when it rings, so that a stream of many small pieces pays nothing for it.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// What the bell means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bell {
    /// The model server has been silent for too long.
    Idle,
    /// The client has heard nothing for a while.
    KeepAlive,
}

/// The timer of one session.
pub(super) struct Stopwatch {
    sleep: Pin<Box<Sleep>>,
    idle: Duration,
    keep_alive: Duration,
    heard: Instant,
    spoke: Instant,
}

impl Stopwatch {
    pub(super) fn new(idle: Duration, keep_alive: Duration) -> Self {
        let now = Instant::now();
        Self { sleep: Box::pin(sleep_until(now + idle.min(keep_alive))), idle, keep_alive, heard: now, spoke: now }
    }

    /// The model server has sent something.
    pub(super) fn heard(&mut self) {
        self.heard = Instant::now();
    }

    /// The client has been sent something.
    pub(super) fn spoke(&mut self) {
        self.spoke = Instant::now();
    }

    pub(super) fn idle_seconds(&self) -> f64 {
        self.idle.as_secs_f64()
    }

    /// Waits until the client has heard nothing for a while, whatever the model server does.
    pub(super) async fn keep_alive(&mut self) {
        while self.bell().await == Bell::Idle {
            self.heard();
        }
    }

    /// Waits until one of the two is due.
    pub(super) async fn bell(&mut self) -> Bell {
        loop {
            self.sleep.as_mut().await;
            let now = Instant::now();
            let (idle_at, alive_at) = (self.heard + self.idle, self.spoke + self.keep_alive);
            let due = (now >= idle_at).then_some(Bell::Idle).or((now >= alive_at).then_some(Bell::KeepAlive));
            if due == Some(Bell::KeepAlive) {
                self.spoke = now;
            }
            self.sleep.as_mut().reset(idle_at.min(self.spoke + self.keep_alive).max(now + Duration::from_millis(1)));
            if let Some(bell) = due {
                return bell;
            }
        }
    }
}
