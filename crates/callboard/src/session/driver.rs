//! The loop of a turn: send the request to a model server, feed its reply to the engine, run tools, hand events up.

use std::time::Duration;

use callboard_core::contract::{Call, Report, ToolCache};
use callboard_core::model::{CallId, Delta, Finish, Item, Usage};
use callboard_core::turn::{Action, CharacterRules, Ending, Event, Input, ModelCall, Turn, TurnRequest, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChatRequest, ReplyReader};
use http::HeaderValue;

use super::idle_and_keep_alive::Timers;
use super::model_request::ModelRequest;
use super::tool_runner::ToolRunner;
use crate::config::Settings;
use crate::memory_budget::RequestMemory;
use crate::random;
use crate::store::CharacterMemory;
use crate::telemetry::metrics;
use crate::trace::{ClientRequest, TraceEvent, TraceRecorder, Traces, TurnStart};
use crate::upstream::{Client, InFlight, ReplyBody, Route, Upstreams};

/// What every turn needs from the program.
pub struct TurnContext<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// Compiled tools.
    pub tools: &'a ToolCache,
    /// The model servers.
    pub upstreams: &'a Upstreams,
    /// This thread's connections to them.
    pub client: Client,
    /// The client's own key, for model servers that have none configured.
    pub authorization: Option<HeaderValue>,
    /// Identifies the request in the log.
    pub request_id: String,
    /// What the request takes of the memory budget.
    pub memory: RequestMemory,
}

/// Progress of a turn.
#[derive(Debug)]
pub enum Progress {
    /// Events for the client.
    Events(Vec<Event>),
    /// Nothing new, but the client should see that the connection is alive.
    KeepAlive,
    /// The reply is complete.
    Complete(Finish, Option<Usage>),
    /// There will be no reply.
    Failed(ApiError),
}

/// A turn in progress.
pub struct TurnDriver {
    pub(super) turn: Turn,
    pub(super) kind: Kind,
    pub(super) request: ChatRequest,
    pub(super) model: ModelRequest,
    pub(super) reply_limits: ReplyLimits,
    pub(super) memory: RequestMemory,
    /// How much of it the reply in progress takes.
    pub(super) reply_memory: usize,
    pub(super) busy_time: Duration,
    pub(super) timers: Timers,
    pub(super) actions: Vec<Action>,
    pub(super) deltas: Vec<Delta>,
    pub(super) state: State,
    pub(super) busy: Option<InFlight>,
    pub(super) emitted: bool,
    pub(super) lost_replies: usize,
    pub(super) trace: TraceRecorder,
}

/// How large one reply may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplyLimits {
    pub(super) bytes: usize,
    /// Once it is parsed.
    pub(super) memory: usize,
}

/// Who runs the tools.
pub(super) enum Kind {
    /// The client.
    Gateway,
    /// We do, for a character.
    Character(Box<ToolRunner>),
}

pub(super) enum State {
    New,
    Ask(ModelCall),
    Reading(Box<Reading>),
    Closing(ReplyBody),
    Run(Vec<Call>),
    Failed(ApiError),
    Over,
}

/// A reply that is being read. Boxed, because it changes hands with each piece.
pub(super) struct Reading {
    pub(super) reader: ReplyReader,
    pub(super) body: ReplyBody,
}

/// The engine of a turn whose tools the client runs.
pub(crate) fn gateway_engine(settings: &Settings, turn: TurnRequest, reasks: usize) -> Turn {
    let turn_settings = TurnSettings {
        reasks: u32::try_from(reasks).unwrap_or(u32::MAX),
        stream_arguments: settings.contract.stream_arguments,
        arguments_bytes: settings.limits.arguments_bytes,
        arguments_limit: "limits.arguments_bytes",
        reply_calls: settings.limits.reply_calls,
    };
    Turn::new(turn, turn_settings, Box::new(random::bytes))
}

impl TurnDriver {
    /// A turn for a client with its own tools.
    pub fn gateway(context: TurnContext<'_>, (request, turn): (ChatRequest, TurnRequest), routes: Vec<Route>) -> Self {
        let engine = gateway_engine(context.settings, turn, context.settings.contract.reasks);
        Self::new(context, request, engine, Kind::Gateway, routes)
    }

