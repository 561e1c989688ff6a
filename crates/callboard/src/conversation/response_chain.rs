//! A response and all that it follows, loaded from the store in batches, newest first, within the size limit of a history.

use callboard_core::wire::ApiError;
use serde_json::Value;

use super::response_context::items_said;
use crate::memory_budget::RequestMemory;
use crate::store::{Exchange, ResponseChain, Store, StoreError};

/// The most responses that may follow each other.
const LONGEST: usize = 10_000;

/// A response and its predecessors, as far as they are loaded.
pub(super) struct LoadedResponses<'a> {
    store: &'a Store,
    id: &'a str,
    memory: &'a RequestMemory,
    /// The newest piece first, each with its oldest item first.
    pieces: Vec<Vec<Value>>,
    bytes: u64,
    /// The responses that were read.
    pub(super) newest_first: Vec<String>,
    /// The response that comes before those.
    pub(super) rest: Option<String>,
}

impl<'a> LoadedResponses<'a> {
    /// Nothing yet.
    pub(super) fn new(store: &'a Store, id: &'a str, memory: &'a RequestMemory) -> Self {
        let rest = Some(id.to_owned());
        Self { store, id, memory, pieces: Vec::new(), bytes: 0, newest_first: Vec::new(), rest }
    }

    /// The next piece, oldest response first. Where a time is given, its newest must be one that can be seen then.
    pub(super) async fn piece(&self, seen: Option<i64>) -> Result<ResponseChain, StoreError> {
        let most = i64::try_from(LONGEST.saturating_sub(self.newest_first.len())).unwrap_or(i64::MAX);
        match &self.rest {
            Some(rest) => self.store.response_chain(rest, most, seen).await,
            None => Ok(ResponseChain::default()),
        }
    }

    /// Reads all that is left. If there is a rest afterwards, it is gone.
    pub(super) async fn read_rest(&mut self) -> Result<(), ApiError> {
        while self.rest.is_some() {
            if self.newest_first.len() >= LONGEST {
                return Err(too_long(self.id));
            }
            let piece = self.piece(None).await?.exchanges;
            if piece.is_empty() {
                return Ok(());
            }
            self.add(&piece)?;
        }
        Ok(())
    }

    /// Adds a piece, unless all of it is too large then.
    pub(super) fn add(&mut self, piece: &[Exchange]) -> Result<(), ApiError> {
        self.bytes = piece.iter().map(Exchange::bytes).fold(self.bytes, u64::saturating_add);
        self.store.check_history(self.id, self.bytes)?;
        let mut items = Vec::new();
        for said in piece {
            self.memory.grow_for_json(said.input.as_bytes(), 0)?;
            self.memory.grow_for_json(said.output.as_bytes(), 0)?;
            items.extend(items_said(said)?);
        }
        self.rest = piece.first().and_then(|said| said.previous.clone());
        self.newest_first.extend(piece.iter().rev().map(|said| said.id.clone()));
        self.pieces.push(items);
        Ok(())
    }

    /// All items, oldest first.
    pub(super) fn into_items(self) -> Vec<Value> {
        self.pieces
            .into_iter()
            .rev()
            .reduce(|mut all, newer| {
                all.extend(newer);
                all
            })
            .unwrap_or_default()
    }
}

fn too_long(id: &str) -> ApiError {
    let message = format!(
        "the response {id:?} follows more than {LONGEST} others; leave it out and send what matters of them as input"
    );
    ApiError::new(400, "context_length_exceeded", message)
}
