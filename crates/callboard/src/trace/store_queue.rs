//! Traces and counts that wait to be stored, and counts that `/metrics` does not show yet.
//!
//! Counts of the same day, character and model are added up here, so a busy second costs the store as much as a quiet one.
//! The number of waiting traces is bounded; those over the bound are dropped and counted.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{TurnCounts, TurnTrace};
use crate::store::Count;

const MOST_TRACES: usize = 8192;
/// A batch of this many traces is written without waiting for the next tick.
const FULL_BATCH: usize = 256;
/// The most bytes of recorded content in waiting traces.
const MOST_CONTENT: usize = 32 << 20;
const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// What waits to be stored or shown.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<PendingState>);

#[derive(Debug, Default)]
struct PendingState {
    batch: StoreBatch,
    metrics: Sums,
}

/// Traces and counts that are stored together.
#[derive(Debug, Default)]
pub(super) struct StoreBatch {
    pub(super) traces: Vec<TurnTrace>,
    pub(super) dropped: u64,
    sums: Sums,
    content: usize,
}

#[derive(Debug, Default)]
struct Sums(Vec<Sum>);

/// The counts of one day, character and model.
#[derive(Debug)]
pub(super) struct Sum {
    day: i64,
    pub(super) character: String,
    pub(super) model: String,
    pub(super) counts: TurnCounts,
}

impl Pending {
    /// Adds a finished turn, and returns true when it fills a batch.
    pub(super) fn add(&self, trace: TurnTrace) -> bool {
        let mut state = self.locked();
        state.metrics.add_turn(&trace);
        state.batch.sums.add_turn(&trace);
        trace.sampled && state.batch.add(trace)
    }

    /// Puts counts back that could not be stored.
    pub(super) fn put_back(&self, counts: &[Count]) {
        let sums = &mut self.locked().batch.sums;
        for count in counts {
            let amount = u64::try_from(count.amount).unwrap_or_default();
            sums.entry(count.day, &count.character, &count.model).add_named(&count.name, amount);
        }
    }

    /// Takes everything that waits to be stored.
    pub(super) fn take_batch(&self) -> StoreBatch {
        std::mem::take(&mut self.locked().batch)
    }

    /// Takes the counts that `/metrics` does not show yet.
    pub(super) fn take_metrics(&self) -> Vec<Sum> {
        std::mem::take(&mut self.locked().metrics.0)
    }

    fn locked(&self) -> MutexGuard<'_, PendingState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoreBatch {
    fn add(&mut self, trace: TurnTrace) -> bool {
        let content = trace.content_bytes();
        if self.traces.len() >= MOST_TRACES || self.content.saturating_add(content) > MOST_CONTENT {
            self.dropped += 1;
            return false;
        }
        self.content += content;
        self.traces.push(trace);
        self.traces.len() == FULL_BATCH
    }

    /// The counts as the store takes them.
    pub(super) fn counts(&self) -> Vec<Count> {
        self.sums.0.iter().flat_map(Sum::counts).collect()
    }
}

impl Sums {
    fn add_turn(&mut self, trace: &TurnTrace) {
        let day = trace.started_at_ms.div_euclid(MILLIS_PER_DAY);
        let character = trace.character.as_deref().unwrap_or_default();
        self.entry(day, character, &trace.counted_as).add_turn(trace);
    }

    /// There are few entries at a time, so a linear search is the fastest.
    fn entry(&mut self, day: i64, character: &str, model: &str) -> &mut TurnCounts {
        let same = |sum: &Sum| sum.day == day && sum.character == character && sum.model == model;
        let place = self.0.iter().position(same).unwrap_or(self.0.len());
        if place == self.0.len() {
            let (character, model) = (character.to_owned(), model.to_owned());
            self.0.push(Sum { day, character, model, counts: TurnCounts::default() });
        }
        &mut self.0[place].counts
    }
}

impl Sum {
    fn counts(&self) -> impl Iterator<Item = Count> + '_ {
        self.counts.named().into_iter().map(|(name, amount)| Count {
            day: self.day,
            character: self.character.clone(),
            model: self.model.clone(),
            name,
            amount: i64::try_from(amount).unwrap_or(i64::MAX),
        })
    }
}
