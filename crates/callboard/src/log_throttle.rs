//! Log lines that could appear many times a second, limited to one a minute.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// Limits one log line.
#[derive(Default)]
pub struct LogThrottle(Mutex<Option<Instant>>);

impl LogThrottle {
    /// Nothing was logged yet.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Whether the line may be logged now; it counts as logged then.
    pub fn is_due(&self) -> bool {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> bool {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = logged.is_none_or(|at| now.saturating_duration_since(at) >= MINUTE);
        if due {
            *logged = Some(now);
        }
        due
    }
}

/// Limits log lines by their message. Only so many messages are remembered.
#[derive(Default)]
pub struct MessageThrottle(Mutex<Vec<(String, Instant)>>);

impl MessageThrottle {
    const MAX_MESSAGES: usize = 16;

    /// Nothing was logged yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Whether this message may be logged now; it counts as logged then.
    pub fn is_due(&self, message: &str) -> bool {
        self.is_due_at(message, Instant::now())
    }

    fn is_due_at(&self, message: &str, now: Instant) -> bool {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logged.retain(|(_, at)| now.saturating_duration_since(*at) < MINUTE);
        if logged.iter().any(|(known, _)| known == message) || logged.len() >= Self::MAX_MESSAGES {
            return false;
        }
        logged.push((message.to_owned(), now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_logged_once_a_minute() {
        let (throttle, start) = (LogThrottle::new(), Instant::now());
        let due = [0, 1, 59, 60, 61, 119, 121].map(|seconds| throttle.is_due_at(start + Duration::from_secs(seconds)));
        assert_eq!(due, [true, false, false, true, false, false, true]);
    }

    #[test]
    fn each_of_a_few_messages_is_logged_once_a_minute() {
        let (throttle, start) = (MessageThrottle::new(), Instant::now());
        let due = [("a", 0), ("b", 1), ("a", 2), ("b", 59), ("a", 60), ("b", 60), ("b", 61)];
        let due = due.map(|(message, seconds)| throttle.is_due_at(message, start + Duration::from_secs(seconds)));
        assert_eq!(due, [true, true, false, false, true, false, true]);
        let many = (0..100).filter(|number| throttle.is_due_at(&format!("{number}"), start + MINUTE * 2 + MINUTE));
        assert_eq!(many.count(), MessageThrottle::MAX_MESSAGES);
    }
}
