//! The traces of all turns: counted when the turn ends, stored in batches, and sent to a collector where one is set.

use std::sync::Arc;

use callboard_core::wire::chat::ChatRequest;

use super::content::recorded_json;
use super::context::Sampling;
use super::counted_model_names::ModelNames;
use super::otlp::Outbox;
use super::store_queue::{Pending, StoreBatch};
use super::{PassedThrough, RecordedInput, TraceContext, TraceParent, TraceRecorder, TurnTrace, turn_metrics};
use crate::clock;
use crate::hex;
use crate::random;
use crate::store::{Store, StoreError};
use crate::telemetry::log_throttle::LogThrottle;

/// The most traces in one transaction, so that other writers do not wait long.
const PER_TRANSACTION: usize = 512;

static STORE_FAILED: LogThrottle = LogThrottle::new();

/// What is recorded.
#[derive(Debug, Clone, Default)]
pub struct TraceRules {
    /// The percentage of turns that are stored as traces.
    pub percent: usize,
    /// Whether traces may hold messages, arguments and results.
    pub content: bool,
    /// The models that the settings name.
    pub models: Vec<String>,
}

/// The request of a client that begins a turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientRequest<'a> {
    /// Its endpoint.
    pub endpoint: &'static str,
    /// The client, as it names itself.
    pub client: Option<&'a str>,
    /// Its body; copied only where it may be recorded.
    pub body: Option<&'a str>,
    /// The conversation that the client named in a header.
    pub named_conversation: Option<&'a str>,
    /// The caller's own trace.
    pub caller: Option<&'a TraceParent>,
}

/// What is known when a turn begins.
#[derive(Debug, Default)]
pub struct TurnStart<'a> {
    /// Its request.
    pub client: ClientRequest<'a>,
    /// The id of its request.
    pub request_id: &'a str,
    /// The character; none for the gateway.
    pub character: Option<&'a str>,
    /// The model that was asked for, or that plays the character.
    pub model: &'a str,
    /// Whether the model may call tools.
    pub tools_offered: bool,
    /// Whether the turn continues with results of calls.
    pub continues: bool,
    /// Bytes of messages and tools.
    pub input_bytes: usize,
    /// The messages as JSON text; copied only where they may be recorded.
    pub messages: &'a str,
    /// What is passed through, if it is that.
    pub passed_through: Option<PassedThrough>,
}

impl<'a> TurnStart<'a> {
    /// What a request says about its turn.
    pub fn of(request: &'a ChatRequest) -> Self {
        Self {
            model: &request.model,
            tools_offered: request.may_call(),
            continues: request.continues,
            input_bytes: request.prompt_bytes(),
            messages: request.messages_text(),
            ..Self::default()
        }
    }

    fn recorded_input(&self, content: bool) -> RecordedInput {
        if !content {
            return RecordedInput::new(self.input_bytes, None);
        }
        RecordedInput {
            request: self.client.body.and_then(recorded_json),
            named_conversation: self.client.named_conversation.map(str::to_owned),
            ..RecordedInput::new(self.input_bytes, Some(self.messages))
        }
    }
}

/// A handle to all traces; clones share them.
#[derive(Clone)]
pub struct Traces(Arc<Inner>);

struct Inner {
    rules: TraceRules,
    names: ModelNames,
    pending: Pending,
    outbox: Option<Outbox>,
    store: Store,
    writing: tokio::sync::Mutex<()>,
    batch_full: tokio::sync::Notify,
}

impl Traces {
    /// Traces for this store, and for the collector of the outbox.
    pub fn new(rules: TraceRules, store: Store, outbox: Option<Outbox>) -> Self {
        Self(Arc::new(Inner {
            names: ModelNames::new(rules.models.iter().cloned()),
            rules,
            pending: Pending::default(),
            outbox,
            store,
            writing: tokio::sync::Mutex::default(),
            batch_full: tokio::sync::Notify::new(),
        }))
    }

    /// Whether the content of turns may be recorded.
    pub fn records_content(&self) -> bool {
        self.0.rules.content && (self.0.rules.percent > 0 || self.0.outbox.is_some())
    }