    /// A turn of a character.
    pub(super) fn character(
        context: TurnContext<'_>,
        (request, turn): (ChatRequest, TurnRequest),
        (settings, rules): (TurnSettings, CharacterRules),
        runner: ToolRunner,
        routes: Vec<Route>,
    ) -> Self {
        let engine = Turn::for_character(turn, settings, rules, Box::new(random::bytes));
        Self::new(context, request, engine, Kind::Character(Box::new(runner)), routes)
    }

    fn new(context: TurnContext<'_>, request: ChatRequest, turn: Turn, kind: Kind, routes: Vec<Route>) -> Self {
        let TurnContext { settings, client, authorization, request_id, memory, .. } = context;
        let retries = settings.limits.retries;
        Self {
            turn,
            kind,
            request,
            model: ModelRequest::new(routes, client, authorization, retries, request_id),
            reply_limits: ReplyLimits {
                bytes: settings.limits.reply_bytes,
                memory: settings.limits.request_memory_bytes,
            },
            memory,
            reply_memory: 0,
            busy_time: settings.timeouts.busy,
            timers: Timers::new(settings.timeouts.idle, settings.timeouts.keep_alive),
            actions: Vec::new(),
            deltas: Vec::new(),
            state: State::New,
            busy: None,
            emitted: false,
            lost_replies: 0,
            trace: TraceRecorder::default(),
        }
    }

    /// Records the turn, which this request began. Without it nothing is recorded.
    pub fn trace_with(&mut self, traces: &Traces, client: ClientRequest<'_>) -> &mut TraceRecorder {
        let about = TurnStart {
            request_id: self.model.request_id(),
            character: self.runner().map(|runner| runner.character().manifest().id.as_str()),
            client,
            ..TurnStart::of(&self.request)
        };
        self.trace = traces.begin(&about);
        &mut self.trace
    }

    fn runner(&self) -> Option<&ToolRunner> {
        match &self.kind {
            Kind::Gateway => None,
            Kind::Character(runner) => Some(runner),
        }
    }

    /// How long it may keep a thread busy.
    pub fn busy_time(&self) -> Duration {
        self.busy_time
    }

    /// Whether the reply is complete and [`Progress::Complete`] comes next.
    pub fn is_ending(&self) -> bool {
        matches!(self.actions.as_slice(), [Action::Finish(Ending::Complete { .. })])
    }

    /// What was done to keep the contract.
    pub fn report(&self) -> &Report {
        self.turn.report()
    }

    /// The server's usage, or an estimate where it counts nothing.
    pub fn usage_or_estimate(&self, usage: Option<Usage>) -> Usage {
        usage.unwrap_or_else(|| Usage::estimate(self.request.prompt_bytes(), self.turn.spoken_bytes()))
    }

    /// What this turn added to its conversation.
    pub fn transcript(&self) -> &[Item] {
        self.turn.transcript()
    }

    /// The text of the last reply, where the character's text is not delivered.
    pub fn withheld_text(&self) -> &str {
        self.turn.withheld_text()
    }

    /// The character's part, with all that succeeded.
    pub fn memory(&self) -> Option<&CharacterMemory> {
        self.runner().map(ToolRunner::memory)
    }

    /// Takes the character's part, at the end of the turn.
    pub fn take_memory(&mut self) -> Option<CharacterMemory> {
        match &mut self.kind {
            Kind::Gateway => None,
            Kind::Character(runner) => Some(runner.take_memory()),
        }
    }

    /// Advances until there is something to report.
    pub async fn next(&mut self) -> Progress {
        let progress = self.advance().await;
        self.trace.record(TraceEvent::Contract(self.turn.report()));
        match &progress {
            Progress::Events(events) => {
                self.trace.record(TraceEvent::Emitted(events));
                self.count_unrun_calls(events);
            }
            Progress::KeepAlive => {}
            Progress::Complete(finish, usage) => self.trace.record(TraceEvent::Complete(*finish, usage.as_ref())),
            Progress::Failed(error) => self.trace.record(TraceEvent::Failed(error)),
        }
        progress
    }

    /// Calls that ran are counted where they run.
    fn count_unrun_calls(&self, events: &[Event]) {
        let Some(runner) = self.runner() else { return };
        for event in events {
            if let Event::RanTool(result) = event
                && result.ran.is_none()
            {
                runner.count_unrun(self.name_of(&result.id), result.outcome);
            }
        }
    }

    /// The tool that a call of this turn names.
    fn name_of(&self, id: &CallId) -> &str {
        let spoken = self.turn.transcript().iter().rev().find_map(|item| match item {
            Item::Assistant { calls, .. } => calls.iter().find(|call| call.id == *id),
            _ => None,
        });
        spoken.map_or("", |call| call.name.as_str())
    }

