//! API keys: which requests are admitted.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use subtle::{Choice, ConstantTimeEq as _};

/// The accepted API keys; with none, every request is admitted.
#[derive(Clone, Default)]
pub struct Keys {
    keys: Vec<String>,
}

impl Keys {
    /// These keys.
    pub fn new(keys: impl Iterator<Item = String>) -> Self {
        Self { keys: keys.collect() }
    }

    /// True when no key is required.
    pub fn is_open(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether a request carries an accepted key.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
        if self.is_open() {
            return true;
        }
        let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(shown) = shown.and_then(|value| value.strip_prefix("Bearer ")) else { return false };
        // All keys are compared, each in constant time.
        let shown = shown.trim().as_bytes();
        self.keys.iter().fold(Choice::from(0), |found, key| found | key.as_bytes().ct_eq(shown)).into()
    }
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
