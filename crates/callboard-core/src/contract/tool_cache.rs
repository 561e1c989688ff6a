//! Compiled tool sets, cached by their exact text: the same tools in every request are compiled once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use rapidhash::fast::RandomState;

use super::{SchemaLimits, ToolPlace, ToolSet};
use crate::model::BadRequest;

const MOST_SETS: usize = 256;
/// Of texts and of what was compiled from them.
const MOST_BYTES: usize = 64 << 20;

/// A bounded cache; the oldest entry is evicted first.
#[derive(Debug, Default)]
pub struct ToolCache {
    limits: SchemaLimits,
    cached: Mutex<CachedSets>,
}

#[derive(Debug, Default)]
struct CachedSets {
    /// Keys are kilobytes, and looked up for every request. Few entries bound what collisions can cost.
    sets: HashMap<Arc<str>, Arc<ToolSet>, RandomState>,
    order: VecDeque<Arc<str>>,
    bytes: usize,
}

impl ToolCache {
    /// An empty cache that checks new tools against these limits.
    #[must_use]
    pub fn new(limits: SchemaLimits) -> Self {
        Self { limits, cached: Mutex::default() }
    }

    /// The limits that new tools are checked against.
    #[must_use]
    pub fn limits(&self) -> SchemaLimits {
        self.limits
    }

    /// The compiled form of the `tools` list of a chat request, given as JSON text.
    pub fn compiled(&self, text: &str) -> Result<Arc<ToolSet>, BadRequest> {
        self.compiled_at(text, ToolPlace::in_chat)
    }

    /// The same for tools in another part of a request; `place` maps an index to the place that errors name.
    pub fn compiled_at(&self, text: &str, place: impl Fn(usize) -> ToolPlace) -> Result<Arc<ToolSet>, BadRequest> {
        if let Some(set) = self.lock().sets.get(text) {
            return Ok(Arc::clone(set));
        }
        let tools = super::json::read_schema(text)
            .map_err(|error| BadRequest::invalid("tools", format!("tools cannot be read: {error}")))?;
        let set = Arc::new(ToolSet::compile_at(&tools, self.limits, place)?);
        self.lock().insert(text, Arc::clone(&set));
        Ok(set)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CachedSets> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedSets {
    fn insert(&mut self, text: &str, set: Arc<ToolSet>) {
        let key: Arc<str> = text.into();
        let bytes = charge(&key, &set);
        if self.sets.insert(Arc::clone(&key), set).is_none() {
            self.bytes += bytes;
            self.order.push_back(key);
        }
        while self.order.len() > MOST_SETS || self.bytes > MOST_BYTES {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.sets.remove(&oldest).map_or(0, |set| charge(&oldest, &set));
        }
    }
}

/// What an entry holds.
fn charge(text: &str, set: &ToolSet) -> usize {
    text.len().saturating_add(set.held_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(name: &str) -> String {
        format!(r#"[{{"type":"function","function":{{"name":"{name}","parameters":{{"type":"object"}}}}}}]"#)
    }

    #[test]
    fn the_same_text_is_compiled_once() {
        let cache = ToolCache::default();
        let first = cache.compiled(&tools("a")).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.compiled(&tools("a")).unwrap()));
        assert!(!Arc::ptr_eq(&first, &cache.compiled(&tools("b")).unwrap()));
    }

    #[test]
    fn the_oldest_leave_first() {
        let cache = ToolCache::default();
        let first = cache.compiled(&tools("t0")).unwrap();
        for number in 1..=MOST_SETS {
            cache.compiled(&tools(&format!("t{number}"))).unwrap();
        }
        assert_eq!(cache.lock().sets.len(), MOST_SETS);
        assert!(!Arc::ptr_eq(&first, &cache.compiled(&tools("t0")).unwrap()));
    }

    #[test]
    fn a_set_is_charged_with_what_it_holds() {
        let cache = ToolCache::default();
        let pattern = |number: usize| {
            let parameters = format!(
                r#"{{"type":"object","properties":{{"a":{{"type":"string","pattern":"^x{number}\\p{{L}}{{30}}$"}}}}}}"#
            );
            format!(r#"[{{"type":"function","function":{{"name":"t","parameters":{parameters}}}}}]"#)
        };
        for number in 0..20 {
            cache.compiled(&pattern(number)).unwrap();
        }
        let cached = cache.lock();
        assert!(
            cached.sets.len() < 10 && cached.bytes <= MOST_BYTES,
            "{} sets, {} bytes",
            cached.sets.len(),
            cached.bytes
        );
    }

    #[test]
    fn a_fault_is_not_kept() {
        let cache = ToolCache::default();
        assert!(cache.compiled("[{}]").is_err());
        assert!(cache.compiled("[").is_err());
        assert_eq!(cache.lock().sets.len(), 0);
    }
}
