//! The idle timeout of the model server and the keep-alive interval of the client, in one timer.
//!
//! The timer is reset only when it fires, so a stream of many small pieces pays nothing for it.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// Which timer fired.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The model server has sent nothing for too long.
    Idle,
    /// The client has been sent nothing for a while.
    KeepAlive,
}

/// The timers of one turn. They start with the first wait.
pub(super) struct Timers {
    sleep: Option<Pin<Box<Sleep>>>,
    idle: Duration,
    keep_alive: Duration,
    received: Instant,
    sent: Instant,
}

impl Timers {
    pub(super) fn new(idle: Duration, keep_alive: Duration) -> Self {
        let now = Instant::now();
        Self { sleep: None, idle, keep_alive, received: now, sent: now }
    }

    /// The model server has sent something.
    pub(super) fn received(&mut self) {
        self.received = Instant::now();
    }

    /// The client has been sent something.
    pub(super) fn sent(&mut self) {
        self.sent = Instant::now();
    }

    pub(super) fn idle_seconds(&self) -> f64 {
        self.idle.as_secs_f64()
    }

    /// Waits until a keep-alive is due, whatever the model server does.
    pub(super) async fn keep_alive(&mut self) {
        while self.next().await == Timer::Idle {
            self.received();
        }
    }

    /// Waits until one of the two is due.
    pub(super) async fn next(&mut self) -> Timer {
        loop {
            let (idle_at, alive_at) = (self.received + self.idle, self.sent + self.keep_alive);
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(idle_at.min(alive_at))));
            sleep.as_mut().await;
            let now = Instant::now();
            let due = (now >= idle_at).then_some(Timer::Idle).or((now >= alive_at).then_some(Timer::KeepAlive));
            if due == Some(Timer::KeepAlive) {
                self.sent = now;
            }
            let next = idle_at.min(self.sent + self.keep_alive);
            sleep.as_mut().reset(next.max(now + Duration::from_millis(1)));
            if let Some(timer) = due {
                return timer;
            }
        }
    }
}
