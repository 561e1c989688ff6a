//! The loop of a turn: ask the model server, feed its reply to the engine, hand events up, ask again when told to.

use std::time::Duration;

use callboard_core::contract::{Call, Report};
use callboard_core::model::{Delta, Item, Usage};
use callboard_core::turn::{Action, Ending, Event, Input, ModelCall, Turn};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChatRequest, ReplyFault, ReplyReader};
use futures_util::FutureExt as _;

use super::asking::Asked;
use super::progress::Progress;
use super::stopwatch::{Bell, Stopwatch};
use super::{Asking, Performer, Record};
use crate::telemetry::metrics;
use crate::trace::{Caller, TraceRecorder, Traces, TurnAbout};
use crate::upstream::{Busy, Failure, ReplyBody};

/// How long the end of a connection is waited for after the end of its reply.
const CLOSING_TIME: Duration = Duration::from_millis(100);

/// What a session is made of.
pub struct SessionParts {
    /// The client's request.
    pub request: ChatRequest,
    /// The engine, not yet begun.
    pub turn: Turn,
    /// Where the model is asked.
    pub asking: Asking,
    /// How long a model server may be silent within a reply.
    pub idle: Duration,
    /// How long a client may hear nothing.
    pub keep_alive: Duration,
    /// The largest reply or event that is read.
    pub reply_bytes: usize,
    /// The character whose tools are run here, if any.
    pub performer: Option<Performer>,
}

/// A turn in motion.
pub struct Session {
    parts: SessionParts,
    actions: Vec<Action>,
    deltas: Vec<Delta>,
    state: State,
    watch: Option<Stopwatch>,
    busy: Option<Busy>,
    spoke: bool,
    losses: usize,
    trace: TraceRecorder,
}

enum State {
    New,
    Ask(ModelCall),
    Reading(ReplyReader, ReplyBody),
    Closing(ReplyBody),
    Run(Vec<Call>),
    Failed(ApiError),
    Over,
}

impl Session {
    /// A session that has not begun.
    pub fn new(parts: SessionParts) -> Self {
        Self {
            parts,
            actions: Vec::new(),
            deltas: Vec::new(),
            state: State::New,
            watch: None,
            busy: None,
            spoke: false,
            losses: 0,
            trace: TraceRecorder::default(),
        }
    }

    /// Records the turn, which came in by this endpoint. Without it nothing is recorded.
    pub fn trace_with(&mut self, traces: &Traces, endpoint: &'static str, caller: Option<&Caller>) {
        let SessionParts { request, asking, performer, .. } = &self.parts;
        let about = TurnAbout {
            endpoint,
            request_id: &asking.request_id,
            character: performer.as_ref().map(|performer| performer.character().manifest().id.as_str()),
            caller,
            ..TurnAbout::of(request)
        };
        self.trace = traces.begin(&about);
    }

    /// The recorder of the turn, for those who know more about it.
    pub fn trace(&mut self) -> &mut TraceRecorder {
        &mut self.trace
    }

    fn complete_trace(&mut self) {
        self.trace.contract(self.parts.turn.report());
        self.trace.name_calls(self.parts.turn.transcript());
    }

    /// Whether the reply is whole, and that is told next.
    pub fn is_ending(&self) -> bool {
        matches!(self.actions.as_slice(), [Action::Finish(Ending::Complete { .. })])
    }

    /// What was done to keep the contract.
    pub fn report(&self) -> &Report {
        self.parts.turn.report()
    }

    /// The usage to show: the server's, or an estimate where it counts nothing.
    pub fn usage_or_estimate(&self, usage: Option<Usage>) -> Usage {
        usage.unwrap_or_else(|| Usage::estimate(self.parts.request.prompt_bytes(), self.parts.turn.spoken_bytes()))
    }

    /// The client's request.
    pub fn request(&self) -> &ChatRequest {
        &self.parts.request
    }

    /// Names the request in the log.
    pub fn request_id(&self) -> &str {
        &self.parts.asking.request_id
    }

    /// Goes on until there is something to say.
    pub async fn next(&mut self) -> Progress {
        let progress = self.go_on().await;
        self.trace.contract(self.parts.turn.report());
        match &progress {
            Progress::Events(events) => self.trace.said(events),
            Progress::KeepAlive => {}
            Progress::Complete(finish, usage) => self.trace.complete(*finish, usage.as_ref()),
            Progress::Failed(error) => self.trace.failed(error),
        }
        progress
    }

