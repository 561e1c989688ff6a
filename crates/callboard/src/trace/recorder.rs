//! The trace of a running turn, built from events. A recorder that is off ignores them.

use std::time::Instant;

use callboard_core::contract::{self, Report};
use callboard_core::model::{Finish, Item, Usage};
use callboard_core::turn::{Event, ToolOutcome, ToolResult};
use http::HeaderMap;

use super::recorded_reply::RecordedReply;
use super::upstream_request::{OK, OPEN};
use super::{
    BadCall, ContractNote, Millis, RunBy, ToolCall, ToolTiming, TraceError, TraceEvent, Traces, TurnOutcome, TurnTrace,
    UpstreamRequest,
};
use crate::upstream::{Failure, Route};

/// The longest list in a trace.
const MOST_ENTRIES: usize = 500;

/// The recorder of one turn. Dropped, it hands its trace over to be counted, exported and stored.
#[derive(Default)]
pub struct TraceRecorder(Option<Box<Recording>>);

struct Recording {
    traces: Traces,
    began: Instant,
    /// How many contract events have been recorded.
    contract_events: usize,
    /// Whether the current request has an entry in the trace.
    has_request: bool,
    content: bool,
    /// The reply of the current request, where it is recorded.
    reply: RecordedReply,
    trace: TurnTrace,
}

impl TraceRecorder {
    pub(super) fn new(traces: Traces, trace: TurnTrace, content: bool) -> Self {
        let began = Instant::now();
        Self(Some(Box::new(Recording {
            traces,
            began,
            contract_events: 0,
            has_request: false,
            content,
            reply: RecordedReply::default(),
            trace,
        })))
    }

    /// Records a request to a model server, and returns the trace headers to send with it.
    pub fn begin_request(&mut self, route: &Route, goes_on: bool) -> HeaderMap {
        self.0.as_mut().map_or_else(HeaderMap::new, |recording| recording.begin_request(route, goes_on))
    }

    /// Records an event.
    pub fn record(&mut self, event: TraceEvent<'_>) {
        if let Some(recording) = &mut self.0 {
            recording.apply(event);
        }
    }
}

/// However the turn ends, its trace is not lost.
impl Drop for TraceRecorder {
    fn drop(&mut self) {
        let Some(mut recording) = self.0.take() else { return };
        if recording.trace.outcome == TurnOutcome::Interrupted {
            recording.end(TurnOutcome::Interrupted);
        }
        let Recording { traces, trace, .. } = *recording;
        traces.add(trace);
    }
}

impl Recording {
    fn apply(&mut self, event: TraceEvent<'_>) {
        match event {
            TraceEvent::StoredAs { conversation, response } => self.stored_as(conversation, response),
            TraceEvent::ReplyBegun => self.reply_begun(),
            TraceEvent::ReplyPiece(bytes) => self.reply_piece(bytes),
            TraceEvent::ReplyStatus(status) => self.request(|request| request.status = Some(status)),
            TraceEvent::AnsweredBy(model) => self.request(|request| {
                request.answered_by = request.answered_by.take().or_else(|| model.map(str::to_owned));
            }),
            TraceEvent::Learned(quirk) => self.request(|request| request.learned.push(quirk)),
            TraceEvent::ReplyUsage(usage) => self.request(|request| request.usage = Some(usage.into())),
            TraceEvent::ReplyFinish(finish) => {
                self.request(|request| request.finish_reason = Some(finish.as_word()));
            }
            TraceEvent::ReplyEnded => self.end_request(OK),
            TraceEvent::RequestFailed(failure) => self.request_failed(failure),
            TraceEvent::Emitted(events) => events.iter().for_each(|event| self.emitted(event)),
            TraceEvent::ToolsRan(timings) => self.tools_ran(timings),
            TraceEvent::LateResults(results) => results.iter().for_each(|result| self.tool_result(result)),
            TraceEvent::Contract(report) => self.contract(report),
            TraceEvent::BadCalls(calls) => self.bad_calls(calls),
            TraceEvent::Transcript(transcript) => self.name_calls(transcript),
            TraceEvent::Complete(finish, usage) => self.complete(Some(finish), usage),
            TraceEvent::PassedThrough(finish, usage) => {
                self.trace.passed_on = true;
                self.complete(finish, usage);
            }
            TraceEvent::ToolAnswered => self.complete(None, None),
            TraceEvent::Failed(error) => {
                self.trace.error = Some(TraceError { code: error.code.clone(), status: error.status });
                self.end(TurnOutcome::Failed);
            }
        }
    }

    fn now(&self) -> Millis {
        Millis(self.began.elapsed())
    }

    fn stored_as(&mut self, conversation: Option<&str>, response: Option<&str>) {
        self.trace.conversation = conversation.map(str::to_owned).or(self.trace.conversation.take());
        self.trace.response = response.map(str::to_owned).or(self.trace.response.take());
    }

    /// Of a request that is passed through only the size is recorded; of a turn, which has text, the text counts.
    fn reply_piece(&mut self, bytes: &[u8]) {
        match self.trace.passed_through {
            Some(_) => self.trace.output.bytes += bytes.len(),
            None if self.content => self.reply.add(bytes),
            None => {}
        }
    }

    fn begin_request(&mut self, route: &Route, goes_on: bool) -> HeaderMap {
        let span_id = self.trace.context.new_span();
        let headers = self.trace.context.headers(&span_id);
        let request = UpstreamRequest {
            url: route.upstream.url.clone(),
            model: route.model.clone(),
            goes_on,
            start_ms: self.now(),
            outcome: OPEN,
            span_id,
            ..UpstreamRequest::default()
        };
        self.has_request = push(&mut self.trace.upstream_requests, request, &mut self.trace.left_out);
        headers
    }

