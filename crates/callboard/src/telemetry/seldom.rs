//! What may happen many times a second, and is said in the log once a minute.

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

/// Things that are told apart by their words, each said once a minute. Only so many are remembered.
pub struct SeldomWords(Mutex<Vec<(String, Instant)>>);

impl SeldomWords {
    const MOST: usize = 16;

    /// Nothing was ever said.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// True when it is time to say this again; it counts as said then.
    pub fn is_due(&self, words: &str) -> bool {
        self.is_due_at(words, Instant::now())
    }

    fn is_due_at(&self, words: &str, now: Instant) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.retain(|(_, at)| now.saturating_duration_since(*at) < MINUTE);
        if said.iter().any(|(known, _)| known == words) || said.len() >= Self::MOST {
            return false;
        }
        said.push((words.to_owned(), now));
        true
    }
}

impl Default for SeldomWords {
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

    #[test]
    fn each_of_a_few_things_is_said_once_a_minute() {
        let (seldom, start) = (SeldomWords::new(), Instant::now());
        let due = [("a", 0), ("b", 1), ("a", 2), ("b", 59), ("a", 60), ("b", 60), ("b", 61)];
        let due = due.map(|(words, seconds)| seldom.is_due_at(words, start + Duration::from_secs(seconds)));
        assert_eq!(due, [true, true, false, false, true, false, true]);
        let many = (0..100).filter(|number| seldom.is_due_at(&format!("{number}"), start + MINUTE * 2 + MINUTE));
        assert_eq!(many.count(), SeldomWords::MOST);
    }
}
