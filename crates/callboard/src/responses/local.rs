//! Responses that live as long as a connection: what a client of the WebSocket transport may go on from without storing anything.

use std::collections::VecDeque;

use serde_json::Value;

use super::earlier::Remembered;

/// So many are remembered; clients go on from the newest.
const MOST: usize = 4;

/// The responses of one connection.
#[derive(Default)]
pub struct LocalResponses {
    kept: VecDeque<LocalResponse>,
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
    pub(super) fn keep(&mut self, response: LocalResponse) {
        self.kept.push_back(response);
        while self.kept.len() > MOST {
            self.kept.pop_front();
        }
    }

    pub(super) fn find(&self, id: &str) -> Option<&LocalResponse> {
        self.kept.iter().find(|response| response.id == id)
    }
}