    /// A recorder for a turn that begins now.
    pub fn begin(&self, about: &TurnStart<'_>) -> TraceRecorder {
        let (started_at_ms, random) = (clock::milliseconds(), random::bytes::<10>());
        let draw = random.iter().fold(0_usize, |sum, byte| (sum * 256 + usize::from(*byte)) % 100);
        let (id, sampled) = (new_id(started_at_ms, &random), draw < self.0.rules.percent);
        let sampling = Sampling { collector: self.0.outbox.is_some(), sampled, any: self.0.rules.percent > 0 };
        let context = TraceContext::begin(about.client.caller, &id, random::bytes::<8>(), sampling);
        let content = self.0.rules.content && (sampled || context.exported);
        let trace = TurnTrace {
            character: about.character.map(str::to_owned),
            model: about.model.to_owned(),
            id,
            object: "trace",
            context,
            started_at_ms,
            endpoint: about.client.endpoint,
            passed_through: about.passed_through.clone(),
            request_id: about.request_id.to_owned(),
            tools_offered: about.tools_offered,
            continues: about.continues,
            client: about.client.client.map(str::to_owned),
            input: about.recorded_input(content),
            sampled,
            ..TurnTrace::default()
        };
        TraceRecorder::new(self.clone(), trace, content)
    }

    /// What waits to be sent to the collector.
    pub fn outbox(&self) -> Option<&Outbox> {
        self.0.outbox.as_ref()
    }

    /// Counts a finished turn, and queues its trace for the collector and the store.
    pub(super) fn add(&self, mut trace: TurnTrace) {
        let answered = trace.upstream_requests.iter().any(|request| request.first_byte_ms.is_some());
        trace.counted_as = self.0.names.counted_as(&trace.model, answered);
        if let Some(outbox) = self.0.outbox.as_ref().filter(|_| trace.context.exported) {
            outbox.add(trace.clone());
        }
        if self.0.pending.add(trace) {
            self.0.batch_full.notify_one();
        }
    }

    /// Brings `/metrics` up to date.
    pub fn count(&self) {
        for sum in self.0.pending.take_metrics() {
            turn_metrics::turns(&sum.character, &sum.model, &sum.counts);
        }
    }

    /// Waits until a whole batch of traces waits to be stored.
    pub async fn batch_full(&self) {
        self.0.batch_full.notified().await;
    }

    /// Stores everything that waits.
    pub async fn flush(&self) {
        self.count();
        let _alone = self.0.writing.lock().await;
        let batch = self.0.pending.take_batch();
        turn_metrics::traces_dropped("store", batch.dropped);
        if let Err(error) = self.write(&batch).await
            && STORE_FAILED.is_due("")
        {
            tracing::warn!(%error, "traces and counts cannot be stored; traces are dropped");
        }
    }

    /// The counts are written in the same transaction as the first traces.
    async fn write(&self, batch: &StoreBatch) -> Result<(), StoreError> {
        let mut counts = batch.counts();
        let mut waiting = batch.traces.as_slice();
        while !waiting.is_empty() || !counts.is_empty() {
            let (now, later) = waiting.split_at_checked(PER_TRANSACTION).unwrap_or((waiting, &[]));
            let traces = now.iter().map(TurnTrace::stored).collect();
            if let Err(error) = self.0.store.store_traces(traces, counts.clone()).await {
                self.0.pending.put_back(&counts);
                turn_metrics::traces_dropped("store", waiting.len() as u64);
                return Err(error);
            }
            counts.clear();
            waiting = later;
        }
        Ok(())
    }
}

/// The id of a turn. The time comes first, so ids are stored in the order of creation; the rest cannot be guessed.
fn new_id(milliseconds: i64, random: &[u8; 10]) -> String {
    let [_, _, time @ ..] = milliseconds.to_be_bytes();
    hex::encode(&time) + &hex::encode(random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time() {
        let id = new_id(0x0192_abcd_ef01, &[7; 10]);
        assert_eq!(id, "0192abcdef0107070707070707070707");
        assert!(new_id(0x0192_abcd_ef02, &[0; 10]) > id);
    }
}
