//! The reply of a model server as it arrives: fed to the engine piece by piece, retried where it breaks off.

use std::time::Duration;

use callboard_core::model::Delta;
use callboard_core::turn::{Action, Input};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ReplyFault, ReplyReader};
use futures_util::FutureExt as _;

use super::driver::{Progress, Reading, ReplyLimits, State, TurnDriver};
use super::idle_and_keep_alive::Timer;
use super::model_request::StartedReply;
use crate::memory_budget::MemoryExceeded;
use crate::trace::TraceEvent;
use crate::upstream::{Failure, ReplyBody};

/// How long the end of a connection is waited for after the end of its reply.
const CLOSING_TIME: Duration = Duration::from_millis(100);

impl TurnDriver {
    pub(super) fn begin_reading(&mut self, StartedReply { reply, busy, extra_usage }: StartedReply) {
        for usage in extra_usage {
            self.turn.step(Input::ExtraUsage(usage), &mut self.actions);
        }
        let ReplyLimits { bytes, memory } = self.reply_limits;
        let reader = if reply.is_stream { ReplyReader::stream(bytes) } else { ReplyReader::whole(bytes) };
        let reader = reader.within_memory(memory);
        // What an earlier reply said is still held.
        self.reply_memory = 0;
        self.timers.received();
        self.busy = Some(busy);
        let reader = reader.until_close(reply.until_close);
        self.state = State::Reading(Box::new(Reading { reader, body: reply.body }));
    }

    /// A reply broke off or cannot be used. As long as nothing was sent to the client, the request is retried.
    fn lose_reply(&mut self, failure: &Failure, error: ApiError) {
        self.busy = None;
        self.trace.record(TraceEvent::RequestFailed(failure));
        let emitted = self.emitted || self.actions.iter().any(|action| matches!(action, Action::Emit(_)));
        if !emitted && self.model.has_another_way(failure) {
            self.turn.step(Input::ReplyLost, &mut self.actions);
            return;
        }
        self.model.failed(failure);
        if emitted || !self.has_next_server(failure) {
            self.state = State::Failed(error);
            return;
        }
        self.turn.step(Input::ReplyLost, &mut self.actions);
    }

    /// Whether the next server is to be asked instead of the first, or the first one again once it was started again.
    fn has_next_server(&mut self, failure: &Failure) -> bool {
        let has_next = failure.is_upstream_fault() && self.lost_replies < self.model.most_lost_replies(failure);
        if has_next {
            self.lost_replies += 1;
            self.model.demote_first();
        }
        has_next
    }

    /// Reads one piece of the reply.
    pub(super) async fn read(&mut self, mut reading: Box<Reading>) -> Option<Progress> {
        let piece = tokio::select! {
            biased;
            piece = reading.body.next() => piece,
            timer = self.timers.next() => match timer {
                Timer::KeepAlive => {
                    self.state = State::Reading(reading);
                    return Some(Progress::KeepAlive);
                }
                Timer::Idle => Err(Failure::Timeout { phase: "within a reply", seconds: self.timers.idle_seconds() }),
            },
        };
        let piece = match piece {
            Err(failure) => {
                self.lose_reply(&failure, failure.to_api());
                return None;
            }
            Ok(piece) => piece,
        };
        self.timers.received();
        piece.iter().for_each(|bytes| self.trace.record(TraceEvent::ReplyPiece(bytes)));
        let reader = &mut reading.reader;
        let fed = match &piece {
            Some(bytes) => reader.feed(bytes, &mut self.deltas),
            None => reader.finish(&mut self.deltas),
        };
        for delta in self.deltas.drain(..) {
            match &delta {
                Delta::Usage(usage) => self.trace.record(TraceEvent::ReplyUsage(usage)),
                Delta::Finish(finish) => self.trace.record(TraceEvent::ReplyFinish(*finish)),
                _ => {}
            }
            self.turn.step(Input::Delta(delta), &mut self.actions);
        }
        self.trace.record(TraceEvent::AnsweredBy(reader.model()));
        if let Err(exceeded) = self.take_memory_for(&reading.reader) {
            self.busy = None;
            self.state = State::Failed(exceeded.into());
            return None;
        }
        self.after_piece(fed, reading, piece.is_none());
        None
    }

    fn take_memory_for(&mut self, reader: &ReplyReader) -> Result<(), MemoryExceeded> {
        let more = reader.held_bytes().saturating_sub(self.reply_memory);
        self.memory.grow(more)?;
        self.reply_memory += more;
        Ok(())
    }

    /// Events before a fault are sent before it.
    fn after_piece(&mut self, fed: Result<(), ReplyFault>, reading: Box<Reading>, is_last: bool) {
        match fed {
            Err(fault) => self.lose_reply(&Failure::from(&fault), fault_error(&fault)),
            Ok(()) if is_last => self.reply_ended(),
            Ok(()) if reading.reader.is_ended() => self.close_if_ended(reading.body),
            Ok(()) => self.state = State::Reading(reading),
        }
    }

    /// The connection often ends together with the reply: then the last events and the end are sent together.
    fn close_if_ended(&mut self, mut body: ReplyBody) {
        match body.next().now_or_never() {
            Some(Ok(None)) => self.reply_ended(),
            _ => self.state = State::Closing(body),
        }
    }

    /// Waits briefly for the end of the body, so that its connection can be reused.
    pub(super) async fn close(&mut self, mut body: ReplyBody) {
        let rest = async { while let Ok(Some(_)) = body.next().await {} };
        let _ = tokio::time::timeout(CLOSING_TIME, rest).await;
        self.reply_ended();
    }

    fn reply_ended(&mut self) {
        self.busy = None;
        self.trace.record(TraceEvent::ReplyEnded);
        self.model.succeeded();
        self.turn.step(Input::ReplyEnded, &mut self.actions);
    }
}

/// A reported error that is the client's keeps its status.
fn fault_error(fault: &ReplyFault) -> ApiError {
    let ReplyFault::Reported { status: Some(status @ (400 | 401 | 403 | 404 | 413 | 422 | 429)), .. } = fault else {
        return ApiError::upstream_broken(&fault.to_string());
    };
    let error = ApiError::new(if *status == 422 { 400 } else { *status }, "upstream_error", fault.to_string());
    if *status == 429 { error.with_retry_after(1) } else { error }
}
