//! The newest responses of a WebSocket connection, which its client may continue from without storing anything.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::json_size::{JsonSize, json_size};
use crate::memory_budget::{MemoryBudget, RequestMemory};
use crate::store::CharacterMemory;

/// The most responses that are cached; clients continue from the newest.
const MOST: usize = 4;

/// The newest responses of one connection, together no larger than one history may be.
pub struct ConnectionCache {
    most_bytes: u64,
    budget: MemoryBudget,
    responses: VecDeque<CachedResponse>,
}

/// An entry of the cache.
pub(super) struct CachedResponse {
    id: String,
    /// Its size with all before it.
    pub(super) bytes: u64,
    /// None where it is too large to continue from.
    pub(super) response: Option<ConnectionResponse>,
    _memory: RequestMemory,
}

/// A response with its context.
#[derive(Clone)]
pub struct ConnectionResponse {
    pub(super) id: String,
    /// All items, those of the response last.
    pub(super) items: Vec<Value>,
    pub(super) memory: Option<Arc<CharacterMemory>>,
    /// Whether it is in the store as well.
    pub(super) stored: bool,
}

impl ConnectionCache {
    /// An empty cache for at most this many bytes, which count towards the memory of all requests.
    pub fn new(most_bytes: u64, budget: MemoryBudget) -> Self {
        Self { most_bytes, budget, responses: VecDeque::new() }
    }

    /// Adds a response and evicts the oldest ones that exceed the limits.
    pub fn insert(&mut self, response: ConnectionResponse) {
        let (id, size) = (response.id.clone(), response.size());
        let memory = self.budget.start();
        let fits = size.text <= self.most_bytes && memory.grow(size.memory).is_ok();
        let response = Some(response).filter(|_| fits);
        self.responses.push_back(CachedResponse { id, bytes: size.text, response, _memory: memory });
        while self.responses.len() > MOST || self.bytes() > self.most_bytes {
            self.responses.pop_front();
        }
    }

    /// Removes a response whose continuation failed.
    pub fn evict(&mut self, id: &str) {
        self.responses.retain(|cached| cached.id != id);
    }

    pub(super) fn find(&self, id: &str) -> Option<&CachedResponse> {
        self.responses.iter().find(|cached| cached.id == id)
    }

    fn bytes(&self) -> u64 {
        self.responses.iter().filter(|cached| cached.response.is_some()).map(|cached| cached.bytes).sum()
    }
}

impl ConnectionResponse {
    fn size(&self) -> JsonSize {
        let mut size = json_size(&self.items);
        if let Some(memory) = &self.memory {
            let (state, journal) = (memory.record.state().map_or(0, str::len), json_size(memory.record.journal()));
            size.text = size.text.saturating_add(state as u64).saturating_add(journal.text);
            size.memory = size.memory.saturating_add(state).saturating_add(journal.memory);
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A response whose items are so many bytes of JSON.
    fn response(id: &str, bytes: usize) -> ConnectionResponse {
        let items = vec![json!("x".repeat(bytes - 4))];
        ConnectionResponse { id: id.to_owned(), items, memory: None, stored: false }
    }

    fn ids(cache: &ConnectionCache) -> Vec<&str> {
        cache.responses.iter().map(|cached| cached.id.as_str()).collect()
    }

    #[test]
    fn the_newest_are_kept_as_far_as_there_is_room() {
        let mut cache = ConnectionCache::new(100, MemoryBudget::unlimited());
        for (id, bytes, kept) in [
            ("a", 20, &["a"][..]),
            ("b", 20, &["a", "b"]),
            ("c", 20, &["a", "b", "c"]),
            ("d", 20, &["a", "b", "c", "d"]),
            ("e", 20, &["b", "c", "d", "e"]),
            ("f", 50, &["d", "e", "f"]),
            ("g", 100, &["g"]),
        ] {
            cache.insert(response(id, bytes));
            assert_eq!(ids(&cache), kept);
        }
    }

    #[test]
    fn of_one_that_is_too_large_only_its_size_is_known() {
        let mut cache = ConnectionCache::new(100, MemoryBudget::unlimited());
        cache.insert(response("a", 60));
        cache.insert(response("b", 101));
        let (small, large) = (cache.find("a").unwrap(), cache.find("b").unwrap());
        assert!(small.response.is_some() && large.response.is_none());
        assert_eq!((small.bytes, large.bytes), (60, 101));
    }

    #[test]
    fn without_memory_only_the_size_is_known() {
        let mut cache = ConnectionCache::new(1000, MemoryBudget::new(500, 500));
        for (id, is_cached) in [("a", true), ("b", false)] {
            cache.insert(response(id, 200));
            assert_eq!(cache.find(id).unwrap().response.is_some(), is_cached, "{id}");
        }
    }
}
