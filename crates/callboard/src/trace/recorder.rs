//! What a session notes while a turn runs. A recorder that is off does nothing.

use std::time::{Duration, Instant};

use callboard_core::contract::{CallTally, Report};
use callboard_core::model::{Finish, Item, Usage};
use callboard_core::turn::{Event, ToolOutcome, ToolResult};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use http::HeaderMap;

use super::upstream_request::{OK, OPEN};
use super::{
    Caller, ContractNote, Input, Millis, Outcome, Output, RunBy, ToolCall, ToolTiming, TraceContext, TraceError,
    Traces, TurnTrace, UpstreamRequest,
};
use crate::upstream::{Failure, Route};

/// So many entries at most in each list of a trace.
const MOST_ENTRIES: usize = 500;

/// What is known when a turn begins.
#[derive(Debug, Default)]
pub struct TurnAbout<'a> {
    /// Which endpoint it came in by.
    pub endpoint: &'static str,
    /// The name of the request.
    pub request_id: &'a str,
    /// The character; none for the gateway.
    pub character: Option<&'a str>,
    /// The model that was asked for, or that plays the character.
    pub model: &'a str,
    /// Whether the model may call tools.
    pub tools_offered: bool,
    /// Whether the turn goes on with results of calls.
    pub continues: bool,
    /// Bytes of messages and tools.
    pub input_bytes: usize,
    /// The caller's own trace.
    pub caller: Option<&'a Caller>,
    /// The messages as JSON text; looked at only where they may be recorded.
    pub messages: &'a str,
}

impl<'a> TurnAbout<'a> {
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
}

/// What a trace gets at its beginning.
pub(super) struct Birth {
    pub(super) id: String,
    /// In milliseconds since 1970.
    pub(super) began: i64,
    /// Whether it is stored.
    pub(super) sampled: bool,
    pub(super) context: TraceContext,
}

/// The recorder of one turn.
#[derive(Default)]
pub struct TraceRecorder(Option<Box<Recording>>);

struct Recording {
    traces: Traces,
    begun: Instant,
    seen: usize,
    asking: bool,
    content: bool,
    trace: TurnTrace,
}

impl TraceRecorder {
    /// A recorder that has begun.
    pub(super) fn new(traces: Traces, birth: Birth, about: &TurnAbout<'_>) -> Self {
        let content = (birth.sampled || birth.context.exported) && traces.takes_content();
        let mut trace = blank(birth, about);
        trace.input = Input::new(about.input_bytes, content.then_some(about.messages));
        Self(Some(Box::new(Recording { traces, begun: Instant::now(), seen: 0, asking: false, content, trace })))
    }

    /// The ids under which the turn is kept elsewhere.
    pub fn kept_as(&mut self, conversation: Option<&str>, response: Option<&str>) {
        let Some(own) = &mut self.0 else { return };
        own.trace.conversation = conversation.map(str::to_owned).or(own.trace.conversation.take());
        own.trace.response = response.map(str::to_owned).or(own.trace.response.take());
    }

    /// A request goes to a model server; what the server is told of the trace comes back.
    pub fn asks(&mut self, route: &Route, goes_on: bool) -> HeaderMap {
        let Some(own) = &mut self.0 else { return HeaderMap::new() };
        let span_id = own.trace.context.new_span();
        let told = own.trace.context.headers(&span_id);
        own.asking = own.trace.upstream_requests.len() < MOST_ENTRIES;
        if !own.asking {
            own.trace.left_out += 1;
            return told;
        }
        let start_ms = own.now();
        own.trace.upstream_requests.push(UpstreamRequest {
            url: route.upstream.url.clone(),
            model: route.model.clone(),
            goes_on,
            start_ms,
            first_byte_ms: None,
            duration_ms: Millis::default(),
            answered_by: None,
            outcome: OPEN,
            status: None,
            finish_reason: None,
            usage: None,
            learned: Vec::new(),
            span_id,
        });
        told
    }

    /// The head of the reply has come.
    pub fn answered(&mut self) {
        if let Some(own) = &mut self.0 {
            let now = own.now();
            own.request(|request| request.first_byte_ms = Some(now));
        }
    }

    /// The server names the model that answers.
    pub fn answered_by(&mut self, model: Option<&str>) {
        if let (Some(own), Some(model)) = (&mut self.0, model) {
            own.request(|request| {
                request.answered_by.get_or_insert_with(|| model.to_owned());
            });
        }
    }

