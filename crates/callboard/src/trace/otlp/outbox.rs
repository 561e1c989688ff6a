//! Traces that wait to be sent to a collector. There is room for so many; one that finds none is dropped and counted.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::super::TurnTrace;
use super::Collector;
use crate::telemetry::turns;

const MOST_TRACES: usize = 4096;
const MOST_CONTENT: usize = 32 << 20;
const TOGETHER: usize = 128;

/// What waits, and for whom.
#[derive(Debug)]
pub struct Outbox {
    /// Who gets it.
    pub collector: Collector,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    traces: VecDeque<TurnTrace>,
    content: usize,
}

/// Traces that are being sent. Dropped on the way, they wait again.
pub(super) struct Batch<'a> {
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
            return turns::traces_dropped("collector", 1);
        }
        waiting.content += content;
        waiting.traces.push_back(trace);
    }

    /// The oldest ones, as many as are sent together; none when nothing waits.
    pub(super) fn batch(&self) -> Option<Batch<'_>> {
        let mut waiting = self.waiting();
        let together = waiting.traces.len().min(TOGETHER);
        if together == 0 {
            return None;
        }
        let traces: Vec<TurnTrace> = waiting.traces.drain(..together).collect();
        waiting.content = waiting.content.saturating_sub(content_of(&traces));
        drop(waiting);
        Some(Batch { traces, outbox: self })
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch<'_> {
    /// They need not be sent again; their number comes back.
    pub(super) fn settle(mut self) -> u64 {
        std::mem::take(&mut self.traces).len() as u64
    }
}

impl Drop for Batch<'_> {
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