    /// Changes the current request, or the last one.
    fn request(&mut self, change: impl FnOnce(&mut UpstreamRequest)) {
        if let (true, Some(request)) = (self.has_request, self.trace.upstream_requests.last_mut()) {
            change(request);
        }
    }

    fn reply_begun(&mut self) {
        let now = self.now();
        self.request(|request| request.first_byte_ms = Some(now));
    }

    fn request_failed(&mut self, failure: &Failure) {
        match failure {
            Failure::Refused { reply, .. } if self.content => self.reply.add(reply.body.as_bytes()),
            Failure::Broken(_) if self.content => self.request(|request| request.reply_broken = true),
            _ => {}
        }
        self.end_request(failure.label());
        if let Failure::Refused { status, retry_after, .. } = failure {
            self.request(|request| {
                (request.status, request.retry_after_seconds) = (Some(status.as_u16()), *retry_after);
            });
        }
    }

    fn end_request(&mut self, outcome: &'static str) {
        let (now, reply) = (self.now(), std::mem::take(&mut self.reply));
        self.request(|request| {
            if request.outcome == OPEN {
                request.set_reply(reply);
                request.outcome = outcome;
                request.duration_ms = Millis(now.0.saturating_sub(request.start_ms.0));
            }
        });
    }

    fn emitted(&mut self, event: &Event) {
        let content = self.content;
        match event {
            Event::Text(text) => {
                self.trace.output.add(text, content);
                if self.trace.first_word_ms.is_none() && !text.trim().is_empty() {
                    self.trace.first_word_ms = Some(self.now());
                }
            }
            Event::Call(call) => self.add_call(ToolCall::of(call, RunBy::Client, self.now(), content)),
            Event::RunsTool(call) => self.add_call(ToolCall::of(call, RunBy::Character, self.now(), content)),
            Event::CallBegins { id, name, .. } => {
                self.add_call(ToolCall::new(id.as_str(), name, RunBy::Client, self.now()));
            }
            Event::CallGrows(piece) => {
                self.trace.tool_calls.last_mut().into_iter().for_each(|call| call.grow(piece, content));
            }
            Event::RanTool(result) => self.tool_result(result),
            Event::Reasoning(_) | Event::Refusal(_) | Event::Logprobs(_) | Event::Other(_) => {}
        }
    }

    fn add_call(&mut self, call: ToolCall) {
        push(&mut self.trace.tool_calls, call, &mut self.trace.left_out);
    }

    /// Adds a result to its call. An invalid call was never announced, so its entry is made here.
    fn tool_result(&mut self, result: &ToolResult) {
        let (content, id) = (self.content, result.id.as_str());
        if !self.trace.tool_calls.iter().any(|call| call.id == id) {
            self.add_call(ToolCall::new(id, "", RunBy::Character, self.now()));
        }
        let call = self.trace.tool_calls.iter_mut().rfind(|call| call.id == id);
        call.into_iter().for_each(|call| call.answer(result, content));
    }

    fn tools_ran(&mut self, timings: &[ToolTiming]) {
        self.trace.rounds += 1;
        for timing in timings {
            let call = self.trace.tool_calls.iter_mut().rfind(|call| call.id == timing.id);
            call.into_iter().for_each(|call| call.time(timing, self.began));
        }
    }

    fn contract(&mut self, report: &Report) {
        self.trace.calls = report.calls();
        let new = report.events().get(self.contract_events..).unwrap_or_default();
        self.contract_events = report.events().len();
        for event in new {
            let note = ContractNote { violation: event.violation, outcome: event.outcome.as_str(), at_ms: self.now() };
            push(&mut self.trace.contract, note, &mut self.trace.left_out);
        }
    }

    fn bad_calls(&mut self, calls: &[contract::BadCall]) {
        self.trace.bad_calls = calls.iter().map(|call| BadCall::of(call, self.content)).collect();
    }

    fn name_calls(&mut self, transcript: &[Item]) {
        for call in self.trace.tool_calls.iter_mut().filter(|call| call.name.is_empty()) {
            let spoken = transcript.iter().find_map(|item| match item {
                Item::Assistant { calls, .. } => calls.iter().find(|spoken| spoken.id.as_str() == call.id),
                _ => None,
            });
            if let Some(spoken) = spoken {
                call.name.clone_from(&spoken.name);
                call.set_arguments(&spoken.arguments, self.content);
            }
        }
    }

    fn complete(&mut self, finish: Option<Finish>, usage: Option<&Usage>) {
        self.trace.finish_reason = finish.map(Finish::as_word);
        self.trace.usage = usage.map(Into::into);
        self.end(TurnOutcome::Complete);
    }

    /// Ends the turn, and with it the request and the tools that are still open.
    fn end(&mut self, outcome: TurnOutcome) {
        self.end_request(OPEN);
        self.trace.outcome = outcome;
        self.trace.duration_ms = self.now();
        let own = self.trace.tool_calls.iter_mut().filter(|call| call.run_by == RunBy::Character);
        own.for_each(|call| call.outcome = call.outcome.or(Some(ToolOutcome::Cancelled)));
    }
}

/// Adds an entry where there is room, and counts it as left out where there is none.
fn push<T>(list: &mut Vec<T>, entry: T, left_out: &mut u64) -> bool {
    let room = list.len() < MOST_ENTRIES;
    if room {
        list.push(entry);
    } else {
        *left_out += 1;
    }
    room
}
