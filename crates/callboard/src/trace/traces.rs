//! Where the traces of all turns come together: counted at once, stored a moment later, told to a collector where one is set.

use std::sync::Arc;

use super::context::Sampling;
use super::model_names::ModelNames;
use super::notebook::{Notebook, Page};
use super::otlp::Outbox;
use super::recorder::Birth;
use super::{TraceContext, TraceRecorder, TurnAbout, TurnTrace};
use crate::clock;
use crate::hex;
use crate::random;
use crate::store::{Store, StoreError};
use crate::telemetry::turns;

/// So many traces share a transaction at most, so that nobody else waits long for the store.
const TOGETHER: usize = 512;

/// What is recorded.
#[derive(Debug, Clone, Default)]
pub struct TraceRules {
    /// How many of a hundred turns are kept as traces.
    pub percent: usize,
    /// Whether what was said may be recorded.
    pub content: bool,
    /// Models that the settings name.
    pub models: Vec<String>,
}

/// All traces on their way. Clones are handles to the same.
#[derive(Clone)]
pub struct Traces(Arc<Inner>);

struct Inner {
    percent: usize,
    content: bool,
    names: ModelNames,
    notebook: Notebook,
    outbox: Option<Outbox>,
    store: Store,
    writing: tokio::sync::Mutex<()>,
    many: tokio::sync::Notify,
}

impl Traces {
    /// Traces that are kept in this store, and sent to a collector where there is an outbox for it.
    pub fn new(settings: TraceRules, store: Store, outbox: Option<Outbox>) -> Self {
        Self(Arc::new(Inner {
            percent: settings.percent,
            content: settings.content,
            names: ModelNames::new(settings.models),
            notebook: Notebook::default(),
            outbox,
            store,
            writing: tokio::sync::Mutex::default(),
            many: tokio::sync::Notify::new(),
        }))
    }

    /// A recorder for a turn that begins now.
    pub fn begin(&self, about: &TurnAbout<'_>) -> TraceRecorder {
        let (began, random, spans) = (clock::milliseconds(), random::bytes::<10>(), random::bytes::<8>());
        let draw = random.iter().fold(0_usize, |sum, byte| (sum * 256 + usize::from(*byte)) % 100);
        let (id, sampled) = (new_id(began, &random), draw < self.0.percent);
        let sampling = Sampling { collector: self.0.outbox.is_some(), drawn: sampled, any: self.0.percent > 0 };
        let context = TraceContext::begin(about.caller, &id, spans, sampling);
        TraceRecorder::new(self.clone(), Birth { id, began, sampled, context }, about)
    }

    /// What waits to be sent to a collector.
    pub fn outbox(&self) -> Option<&Outbox> {
        self.0.outbox.as_ref()
    }

    /// Notes a trace for the store.
    pub fn note(&self, trace: TurnTrace) {
        if self.0.notebook.note(trace) {
            self.0.many.notify_one();
        }
    }

    /// Counts a turn, and tells the collector about it.
    pub(super) fn tell(&self, trace: &TurnTrace) {
        self.0.notebook.count(trace);
        if let Some(outbox) = self.0.outbox.as_ref().filter(|_| trace.context.exported) {
            outbox.add(trace.clone());
        }
    }

    pub(super) fn takes_content(&self) -> bool {
        self.0.content
    }

    pub(super) fn counted_as(&self, trace: &TurnTrace) -> String {
        let answered = trace.upstream_requests.iter().any(|request| request.first_byte_ms.is_some());
        self.0.names.counted_as(&trace.model, answered)
    }

    /// Brings `/metrics` up to date.
    pub fn count(&self) {
        for sum in self.0.notebook.take_uncounted() {
            turns::turns(&sum.character, &sum.model, &sum.figures);
        }
    }

    /// Waits until so much was noted that it should be stored.
    pub async fn are_many(&self) {
        self.0.many.notified().await;
    }

    /// Stores all that was noted before.
    pub async fn flush(&self) {
        self.count();
        let _alone = self.0.writing.lock().await;
        let page = self.0.notebook.take();
        turns::traces_dropped("store", page.dropped);
        if let Err(error) = self.write(&page).await {
            turns::store_failed(&error);
        }
    }

    /// The figures go with the first traces, in one transaction.
    async fn write(&self, page: &Page) -> Result<(), StoreError> {
        let mut counts = page.counts();
        let mut waiting = page.traces.as_slice();
        while !waiting.is_empty() || !counts.is_empty() {
            let (together, later) = waiting.split_at_checked(TOGETHER).unwrap_or((waiting, &[]));
            let traces = together.iter().filter_map(TurnTrace::stored).collect();
            if let Err(error) = self.0.store.keep_traces(traces, counts.clone()).await {
                self.0.notebook.put_back(&counts);
                turns::traces_dropped("store", waiting.len() as u64);
                return Err(error);
            }
            counts.clear();
            waiting = later;
        }
        Ok(())
    }
}

/// The id of a turn that begins now. The time stands first, so that ids are stored in the order in which they are made; the
/// rest nobody can guess.
fn new_id(milliseconds: i64, random: &[u8; 10]) -> String {
    let [_, _, time @ ..] = milliseconds.to_be_bytes();
    hex::encode(&time) + &hex::encode(random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_in_the_order_of_time() {
        let id = new_id(0x0192_abcd_ef01, &[7; 10]);
        assert_eq!(id, "0192abcdef0107070707070707070707");
        assert!(new_id(0x0192_abcd_ef02, &[0; 10]) > id);
    }
}
