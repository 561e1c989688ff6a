//! How long to wait before a server that ended is started again.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(60);
/// A server that was ready for so long is started again without remembering earlier ends.
const STABLE: Duration = Duration::from_secs(60);

/// The waits grow twofold with each end.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    ends: u32,
}

impl Backoff {
    /// The wait after an end; `ready` is how long the server was ready before it.
    pub(super) fn after(&mut self, ready: Duration) -> Duration {
        if ready >= STABLE {
            self.ends = 0;
        }
        let wait = FIRST.saturating_mul(1 << self.ends.min(16)).min(LONGEST);
        self.ends = self.ends.saturating_add(1);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_until_the_server_was_stable() {
        let mut backoff = Backoff::default();
        let waits: Vec<u128> = (0..4).map(|_| backoff.after(Duration::ZERO).as_millis()).collect();
        assert_eq!(waits, [200, 400, 800, 1600]);
        assert_eq!((0..100).map(|_| backoff.after(Duration::ZERO)).last(), Some(LONGEST));
        assert_eq!(backoff.after(STABLE), FIRST);
        assert_eq!(backoff.after(STABLE - Duration::from_secs(1)), FIRST * 2);
    }
}
