//! Replies that pass through byte for byte, from servers whose contract mode is `observe` or `off`.
//!
//! An observer feeds an engine of its own and counts violations; it never changes what the client gets.

use bytes::Bytes;
use callboard_core::model::{Delta, Finish, Usage};
use callboard_core::turn::{Action, Input, Turn, TurnRequest};
use callboard_core::wire::chat::ReplyReader;
use futures_util::stream::{self, Stream};

use super::driver::gateway_engine;
use crate::config::Settings;
use crate::telemetry::metrics;
use crate::trace::{TraceEvent, TraceRecorder};
use crate::upstream::{Failure, ReplyInTransit};

/// Reads a reply without changing it.
pub struct Observer {
    turn: Turn,
    reader: ReplyReader,
    deltas: Vec<Delta>,
    actions: Vec<Action>,
    usable: bool,
    finish: Option<Finish>,
    usage: Option<Usage>,
}

impl Observer {
    /// An observer with an engine that never re-asks.
    pub fn new(settings: &Settings, turn: TurnRequest, is_stream: bool) -> Self {
        let limits = &settings.limits;
        let bytes = limits.reply_bytes;
        let reader = if is_stream { ReplyReader::stream(bytes) } else { ReplyReader::whole(bytes) };
        let reader = reader.within_memory(limits.request_memory_bytes);
        let turn = gateway_engine(settings, turn, 0);
        let (deltas, actions) = (Vec::new(), Vec::new());
        Self { turn, reader, deltas, actions, usable: true, finish: None, usage: None }
    }

    fn feed(&mut self, bytes: &[u8], trace: &mut TraceRecorder) {
        self.usable = self.usable && self.reader.feed(bytes, &mut self.deltas).is_ok();
        trace.record(TraceEvent::AnsweredBy(self.reader.model()));
        self.step(trace);
    }

    fn finish(&mut self, trace: &mut TraceRecorder) {
        if self.usable && self.reader.finish(&mut self.deltas).is_ok() {
            trace.record(TraceEvent::AnsweredBy(self.reader.model()));
            self.step(trace);
            self.turn.step(Input::ReplyEnded, &mut self.actions);
            self.trace_events(trace);
            let report = self.turn.report().as_observed();
            metrics::contract(&report);
            trace.record(TraceEvent::Contract(&report));
            trace.record(TraceEvent::BadCalls(report.bad_calls()));
        }
    }

    fn step(&mut self, trace: &mut TraceRecorder) {
        for delta in self.deltas.drain(..) {
            match &delta {
                Delta::Usage(usage) => self.usage = Some(usage.clone()),
                Delta::Finish(finish) => self.finish = Some(*finish),
                _ => {}
            }
            self.turn.step(Input::Delta(delta), &mut self.actions);
        }
        self.trace_events(trace);
    }

    fn trace_events(&mut self, trace: &mut TraceRecorder) {
        for action in self.actions.drain(..) {
            if let Action::Emit(event) = action {
                trace.record(TraceEvent::Emitted(&[event]));
            }
        }
    }
}

/// A reply in transit.
struct Passthrough {
    body: ReplyInTransit,
    observer: Option<Observer>,
    trace: TraceRecorder,
    has_ended: bool,
}

impl Passthrough {
    async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        if self.has_ended {
            return None;
        }
        match self.body.next().await {
            Ok(None) => {
                self.end();
                None
            }
            Err(failure) => {
                self.trace.record(TraceEvent::RequestFailed(&failure));
                self.trace.record(TraceEvent::Failed(&failure.to_api()));
                drop(std::mem::take(&mut self.trace));
                self.has_ended = true;
                Some(Err(failure))
            }
            Ok(Some(bytes)) => {
                let Self { body, observer, trace, .. } = self;
                trace.record(TraceEvent::ReplyPiece(&bytes));
                observer.iter_mut().for_each(|observer| observer.feed(&bytes, trace));
                // No more is asked for after as many bytes as the head announces.
                if body.body.is_ended() {
                    self.end();
                }
                Some(Ok(bytes))
            }
        }
    }

    fn end(&mut self) {
        self.has_ended = true;
        let Self { observer, trace, .. } = self;
        observer.iter_mut().for_each(|observer| observer.finish(trace));
        let (finish, usage) = observer.take().map(|seen| (seen.finish, seen.usage)).unwrap_or_default();
        if let Some(usage) = &usage {
            trace.record(TraceEvent::ReplyUsage(usage));
        }
        trace.record(TraceEvent::ReplyEnded);
        trace.record(TraceEvent::PassedThrough(finish, usage.as_ref()));
        // Handed over now: a client that has the end of the reply finds its trace.
        drop(std::mem::take(trace));
    }
}

/// Streams a body unchanged, with an observer if there is one. The trace says that calls were passed through.
pub fn passthrough(
    body: ReplyInTransit,
    observer: Option<Observer>,
    trace: TraceRecorder,
) -> impl Stream<Item = Result<Bytes, Failure>> + Send {
    let passthrough = Passthrough { body, observer, trace, has_ended: false };
    stream::unfold(passthrough, |mut reply| async move { reply.next().await.map(|bytes| (bytes, reply)) })
}