    /// The refusal of the last request taught something about the server.
    pub fn learned(&mut self, quirk: &'static str) {
        if let Some(own) = &mut self.0 {
            own.request(|request| request.learned.push(quirk));
        }
    }

    /// No whole reply came.
    pub fn lost(&mut self, failure: &Failure) {
        if let Some(own) = &mut self.0 {
            own.end_request(failure.label());
            let Failure::Refused { status, .. } = failure else { return };
            own.request(|request| request.status = Some(status.as_u16()));
        }
    }

    /// The reply is whole.
    pub fn replied(&mut self) {
        if let Some(own) = &mut self.0 {
            own.end_request(OK);
        }
    }

    /// The server says what the reply cost.
    pub fn spent(&mut self, usage: &Usage) {
        if let Some(own) = &mut self.0 {
            own.request(|request| request.usage = Some(usage.into()));
        }
    }

    /// The server says why the model stopped.
    pub fn stopped(&mut self, finish: Finish) {
        if let Some(own) = &mut self.0 {
            own.request(|request| request.finish_reason = Some(finish.as_word()));
        }
    }

    /// Something goes out to the client.
    pub fn said(&mut self, events: &[Event]) {
        if let Some(own) = &mut self.0 {
            events.iter().for_each(|event| own.event(event));
        }
    }

    /// Tools have been run.
    pub fn ran(&mut self, timings: &[ToolTiming]) {
        let Some(own) = &mut self.0 else { return };
        own.trace.rounds += 1;
        for timing in timings {
            let call = own.trace.tool_calls.iter_mut().rfind(|call| call.id == timing.id);
            call.into_iter().for_each(|call| call.time(timing, own.begun));
        }
    }

    /// A tool has answered, and the client has left meanwhile.
    pub fn answered_late(&mut self, results: &[ToolResult]) {
        if let Some(own) = &mut self.0 {
            results.iter().for_each(|result| own.result(result));
        }
    }

    /// What was done to keep the contract so far.
    pub fn contract(&mut self, report: &Report) {
        let Some(own) = &mut self.0 else { return };
        own.trace.calls = report.calls();
        let fresh = report.events().get(own.seen..).unwrap_or_default();
        own.seen = report.events().len();
        if fresh.is_empty() {
            return;
        }
        let at_ms = own.now();
        for event in fresh {
            let note = ContractNote { violation: event.violation, outcome: event.outcome.as_str(), at_ms };
            push(&mut own.trace.contract, note, &mut own.trace.left_out);
        }
    }

    /// Fills in calls that broke a promise, by what the conversation holds of them.
    pub fn name_calls(&mut self, transcript: &[Item]) {
        let Some(own) = &mut self.0 else { return };
        for call in own.trace.tool_calls.iter_mut().filter(|call| call.name.is_empty()) {
            let spoken = transcript.iter().find_map(|item| match item {
                Item::Assistant { calls, .. } => calls.iter().find(|spoken| spoken.id.as_str() == call.id),
                _ => None,
            });
            if let Some(spoken) = spoken {
                call.name.clone_from(&spoken.name);
                call.set_arguments(&spoken.arguments, own.content);
            }
        }
    }

    /// The turn ended with a reply.
    pub fn complete(&mut self, finish: Finish, usage: Option<&Usage>) {
        let Some(own) = &mut self.0 else { return };
        own.trace.outcome = Outcome::Complete;
        own.trace.finish_reason = Some(finish.as_word());
        own.trace.usage = usage.map(Into::into);
        own.end();
    }

    /// The turn ended with a reply that was passed on as it came, calls included.
    pub fn passed_on(&mut self, finish: Option<Finish>, usage: Option<&Usage>) {
        let Some(own) = &mut self.0 else { return };
        own.trace.outcome = Outcome::Complete;
        own.trace.passed_on = true;
        own.trace.finish_reason = finish.map(Finish::as_word);
        own.trace.usage = usage.map(Into::into);
        own.end();
    }

    /// The turn ended with an error.
    pub fn failed(&mut self, error: &ApiError) {
        let Some(own) = &mut self.0 else { return };
        own.trace.outcome = Outcome::Failed;
        own.trace.error = Some(TraceError { code: error.code.clone(), status: error.status });
        own.end();
    }

    /// The trace, once; the recorder is off from now on. It has been counted and told to the collector, not stored.
    pub fn finish(&mut self) -> Option<TurnTrace> {
        let mut own = self.0.take()?;
        if own.trace.outcome == Outcome::Interrupted {
            own.end();
        }
        own.trace.counted_as = own.traces.counted_as(&own.trace);
        own.traces.tell(&own.trace);
        Some(own.trace)
    }

