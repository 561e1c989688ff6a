//! The memory that requests may take, each one and all together: their bodies, histories and replies, estimated before they are parsed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callboard_core::wire::{ApiError, parsed_bytes, parsed_bytes_exactly};

/// The budget of all requests; clones share it.
#[derive(Debug, Clone)]
pub struct MemoryBudget(Arc<Total>);

#[derive(Debug)]
struct Total {
    used: AtomicUsize,
    most: usize,
    most_of_one: usize,
}

/// What one request takes of the budget. Clones share it, and the last one gives it back.
#[derive(Debug, Clone)]
pub struct RequestMemory(Arc<Share>);

#[derive(Debug)]
struct Share {
    budget: MemoryBudget,
    taken: AtomicUsize,
}

/// A budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MemoryExceeded {
    /// That of one request.
    #[error("the request would take more memory than the limit limits.request_memory_bytes of {0} bytes")]
    Request(usize),
    /// That of all requests.
    #[error("all requests together would take more memory than the limit limits.memory_bytes of {0} bytes")]
    Total(usize),
}

impl From<MemoryExceeded> for ApiError {
    fn from(exceeded: MemoryExceeded) -> Self {
        match exceeded {
            MemoryExceeded::Request(_) => Self::new(413, "request_too_large", exceeded.to_string()),
            MemoryExceeded::Total(_) => {
                Self::new(503, "overloaded", format!("{exceeded}; try again soon")).with_retry_after(1)
            }
        }
    }
}

impl MemoryBudget {
    /// So many bytes for all requests, and for one of them.
    pub fn new(most: usize, most_of_one: usize) -> Self {
        Self(Arc::new(Total { used: AtomicUsize::new(0), most, most_of_one }))
    }

    /// A budget without limits, for commands that serve no requests.
    pub fn unlimited() -> Self {
        Self::new(usize::MAX, usize::MAX)
    }

    /// A request that takes nothing yet.
    pub fn start(&self) -> RequestMemory {
        RequestMemory(Arc::new(Share { budget: self.clone(), taken: AtomicUsize::new(0) }))
    }

    fn take(&self, bytes: usize) -> Result<(), MemoryExceeded> {
        grow_to(&self.0.used, bytes, self.0.most).map_err(|()| MemoryExceeded::Total(self.0.most))
    }
}

fn grow_to(used: &AtomicUsize, bytes: usize, most: usize) -> Result<(), ()> {
    let grown = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= most);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).map(|_| ()).map_err(|_| ())
}

impl RequestMemory {
    /// Takes more.
    pub fn grow(&self, bytes: usize) -> Result<(), MemoryExceeded> {
        let Share { budget, taken } = &*self.0;
        let most = budget.0.most_of_one;
        grow_to(taken, bytes, most).map_err(|()| MemoryExceeded::Request(most))?;
        budget.take(bytes).inspect_err(|_| {
            taken.fetch_sub(bytes, Ordering::Relaxed);
        })
    }

    /// Takes what a JSON text will need once it is parsed. Its own bytes may have been taken already.
    pub fn grow_for_json(&self, text: &[u8], already: usize) -> Result<(), MemoryExceeded> {
        self.grow(parsed_bytes(text).saturating_sub(already))
            .or_else(|_| self.grow(parsed_bytes_exactly(text).saturating_sub(already)))
    }

    /// Gives some back.
    pub fn shrink(&self, bytes: usize) {
        let Share { budget, taken } = &*self.0;
        let before =
            taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| Some(taken.saturating_sub(bytes)));
        let bytes = bytes.min(before.unwrap_or_default());
        budget.0.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// How much it takes.
    pub fn bytes(&self) -> usize {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// The budget it belongs to.
    pub fn budget(&self) -> &MemoryBudget {
        &self.0.budget
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.0.used.fetch_sub(*self.taken.get_mut(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_taken_and_given_back() {
        let budget = MemoryBudget::new(10, 8);
        let (one, two) = (budget.start(), budget.start());
        one.grow(6).unwrap();
        assert_eq!(two.grow(5), Err(MemoryExceeded::Total(10)));
        assert_eq!(one.grow(3), Err(MemoryExceeded::Request(8)));
        one.shrink(1);
        two.grow(5).unwrap();
        assert_eq!((one.bytes(), two.bytes()), (5, 5));
        drop((one.clone(), two));
        one.grow(3).unwrap();
        one.shrink(100);
        assert_eq!((one.bytes(), budget.0.used.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn json_is_counted_closely_only_where_it_matters() {
        let memory = MemoryBudget::new(400, 400).start();
        memory.grow_for_json(br#"[",,,,,,,,"]"#, 0).unwrap();
        assert!(memory.bytes() < 200, "commas of a text are no values");
        assert_eq!(memory.grow_for_json(b"[[],[]]", 7), Err(MemoryExceeded::Request(400)));
    }
}
