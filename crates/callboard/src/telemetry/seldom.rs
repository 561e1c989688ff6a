//! Warnings about what may happen many times a second: said once a minute.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// When something was said last.
pub struct Seldom(Mutex<Option<Instant>>);

impl Seldom {
    /// Something that was never said.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// True when it is time to say it again; it counts as said then.
    pub fn is_due(&self) -> bool {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = said.is_none_or(|said| now.saturating_duration_since(said) >= MINUTE);
        if due {
            *said = Some(now);
        }
        due
    }
}

impl Default for Seldom {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_a_minute() {
        let (seldom, start) = (Seldom::new(), Instant::now());
        let due = [0, 1, 59, 60, 61, 119, 121].map(|seconds| seldom.is_due_at(start + Duration::from_secs(seconds)));
        assert_eq!(due, [true, false, false, true, false, false, true]);
    }
}
