//! Finds the last call of an index or an id, in the same time however many calls a reply has.

use std::collections::HashMap;

/// The places of the calls of one reply.
#[derive(Debug, Default)]
pub(super) struct CallPlaces {
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, SameId>,
}

/// The last calls of one id.
#[derive(Debug, Default)]
struct SameId {
    last: usize,
    without_index: Option<usize>,
    by_index: HashMap<u64, usize>,
}

impl CallPlaces {
    /// A call of this index begins; it comes after all others.
    pub(super) fn add(&mut self, place: usize, index: Option<u64>) {
        if let Some(index) = index {
            self.by_index.insert(index, place);
        }
    }

    /// The call at `place`, which may be an earlier one, has got this id.
    pub(super) fn set_id(&mut self, place: usize, id: &str, index: Option<u64>) {
        let calls = self.by_id.entry(id.to_owned()).or_default();
        calls.last = calls.last.max(place);
        let same_index = match index {
            Some(index) => calls.by_index.entry(index).or_default(),
            None => calls.without_index.get_or_insert_default(),
        };
        *same_index = place.max(*same_index);
    }

    /// The last call of this index.
    pub(super) fn of_index(&self, index: u64) -> Option<usize> {
        self.by_index.get(&index).copied()
    }

    /// The last call of this id whose index, where both have one, is the same.
    pub(super) fn of_id(&self, id: &str, index: Option<u64>) -> Option<usize> {
        let calls = self.by_id.get(id)?;
        match index {
            None => Some(calls.last),
            Some(index) => calls.by_index.get(&index).copied().max(calls.without_index),
        }
    }
}
