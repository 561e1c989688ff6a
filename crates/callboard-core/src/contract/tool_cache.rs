//! Compiled tool sets, cached by their exact text: the same tools in every request are compiled once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::{SchemaLimits, ToolPlace, ToolSet};
use crate::model::BadRequest;

const MOST_SETS: usize = 256;
const MOST_BYTES: usize = 16 << 20;

/// A bounded cache; the oldest entry is evicted first.
#[derive(Debug, Default)]
pub struct ToolCache {
    limits: SchemaLimits,
    cached: Mutex<CachedSets>,
}

#[derive(Debug, Default)]
struct CachedSets {
    sets: HashMap<Arc<str>, Arc<ToolSet>>,
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
        if self.sets.insert(Arc::clone(&key), set).is_none() {
            self.bytes += key.len();
            self.order.push_back(key);
        }
        while self.order.len() > MOST_SETS || self.bytes > MOST_BYTES {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= oldest.len();
            self.sets.remove(&oldest);
        }
    }
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
    fn a_fault_is_not_kept() {
        let cache = ToolCache::default();
        assert!(cache.compiled("[{}]").is_err());
        assert!(cache.compiled("[").is_err());
        assert_eq!(cache.lock().sets.len(), 0);
    }
}