    async fn go_on(&mut self) -> Progress {
        loop {
            if let Some(progress) = self.perform() {
                return progress;
            }
            match std::mem::replace(&mut self.state, State::Over) {
                State::New => self.parts.turn.step(Input::Start, &mut self.actions),
                State::Ask(ask) => {
                    if let Some(progress) = self.ask(ask).await {
                        return progress;
                    }
                }
                State::Reading(reader, body) => {
                    if let Some(progress) = self.read(reader, body).await {
                        return progress;
                    }
                }
                State::Closing(body) => self.close(body).await,
                State::Run(calls) => self.run_tools(calls).await,
                State::Failed(error) => return Progress::Failed(error),
                State::Over => return Progress::Failed(ApiError::upstream_broken("it was read past its end")),
            }
        }
    }

    /// Does what the engine wants; what the client is to hear comes back.
    fn perform(&mut self) -> Option<Progress> {
        let mut events = Vec::new();
        let mut ending = None;
        for action in self.actions.drain(..) {
            match action {
                Action::Emit(event) => events.push(event),
                Action::CallModel(ask) => self.state = State::Ask(ask),
                Action::RunTools(calls) => self.state = State::Run(calls),
                Action::Finish(end) => ending = Some(end),
            }
        }
        if !events.is_empty() {
            self.actions.extend(ending.map(Action::Finish));
            self.spoke = true;
            if let Some(watch) = &mut self.watch {
                watch.spoke();
            }
            return Some(Progress::Events(events));
        }
        let ending = ending?;
        self.state = State::Over;
        metrics::contract(self.report());
        Some(match ending {
            Ending::Complete { finish, usage } => {
                if !self.report().is_clean() {
                    tracing::info!(request_id = self.request_id(), contract = %self.report(), "the contract was kept");
                }
                Progress::Complete(finish, usage)
            }
            Ending::Failed(violation) => {
                tracing::warn!(
                    request_id = self.request_id(),
                    code = violation.kind.code(),
                    "the model broke the contract; given up"
                );
                Progress::Failed((&violation).into())
            }
        })
    }

    /// Asks the model. While it reads the request, the client hears that its connection lives.
    async fn ask(&mut self, ask: ModelCall) -> Option<Progress> {
        if !ask.appended.is_empty() && !self.parts.asking.is_under_way() {
            tracing::debug!(request_id = self.request_id(), report = %self.report(), "asking the model again");
        }
        let watch = self.watch.get_or_insert_with(|| Stopwatch::new(self.parts.idle, self.parts.keep_alive));
        let parts = &mut self.parts;
        let asked = tokio::select! {
            biased;
            asked = parts.asking.send(&parts.request, &ask, &mut self.trace) => asked,
            () = watch.keep_alive() => {
                self.state = State::Ask(ask);
                return Some(Progress::KeepAlive);
            }
        };
        match asked {
            Ok(asked) => self.begin_reading(asked),
            Err(failure) if failure.is_bad_request() && !ask.appended.is_empty() && parts.performer.is_none() => {
                parts.turn.step(Input::ReaskRefused, &mut self.actions);
            }
            Err(failure) => return Some(self.fail(&failure)),
        }
        None
    }

    fn begin_reading(&mut self, asked: Asked) {
        let (reply, most) = (asked.reply, self.parts.reply_bytes);
        let reader = if reply.is_stream { ReplyReader::stream(most) } else { ReplyReader::whole(most) };
        let reader = reader.until_close(reply.until_close);
        self.watch.get_or_insert_with(|| Stopwatch::new(self.parts.idle, self.parts.keep_alive)).heard();
        self.busy = Some(asked.busy);
        self.state = State::Reading(reader, reply.body);
    }

    /// A reply broke off, or cannot be used. As long as nothing has been passed on, another server may give a whole one.
    fn lost(&mut self, failure: &Failure, error: ApiError) {
        self.busy = None;
        self.trace.lost(failure);
        let said = self.spoke || self.actions.iter().any(|action| matches!(action, Action::Emit(_)));
        if said || !self.goes_on(failure) {
            self.note_failure(failure);
            self.state = State::Failed(error);
            return;
        }
        self.parts.turn.step(Input::ReplyLost, &mut self.actions);
    }

    /// True when the first server in line may do better: the same in another way, or else the next one.
    fn goes_on(&mut self, failure: &Failure) -> bool {
        let asking = &mut self.parts.asking;
        if asking.has_another_way(failure) {
            return true;
        }
        let another = failure.is_the_servers() && self.losses + 1 < asking.routes.len();
        if another {
            self.losses += 1;
            asking.give_up_on_first(failure);
        }
        another
    }

