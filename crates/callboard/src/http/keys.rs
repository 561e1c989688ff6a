//! API keys: which requests are admitted. They may change while the program runs.

use std::sync::{Arc, PoisonError, RwLock};

use http::HeaderMap;
use http::header::AUTHORIZATION;
use subtle::{Choice, ConstantTimeEq as _};

use crate::config::Secret;

/// The accepted API keys; with none, every request is admitted. Clones share them.
#[derive(Clone)]
pub(super) struct Keys {
    keys: Arc<RwLock<Vec<Secret>>>,
}

impl Keys {
    /// These keys.
    pub(super) fn new(keys: Arc<RwLock<Vec<Secret>>>) -> Self {
        Self { keys }
    }

    /// True when no key is required.
    pub(super) fn is_open(&self) -> bool {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether a request carries an accepted key.
    pub(super) fn admit(&self, headers: &HeaderMap) -> bool {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        if keys.is_empty() {
            return true;
        }
        let Some(shown) = bearer(headers).map(str::as_bytes) else { return false };
        // All keys are compared, each in constant time.
        keys.iter().fold(Choice::from(0), |found, key| found | key.expose().as_bytes().ct_eq(shown)).into()
    }
}

/// The key that a request carries. The name of the scheme is in any case, and any number of spaces may follow it.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.trim().split_once([' ', '\t'])?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_right_key_is_admitted() {
        let secrets = ["one", "two"].iter().filter_map(|key| Secret::new(key)).collect();
        let keys = Keys::new(Arc::new(RwLock::new(secrets)));
        let shows = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, value.parse().unwrap());
            keys.admit(&headers)
        };
        for admitted in ["Bearer one", "Bearer two", "bearer one", "BEARER  one ", "Bearer\tone"] {
            assert!(shows(admitted), "{admitted}");
        }
        for refused in ["Bearer three", "Bearer ", "Bearer", "one", "Bearer onetwo", "Basic one", "Bearer one two"] {
            assert!(!shows(refused), "{refused}");
        }
        assert!(!keys.admit(&HeaderMap::new()));
        assert!(Keys::new(Arc::default()).admit(&HeaderMap::new()));
    }
}
