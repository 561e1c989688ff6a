//! The keys that clients must show.

use std::hint::black_box;

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// All keys that open the door; with none, the door is open.
#[derive(Clone, Default)]
pub struct Keys {
    keys: Vec<String>,
}

impl Keys {
    /// These keys.
    pub fn new(keys: impl Iterator<Item = String>) -> Self {
        Self { keys: keys.collect() }
    }

    /// True when no key is asked for.
    pub fn is_open(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether a request shows a right key.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
        if self.is_open() {
            return true;
        }
        let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(shown) = shown.and_then(|value| value.strip_prefix("Bearer ")) else { return false };
        self.keys.iter().fold(false, |found, key| found | same(key.as_bytes(), shown.trim().as_bytes()))
    }
}

/// Takes the same time wherever two keys differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && black_box(a.iter().zip(b).fold(0, |differences, (x, y)| differences | (x ^ y))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_right_key_is_admitted() {
        let keys = Keys::new(["one".to_owned(), "two".to_owned()].into_iter());
        let shows = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, value.parse().unwrap());
            keys.admit(&headers)
        };
        assert!(shows("Bearer one") && shows("Bearer two"));
        assert!(!shows("Bearer three") && !shows("Bearer ") && !shows("one") && !shows("Bearer onetwo"));
        assert!(!keys.admit(&HeaderMap::new()));
        assert!(Keys::default().admit(&HeaderMap::new()));
    }
}
