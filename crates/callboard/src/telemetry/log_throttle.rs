//! Log lines about what may happen many times a second, written at most once a minute.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// Remembers which messages were written in the last minute, up to a bound.
#[derive(Default)]
pub struct LogThrottle(Mutex<Vec<(String, Instant)>>);

impl LogThrottle {
    const MOST_KEYS: usize = 16;

    /// A throttle that has let nothing through yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// True when the message with this key may be written; it counts as written then.
    pub fn is_due(&self, key: &str) -> bool {
        self.is_due_at(key, Instant::now())
    }

    fn is_due_at(&self, key: &str, now: Instant) -> bool {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.retain(|(_, at)| now.saturating_duration_since(*at) < MINUTE);
        if written.iter().any(|(known, _)| known == key) || written.len() >= Self::MOST_KEYS {
            return false;
        }
        written.push((key.to_owned(), now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_due_once_a_minute() {
        let (throttle, start) = (LogThrottle::new(), Instant::now());
        let due =
            [0, 1, 59, 60, 61, 119, 121].map(|seconds| throttle.is_due_at("", start + Duration::from_secs(seconds)));
        assert_eq!(due, [true, false, false, true, false, false, true]);
    }

    #[test]
    fn each_of_a_few_messages_is_due_once_a_minute() {
        let (throttle, start) = (LogThrottle::new(), Instant::now());
        let due = [("a", 0), ("b", 1), ("a", 2), ("b", 59), ("a", 60), ("b", 60), ("b", 61)];
        let due = due.map(|(key, seconds)| throttle.is_due_at(key, start + Duration::from_secs(seconds)));
        assert_eq!(due, [true, true, false, false, true, false, true]);
        let many = (0..100).filter(|number| throttle.is_due_at(&format!("{number}"), start + MINUTE * 2 + MINUTE));
        assert_eq!(many.count(), LogThrottle::MOST_KEYS);
    }
}
