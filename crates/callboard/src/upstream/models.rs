//! The lists of models that the servers offer, remembered for a short while.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

const FRESH: Duration = Duration::from_secs(10);

/// What each server said last.
#[derive(Debug, Default)]
pub struct ModelList {
    lists: Mutex<HashMap<usize, (Instant, Vec<Value>)>>,
}

impl ModelList {
    /// A list that is not yet too old.
    pub(super) fn fresh(&self, upstream: usize) -> Option<Vec<Value>> {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.get(&upstream).filter(|(at, _)| at.elapsed() < FRESH).map(|(_, list)| list.clone())
    }

    /// Remembers what a server said.
    pub(super) fn keep(&self, upstream: usize, list: &[Value]) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.insert(upstream, (Instant::now(), list.to_vec()));
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
