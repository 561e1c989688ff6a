//! The bounded queue of traces for a collector. When it is full, traces are dropped and counted.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::super::{TurnTrace, turn_metrics};
use super::Collector;

const MOST_TRACES: usize = 4096;
const MOST_CONTENT: usize = 32 << 20;
const BATCH: usize = 128;

/// Traces for a collector.
#[derive(Debug)]
pub struct Outbox {
    /// The collector.
    pub collector: Collector,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    traces: VecDeque<TurnTrace>,
    content: usize,
}

/// Traces that are being sent. A batch that is dropped without `settle` goes back into the queue.
pub(super) struct ExportBatch<'a> {
    pub(super) traces: Vec<TurnTrace>,
    outbox: &'a Outbox,
}

impl Outbox {
    /// An empty one.
    pub fn new(collector: Collector) -> Self {
        Self { collector, waiting: Mutex::default() }
    }

    /// Adds a trace, where there is room.
    pub(in super::super) fn add(&self, trace: TurnTrace) {
        let content = trace.content_bytes();
        let mut waiting = self.waiting();
        if waiting.traces.len() >= MOST_TRACES || waiting.content.saturating_add(content) > MOST_CONTENT {
            return turn_metrics::traces_dropped("collector", 1);
        }
        waiting.content += content;
        waiting.traces.push_back(trace);
    }

    /// The oldest traces, at most one batch of them.
    pub(super) fn batch(&self) -> Option<ExportBatch<'_>> {
        let mut waiting = self.waiting();
        let together = waiting.traces.len().min(BATCH);
        if together == 0 {
            return None;
        }
        let traces: Vec<TurnTrace> = waiting.traces.drain(..together).collect();
        waiting.content = waiting.content.saturating_sub(content_of(&traces));
        drop(waiting);
        Some(ExportBatch { traces, outbox: self })
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ExportBatch<'_> {
    /// Marks the batch as done, and returns how many traces it had.
    pub(super) fn settle(mut self) -> u64 {
        std::mem::take(&mut self.traces).len() as u64
    }
}

impl Drop for ExportBatch<'_> {
    fn drop(&mut self) {
        let mut waiting = self.outbox.waiting();
        waiting.content += content_of(&self.traces);
        for trace in self.traces.drain(..).rev() {
            waiting.traces.push_front(trace);
        }
    }
}

fn content_of(traces: &[TurnTrace]) -> usize {
    traces.iter().map(TurnTrace::content_bytes).sum()
}