    /// Finishes the trace, where that was not done, and leaves it to be stored.
    fn file(&mut self) {
        let traces = self.0.as_ref().map(|own| own.traces.clone());
        if let (Some(traces), Some(trace)) = (traces, self.finish()) {
            traces.note(trace);
        }
    }
}

/// Whatever became of the turn, its trace is not lost.
impl Drop for TraceRecorder {
    fn drop(&mut self) {
        self.file();
    }
}

impl Recording {
    fn now(&self) -> Millis {
        Millis(self.begun.elapsed())
    }

    /// Changes the request that is under way, or was last.
    fn request(&mut self, change: impl FnOnce(&mut UpstreamRequest)) {
        if let (true, Some(request)) = (self.asking, self.trace.upstream_requests.last_mut()) {
            change(request);
        }
    }

    fn end_request(&mut self, outcome: &'static str) {
        let now = self.now();
        self.request(|request| {
            if request.outcome == OPEN {
                request.outcome = outcome;
                request.duration_ms = Millis(now.0.saturating_sub(request.start_ms.0));
            }
        });
    }

    /// The end of the turn: what was still under way took until now.
    fn end(&mut self) {
        self.end_request(OPEN);
        self.trace.duration_ms = self.now();
        let lost = self.trace.tool_calls.iter_mut().filter(|call| call.run_by == RunBy::Character);
        lost.for_each(|call| call.outcome = call.outcome.or(Some(ToolOutcome::Cancelled)));
    }

    fn event(&mut self, event: &Event) {
        let content = self.content;
        match event {
            Event::Text(text) => {
                self.trace.output.add(text, content);
                if self.trace.first_word_ms.is_none() && !text.trim().is_empty() {
                    self.trace.first_word_ms = Some(self.now());
                }
            }
            Event::Call(call) => self.add(ToolCall::of(call, RunBy::Client, self.now(), content)),
            Event::RunsTool(call) => self.add(ToolCall::of(call, RunBy::Character, self.now(), content)),
            Event::CallBegins { id, name } => self.add(ToolCall::new(id.as_str(), name, RunBy::Client, self.now())),
            Event::CallGrows(piece) => {
                self.trace.tool_calls.last_mut().into_iter().for_each(|call| call.grow(piece, content));
            }
            Event::RanTool(result) => self.result(result),
            Event::Reasoning(_) | Event::Refusal(_) | Event::Logprobs(_) => {}
        }
    }

    /// A result belongs to its call; a call that broke a promise was never begun, so it has no place yet.
    fn result(&mut self, result: &ToolResult) {
        let (content, id) = (self.content, result.id.as_str());
        if !self.trace.tool_calls.iter().any(|call| call.id == id) {
            self.add(ToolCall::new(id, "", RunBy::Character, self.now()));
        }
        let call = self.trace.tool_calls.iter_mut().rfind(|call| call.id == id);
        call.into_iter().for_each(|call| call.answer(result, content));
    }

    fn add(&mut self, call: ToolCall) {
        push(&mut self.trace.tool_calls, call, &mut self.trace.left_out);
    }
}

fn push<T>(list: &mut Vec<T>, entry: T, left_out: &mut u64) {
    if list.len() < MOST_ENTRIES {
        list.push(entry);
    } else {
        *left_out += 1;
    }
}

/// A turn of which nothing is known yet but its beginning.
fn blank(birth: Birth, about: &TurnAbout<'_>) -> TurnTrace {
    let Birth { id, began, sampled, context } = birth;
    TurnTrace {
        character: about.character.map(str::to_owned),
        model: about.model.to_owned(),
        id,
        object: "trace",
        context,
        started_at_ms: began,
        duration_ms: Millis(Duration::ZERO),
        first_word_ms: None,
        endpoint: about.endpoint,
        request_id: about.request_id.to_owned(),
        conversation: None,
        response: None,
        outcome: Outcome::Interrupted,
        finish_reason: None,
        error: None,
        tools_offered: about.tools_offered,
        continues: about.continues,
        rounds: 0,
        calls: CallTally::default(),
        usage: None,
        input: Input::default(),
        output: Output::default(),
        upstream_requests: Vec::new(),
        contract: Vec::new(),
        tool_calls: Vec::new(),
        left_out: 0,
        passed_on: false,
        sampled,
        counted_as: String::new(),
    }
}