    /// Reads one piece of the reply.
    async fn read(&mut self, mut reader: ReplyReader, mut body: ReplyBody) -> Option<Progress> {
        let watch = self.watch.get_or_insert_with(|| Stopwatch::new(self.parts.idle, self.parts.keep_alive));
        let piece = tokio::select! {
            biased;
            piece = body.next() => piece,
            bell = watch.bell() => match bell {
                Bell::KeepAlive => {
                    self.state = State::Reading(reader, body);
                    return Some(Progress::KeepAlive);
                }
                Bell::Idle => Err(Failure::Timeout { phase: "within a reply", seconds: watch.idle_seconds() }),
            },
        };
        let piece = match piece {
            Err(failure) => {
                self.lost(&failure, failure.to_api());
                return None;
            }
            Ok(piece) => piece,
        };
        watch.heard();
        let fed = match &piece {
            Some(bytes) => reader.feed(bytes, &mut self.deltas),
            None => reader.finish(&mut self.deltas),
        };
        for delta in self.deltas.drain(..) {
            match &delta {
                Delta::Usage(usage) => self.trace.spent(usage),
                Delta::Finish(finish) => self.trace.stopped(*finish),
                _ => {}
            }
            self.parts.turn.step(Input::Delta(delta), &mut self.actions);
        }
        self.trace.answered_by(reader.model());
        self.after_piece(fed, reader, piece.map(|_| body));
        None
    }

    /// What came before a fault is the client's; the fault follows it.
    fn after_piece(&mut self, fed: Result<(), ReplyFault>, reader: ReplyReader, rest: Option<ReplyBody>) {
        match (fed, rest) {
            (Err(fault), _) => self.lost(&Failure::from(&fault), fault_error(&fault)),
            (Ok(()), Some(body)) if reader.is_ended() => self.close_at_once(body),
            (Ok(()), Some(body)) => self.state = State::Reading(reader, body),
            (Ok(()), None) => self.reply_ended(),
        }
    }

    /// The end of the connection often comes with that of the reply: then what was said and its end are known together.
    fn close_at_once(&mut self, mut body: ReplyBody) {
        match body.next().now_or_never() {
            Some(Ok(None)) => self.reply_ended(),
            _ => self.state = State::Closing(body),
        }
    }

    /// The reply is whole; its connection is worth keeping, so its last bytes are awaited for a moment.
    async fn close(&mut self, mut body: ReplyBody) {
        let rest = async { while let Ok(Some(_)) = body.next().await {} };
        let _ = tokio::time::timeout(CLOSING_TIME, rest).await;
        self.reply_ended();
    }

    fn reply_ended(&mut self) {
        self.busy = None;
        self.trace.replied();
        self.parts.asking.succeeded();
        self.parts.turn.step(Input::ReplyEnded, &mut self.actions);
    }

    async fn run_tools(&mut self, calls: Vec<Call>) {
        let Some(performer) = &mut self.parts.performer else { return };
        let results = performer.run(calls).await;
        let out_of_time = performer.is_late();
        self.trace.ran(&performer.take_timings());
        self.parts.turn.step(Input::ToolsDone { results, out_of_time }, &mut self.actions);
    }

    /// The client is gone: what ran is put on record, what did not is cancelled. What ran and had not been told comes back.
    pub fn interrupt(&mut self) -> Vec<Event> {
        let results = self.parts.performer.as_mut().map(Performer::take_done).unwrap_or_default();
        if let Some(performer) = self.parts.performer.as_mut().filter(|_| !results.is_empty()) {
            self.trace.answered_late(&results);
            self.trace.ran(&performer.take_timings());
        }
        self.parts.turn.step(Input::Interrupted { results }, &mut self.actions);
        let told = self.actions.drain(..).filter_map(|action| match action {
            Action::Emit(event) => Some(event),
            _ => None,
        });
        told.collect()
    }

    /// The character's state and its journal after all that succeeded.
    pub fn record(&self) -> Option<&Record> {
        self.parts.performer.as_ref().map(Performer::record)
    }

    /// What this turn added to its conversation.
    pub fn transcript(&self) -> &[Item] {
        self.parts.turn.transcript()
    }

    fn fail(&mut self, failure: &Failure) -> Progress {
        self.note_failure(failure);
        Progress::Failed(failure.to_api())
    }

    fn note_failure(&self, failure: &Failure) {
        let Some(route) = self.parts.asking.routes.first() else { return };
        route.upstream.note(Some(failure));
        let upstream = &route.upstream.url;
        tracing::warn!(request_id = self.request_id(), upstream, %failure, "no whole reply came from a model server");
    }
}

/// The trace is told all that only the session knows, before it is stored.
impl Drop for Session {
    fn drop(&mut self) {
        self.complete_trace();
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