    async fn advance(&mut self) -> Progress {
        if matches!(self.state, State::New) && self.request.may_call() {
            tokio::select! {
                biased;
                () = self.model.wait_for_probe() => {}
                () = self.timers.keep_alive() => return Progress::KeepAlive,
            }
        }
        loop {
            if let Some(progress) = self.perform() {
                return progress;
            }
            match std::mem::replace(&mut self.state, State::Over) {
                State::New => self.turn.step(Input::Start, &mut self.actions),
                State::Ask(ask) => {
                    if let Some(progress) = self.ask(ask).await {
                        return progress;
                    }
                }
                State::Reading(reading) => {
                    if let Some(progress) = self.read(reading).await {
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

    /// Takes over the engine's actions; returns what goes to the client.
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
            self.emitted = true;
            self.timers.sent();
            return Some(Progress::Events(events));
        }
        let ending = ending?;
        self.state = State::Over;
        metrics::contract(self.report());
        Some(match ending {
            Ending::Complete { finish, usage } => {
                if !self.report().is_clean() {
                    tracing::debug!(request_id = self.model.request_id(), contract = %self.report(), "contract enforced");
                }
                Progress::Complete(finish, usage)
            }
            Ending::Failed(violation) => {
                tracing::warn!(
                    request_id = self.model.request_id(),
                    code = violation.kind.code(),
                    tool = violation.tool,
                    "the model broke the contract; giving up"
                );
                Progress::Failed((&violation).into())
            }
        })
    }

    /// Sends the request to a model server. Keep-alives go on while it waits.
    async fn ask(&mut self, ask: ModelCall) -> Option<Progress> {
        if !ask.appended.is_empty() && !self.model.is_in_flight() {
            tracing::debug!(request_id = self.model.request_id(), report = %self.report(), "asking the model again");
        }
        let sent = tokio::select! {
            biased;
            sent = self.model.send(&self.request, &ask, &mut self.trace) => sent,
            () = self.timers.keep_alive() => {
                self.state = State::Ask(ask);
                return Some(Progress::KeepAlive);
            }
        };
        match (sent, &self.kind) {
            (Ok(started), _) => self.begin_reading(started),
            (Err(failure), Kind::Gateway) if failure.is_bad_request() && !ask.appended.is_empty() => {
                self.turn.step(Input::ReaskRefused, &mut self.actions);
            }
            (Err(failure), _) => return Some(Progress::Failed(failure.to_api())),
        }
        None
    }

    async fn run_tools(&mut self, calls: Vec<Call>) {
        let Kind::Character(runner) = &mut self.kind else {
            self.state = State::Failed(ApiError::new(500, "internal_error", "a gateway turn has no tools to run"));
            return;
        };
        let results = runner.run(calls).await;
        let out_of_time = runner.is_past_deadline();
        self.trace.record(TraceEvent::ToolsRan(&runner.take_timings()));
        self.turn.step(Input::ToolsDone { results, out_of_time }, &mut self.actions);
    }

    /// Ends a turn before its reply is complete: what ran is recorded, what did not run is cancelled. Returns the events that were not
    /// handed up.
    pub fn interrupt(&mut self) -> Vec<Event> {
        let Kind::Character(runner) = &mut self.kind else { return Vec::new() };
        let results = runner.take_done();
        if !results.is_empty() {
            self.trace.record(TraceEvent::LateResults(&results));
            self.trace.record(TraceEvent::ToolsRan(&runner.take_timings()));
        }
        self.turn.step(Input::Interrupted { results }, &mut self.actions);
        let unsent = self.actions.drain(..).filter_map(|action| match action {
            Action::Emit(event) => Some(event),
            _ => None,
        });
        unsent.collect()
    }

    /// Records why the turn ended, where the reason is not its own.
    pub fn record_failure(&mut self, error: &ApiError) {
        self.trace.record(TraceEvent::Failed(error));
    }
}

/// Completes the trace before it is stored.
impl Drop for TurnDriver {
    fn drop(&mut self) {
        self.trace.record(TraceEvent::Contract(self.turn.report()));
        self.trace.record(TraceEvent::BadCalls(self.turn.report().bad_calls()));
        self.trace.record(TraceEvent::Transcript(self.turn.transcript()));
    }
}
