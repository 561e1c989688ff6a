//! The lists of models that the servers offer, remembered for a short while.
//!
//! A server that does not answer has most likely the models that it had before: its last list holds until it gives another.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

const FRESH: Duration = Duration::from_secs(10);

/// A server that failed to answer is left alone for so long.
const PAUSE: Duration = Duration::from_secs(2);

/// What each server said last.
#[derive(Debug, Default)]
pub struct ModelList {
    lists: Mutex<HashMap<usize, Entry>>,
}

#[derive(Debug, Clone)]
struct Entry {
    until: Instant,
    list: Vec<Value>,
}

impl ModelList {
    /// A list that is not yet too old.
    pub(super) fn fresh(&self, upstream: usize, now: Instant) -> Option<Vec<Value>> {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.get(&upstream).filter(|entry| now < entry.until).map(|entry| entry.list.clone())
    }

    /// Remembers what a server said.
    pub(super) fn keep(&self, upstream: usize, list: &[Value], now: Instant) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.insert(upstream, Entry { until: now + FRESH, list: list.to_vec() });
    }

    /// A server said nothing: what it said before, if anything, holds a while longer.
    pub(super) fn missed(&self, upstream: usize, now: Instant) -> Option<Vec<Value>> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = lists.get_mut(&upstream)?;
        entry.until = now + PAUSE;
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
    fn a_list_outlives_the_silence_of_its_server() {
        let (lists, now) = (ModelList::default(), Instant::now());
        assert_eq!(lists.missed(0, now), None);
        let list = entries(br#"{"data":[{"id":"m"},{"name":"no id"}]}"#);
        assert_eq!(list, [json!({"id": "m"})]);
        lists.keep(0, &list, now);
        assert_eq!(lists.fresh(0, now), Some(list.clone()));
        assert_eq!(lists.fresh(1, now), None);
        let later = now + FRESH;
        assert_eq!(lists.fresh(0, later), None);
        assert_eq!(lists.missed(0, later), Some(list.clone()));
        assert_eq!(lists.fresh(0, later), Some(list));
        assert_eq!(lists.fresh(0, later + PAUSE), None);
    }
}
