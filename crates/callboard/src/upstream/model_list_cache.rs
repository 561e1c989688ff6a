//! The model lists of the servers, cached for a few seconds.
//!
//! While a server does not answer, its last list stays in use.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

const FRESH: Duration = Duration::from_secs(10);

/// How long a stale list is used before the server is asked again.
const STALE: Duration = Duration::from_secs(2);

/// The last list of each server.
#[derive(Debug, Default)]
pub(super) struct ModelLists {
    lists: Mutex<HashMap<usize, Entry>>,
}

#[derive(Debug, Clone)]
struct Entry {
    until: Instant,
    list: Vec<Value>,
}

impl ModelLists {
    /// A list that has not expired.
    pub(super) fn get(&self, upstream: usize, now: Instant) -> Option<Vec<Value>> {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.get(&upstream).filter(|entry| now < entry.until).map(|entry| entry.list.clone())
    }

    pub(super) fn insert(&self, upstream: usize, list: &[Value], now: Instant) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.insert(upstream, Entry { until: now + FRESH, list: list.to_vec() });
    }

    /// The last list of a server that does not answer, which is used a while longer.
    pub(super) fn get_stale(&self, upstream: usize, now: Instant) -> Option<Vec<Value>> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = lists.get_mut(&upstream)?;
        entry.until = now + STALE;
        Some(entry.list.clone())
    }
}

/// The entries of a `/models` reply that have an id.
pub(super) fn entries(body: &[u8]) -> Vec<Value> {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let list = value.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
    list.into_iter().filter(|entry| id_of(entry).is_some()).collect()
}

/// The id of an entry.
pub(super) fn id_of(entry: &Value) -> Option<&str> {
    entry.get("id").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stale_list_is_used_while_its_server_does_not_answer() {
        let (lists, now) = (ModelLists::default(), Instant::now());
        assert_eq!(lists.get_stale(0, now), None);
        let list = entries(br#"{"data":[{"id":"m"},{"name":"no id"}]}"#);
        assert_eq!(list, [json!({"id": "m"})]);
        lists.insert(0, &list, now);
        assert_eq!(lists.get(0, now), Some(list.clone()));
        assert_eq!(lists.get(1, now), None);
        let later = now + FRESH;
        assert_eq!(lists.get(0, later), None);
        assert_eq!(lists.get_stale(0, later), Some(list.clone()));
        assert_eq!(lists.get(0, later), Some(list));
        assert_eq!(lists.get(0, later + STALE), None);
    }
}
