//! Replies that are passed on byte for byte: servers whose contract is only observed, or switched off.
//!
//! An observer reads along with an engine of its own and counts what it sees; nothing it finds changes what the client gets.

use bytes::Bytes;
use callboard_core::model::{Delta, Finish, Usage};
use callboard_core::turn::{Action, Input, Turn};
use callboard_core::wire::chat::ReplyReader;
use futures_util::stream::{self, Stream};

use crate::telemetry::metrics;
use crate::trace::{TraceEvent, TraceRecorder};
use crate::upstream::{Failure, ReplyBody};

/// Reads along with a reply.
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
    /// An observer whose engine asks nothing again.
    pub fn new(turn: Turn, reader: ReplyReader) -> Self {
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
            self.tell(trace);
            let report = self.turn.report().as_observed();
            metrics::contract(&report);
            trace.record(TraceEvent::Contract(&report));
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
        self.tell(trace);
    }

    fn tell(&mut self, trace: &mut TraceRecorder) {
        for action in self.actions.drain(..) {
            if let Action::Emit(event) = action {
                trace.record(TraceEvent::Emitted(&[event]));
            }
        }
    }
}

/// A reply on its way through.
struct Passage {
    body: ReplyBody,
    observer: Option<Observer>,
    trace: TraceRecorder,
}

impl Passage {
    async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        let Self { body, observer, trace } = self;
        match body.next().await {
            Ok(None) => {
                observer.iter_mut().for_each(|observer| observer.finish(trace));
                self.over();
                None
            }
            Err(failure) => {
                trace.record(TraceEvent::RequestFailed(&failure));
                trace.record(TraceEvent::Failed(&failure.to_api()));
                *observer = None;
                Some(Err(failure))
            }
            Ok(Some(bytes)) => {
                observer.iter_mut().for_each(|observer| observer.feed(&bytes, trace));
                Some(Ok(bytes))
            }
        }
    }

    fn over(&mut self) {
        let (finish, usage) = self.observer.take().map(|seen| (seen.finish, seen.usage)).unwrap_or_default();
        if let Some(usage) = &usage {
            self.trace.record(TraceEvent::ReplyUsage(usage));
        }
        self.trace.record(TraceEvent::ReplyEnded);
        self.trace.record(TraceEvent::PassedThrough(finish, usage.as_ref()));
    }
}

/// The bytes of a body as they come, with an observer beside them if there is one. The turn is recorded as one whose calls are
/// passed on as they are.
pub fn relay_body(
    body: ReplyBody,
    observer: Option<Observer>,
    trace: TraceRecorder,
) -> impl Stream<Item = Result<Bytes, Failure>> + Send {
    let passage = Passage { body, observer, trace };
    stream::unfold(passage, |mut passage| async move { passage.next().await.map(|bytes| (bytes, passage)) })
}
