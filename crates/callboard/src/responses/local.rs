//! Responses that live as long as a connection: what a client of the WebSocket transport may go on from without storing anything.

use std::collections::VecDeque;

use serde_json::Value;

use super::earlier::Remembered;
use super::measure::json_bytes;

/// So many are remembered; clients go on from the newest.
const MOST: usize = 4;

/// The responses of one connection: a few, and together no larger than one history may be.
pub struct LocalResponses {
    most_bytes: u64,
    kept: VecDeque<Kept>,
}

/// What is remembered of a response.
pub(super) struct Kept {
    id: String,
    /// How large it is with all before it.
    pub(super) bytes: u64,
    /// None where it is too large to go on from.
    pub(super) response: Option<LocalResponse>,
}

/// A response and all that stands before it.
#[derive(Clone)]
pub(super) struct LocalResponse {
    pub(super) id: String,
    /// All items, those of the response last.
    pub(super) items: Vec<Value>,
    pub(super) remembered: Option<Remembered>,
    /// Whether it is in the store as well.
    pub(super) stored: bool,
}

impl LocalResponses {
    /// None yet, and room for so many bytes.
    pub fn new(most_bytes: u64) -> Self {
        Self { most_bytes, kept: VecDeque::new() }
    }

    pub(super) fn keep(&mut self, response: LocalResponse) {
        let (id, bytes) = (response.id.clone(), response.bytes());
        let response = Some(response).filter(|_| bytes <= self.most_bytes);
        self.kept.push_back(Kept { id, bytes, response });
        while self.kept.len() > MOST || self.bytes() > self.most_bytes {
            self.kept.pop_front();
        }
    }

    pub(super) fn find(&self, id: &str) -> Option<&Kept> {
        self.kept.iter().find(|kept| kept.id == id)
    }

    fn bytes(&self) -> u64 {
        self.kept.iter().filter(|kept| kept.response.is_some()).map(|kept| kept.bytes).sum()
    }
}

impl LocalResponse {
    fn bytes(&self) -> u64 {
        let record = self.remembered.as_ref().map_or(0, |remembered| {
            let state = remembered.record.state().map_or(0, str::len) as u64;
            state.saturating_add(json_bytes(remembered.record.journal()))
        });
        json_bytes(&self.items).saturating_add(record)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A response whose items are so many bytes of JSON.
    fn response(id: &str, bytes: usize) -> LocalResponse {
        let items = vec![json!("x".repeat(bytes - 4))];
        LocalResponse { id: id.to_owned(), items, remembered: None, stored: false }
    }

    fn ids(local: &LocalResponses) -> Vec<&str> {
        local.kept.iter().map(|kept| kept.id.as_str()).collect()
    }

    #[test]
    fn the_newest_are_kept_as_far_as_there_is_room() {
        let mut local = LocalResponses::new(100);
        for (id, bytes, kept) in [
            ("a", 20, &["a"][..]),
            ("b", 20, &["a", "b"]),
            ("c", 20, &["a", "b", "c"]),
            ("d", 20, &["a", "b", "c", "d"]),
            ("e", 20, &["b", "c", "d", "e"]),
            ("f", 50, &["d", "e", "f"]),
            ("g", 100, &["g"]),
        ] {
            local.keep(response(id, bytes));
            assert_eq!(ids(&local), kept);
        }
    }

    #[test]
    fn of_one_that_is_too_large_only_its_size_is_known() {
        let mut local = LocalResponses::new(100);
        local.keep(response("a", 60));
        local.keep(response("b", 101));
        let (small, large) = (local.find("a").unwrap(), local.find("b").unwrap());
        assert!(small.response.is_some() && large.response.is_none());
        assert_eq!((small.bytes, large.bytes), (60, 101));
    }
}
