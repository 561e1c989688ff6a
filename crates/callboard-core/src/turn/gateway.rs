//! A turn whose tools the client runs: text is passed on as it arrives, calls are buffered until they are valid.
//!
//! A broken call is repaired where nothing has to be guessed; else the model is asked again within the budget; else the turn
//! fails with a named violation. Streamed and whole replies take this one path.

use super::checked_calls::{CheckedCall, fill};
use super::model_reply::{ModelReply, ReplyText};
use super::reask_request::{self, unmet_choice};
use super::reply_checker::ReplyChecker;
use super::streamed_calls::StreamedCalls;
use super::{Action, Ending, Event, Input, ModelCall, ToolChoice, TurnRequest, TurnSettings};
use crate::contract::{Outcome, Violation, ViolationKind};
use crate::dialect::{SeparatedAnswer, separate_reasoning};
use crate::model::{Delta, Finish, Item, OtherFields, RandomBytes};

/// Text may contain calls where tools are on offer, and reasoning where it must be JSON. An answer that is held back is read
/// once it is whole.
fn new_reply(request: &TurnRequest, settings: &TurnSettings) -> ModelReply {
    let streams_format = !request.format.is_text() && settings.stream_arguments;
    match streams_format || !request.tools.is_empty() {
        true => ModelReply::with_text_read(&request.tools, settings.reply_calls),
        false => ModelReply::new(settings.reply_calls),
    }
}

/// A turn whose tools the client runs.
pub(super) struct GatewayTurn {
    request: TurnRequest,
    settings: TurnSettings,
    checker: ReplyChecker,
    reply: ModelReply,
    streamed: StreamedCalls,
    texts: Vec<ReplyText>,
    checked_calls: Vec<CheckedCall>,
    appended: Vec<Item>,
    last_call: ModelCall,
    reasks_made: u32,
    /// Why the model was asked again last, and whether a tool was forced.
    reason: Option<Violation>,
    forced: bool,
    text_shown: bool,
    held_text: String,
    /// Unknown fields of the reply that were not passed on yet.
    other: Option<OtherFields>,
}

impl GatewayTurn {
    /// A turn that has not started.
    pub(super) fn new(request: TurnRequest, settings: TurnSettings, random: RandomBytes) -> Self {
        Self {
            reply: new_reply(&request, &settings),
            checker: ReplyChecker::new(&request.used_ids, settings.check_budget(), random),
            request,
            settings,
            streamed: StreamedCalls::default(),
            texts: Vec::new(),
            checked_calls: Vec::new(),
            appended: Vec::new(),
            last_call: ModelCall::default(),
            reasks_made: 0,
            reason: None,
            forced: false,
            text_shown: false,
            held_text: String::new(),
            other: None,
        }
    }

    /// The checker, with its report so far.
    pub(super) fn checker(&self) -> &ReplyChecker {
        &self.checker
    }

    /// Bytes the model has written in all replies of this turn.
    pub(super) fn spoken_bytes(&self) -> usize {
        self.checker.spoken_bytes + self.reply.bytes
    }

    /// Handles one input and appends the actions that follow.
    pub(super) fn step(&mut self, input: Input, actions: &mut Vec<Action>) {
        match input {
            Input::Start => actions.push(Action::CallModel(ModelCall::default())),
            Input::Delta(delta) => self.delta(delta, actions),
            Input::ExtraUsage(usage) => self.checker.add_usage(usage),
            Input::ReplyEnded => self.reply_ended(actions),
            Input::ReaskRefused => self.reask_refused(actions),
            Input::ReplyLost => {
                self.other = None;
                self.reply = new_reply(&self.request, &self.settings);
                actions.push(Action::CallModel(self.last_call.clone()));
            }
            Input::ToolsDone { .. } | Input::Interrupted { .. } => {}
        }
    }

    /// A server that refuses a forced tool is asked without force; if it refuses that too, the turn fails.
    fn reask_refused(&mut self, actions: &mut Vec<Action>) {
        if std::mem::take(&mut self.forced) {
            self.call_model(ToolChoice::AsRequested, actions);
        } else if let Some(violation) = self.reason.take() {
            self.fail(violation, actions);
        }
    }

    fn delta(&mut self, delta: Delta, actions: &mut Vec<Action>) {
        match delta {
            Delta::Text(text) => {
                self.reply.text(text, &mut self.texts);
                self.pass_on_texts(actions);
            }
            Delta::Reasoning(text) => {
                self.reply.bytes += text.len();
                self.emit(Event::Reasoning(text), actions);
            }
            Delta::Refusal(text) => {
                self.reply.refused = true;
                self.emit(Event::Refusal(text), actions);
            }
            Delta::Logprobs(value) => self.emit(Event::Logprobs(value), actions),
            Delta::Other(fields) => self.other.get_or_insert_default().add(*fields),
            Delta::Finish(finish) => self.reply.finish = Some(finish),
            Delta::Usage(usage) => self.reply.usage = Some(usage),
            Delta::Call(_) => self.call_delta(delta, actions),
        }
    }

    fn emit(&mut self, event: Event, actions: &mut Vec<Action>) {
        self.emit_other(actions);
        actions.push(Action::Emit(event));
    }

    /// Unknown fields wait for the next event: as long as they are all that has arrived, the request can be sent to another server.
    fn emit_other(&mut self, actions: &mut Vec<Action>) {
        actions.extend(self.other.take().map(|fields| Action::Emit(Event::Other(Box::new(fields)))));
    }

    fn pass_on_texts(&mut self, actions: &mut Vec<Action>) {
        for text in std::mem::take(&mut self.texts) {
            match text {
                ReplyText::Reasoning(text) => self.emit(Event::Reasoning(text), actions),
                ReplyText::Text(text) => self.text(text, actions),
            }
        }
    }

    /// Text of the first reply is emitted immediately. Text of a re-ask is too if the client has none yet; else it is buffered
    /// until the reply is known to be the answer. Text that must match a format is buffered until it does.
    fn text(&mut self, text: String, actions: &mut Vec<Action>) {
        let keeps = !self.request.tools.is_empty() || !self.request.format.is_text();
        if keeps {
            self.reply.spoken.push_str(&text);
        }
        if self.holds_format() {
            return;
        }
        if self.reasks_made > 0 && self.text_shown {
            self.held_text.push_str(&text);
            return;
        }
        let blank = text.bytes().all(|b| b.is_ascii_whitespace());
        self.text_shown |= self.reasks_made == 0 && !blank;
        self.emit(Event::Text(text), actions);
    }

    fn holds_format(&self) -> bool {
        !self.request.format.is_text() && !self.settings.stream_arguments
    }

    fn call_delta(&mut self, delta: Delta, actions: &mut Vec<Action>) {
        let Some(place) = self.reply.call(delta, &self.request.tools) else { return };
        let rules = &self.request.rules;
        let most = if rules.parallel { usize::MAX } else { 1 };
        if !self.settings.stream_arguments || rules.forbidden || place >= most || !self.streamed.is_next(place) {
            return;
        }
        let Some(call) = self.reply.assembler.call(place).filter(|call| rules.allows(&call.name)) else { return };
        let checker = &mut self.checker;
        let events = self.streamed.grow(place, call, &self.request.tools, || checker.id_for(call.id.as_deref(), false));
        for event in events {
            self.emit(event, actions);
        }
    }

    fn reply_ended(&mut self, actions: &mut Vec<Action>) {
        let mut texts = std::mem::take(&mut self.texts);
        self.reply.close(&mut texts);
        self.texts = texts;
        self.pass_on_texts(actions);
        if let Some(violation) = self.reply.over_limit() {
            return self.fail(violation, actions);
        }
        self.separate_reasoning(actions);
        let streamed = !self.streamed.is_empty();
        let spoken = self.checker.check_reply(&mut self.reply, &self.request, streamed);
        match self.judge(&spoken) {
            Ok(()) => self.complete(actions),
            Err(violation) => self.reask_or_fail(&spoken, violation, actions),
        }
    }

    /// Merges the calls of this reply into those of the turn and finds what is still broken.
    fn judge(&mut self, spoken: &[CheckedCall]) -> Result<(), Violation> {
        self.checked_calls = fill(&self.checked_calls, spoken);
        let rules = &self.request.rules;
        if rules.forbidden && !self.checked_calls.is_empty() {
            self.checked_calls.clear();
            let message = "the model made a tool call although tool_choice is \"none\"";
            return Err(Violation::new(ViolationKind::ChoiceUnmet, message));
        }
        if !rules.parallel && self.checked_calls.len() > 1 {
            self.checked_calls.truncate(1);
            self.checker.report.note("parallel_tool_calls", Outcome::Repaired);
        }
        if let Some(violation) = self.checked_calls.iter().find_map(CheckedCall::violation) {
            return Err(violation.clone());
        }
        if rules.required && self.checked_calls.is_empty() {
            return Err(unmet_choice(self.reply.is_cut()));
        }
        self.judge_format()
    }

    /// Reasoning that a server left in a JSON answer is not part of it; tags in the JSON itself are.
    fn separate_reasoning(&mut self, actions: &mut Vec<Action>) {
        if !self.holds_format() || !self.request.tools.is_empty() {
            return;
        }
        let Some(SeparatedAnswer { answer, reasoning }) = separate_reasoning(&self.reply.spoken) else { return };
        if self.request.format.check(&self.reply.spoken).is_ok() {
            return;
        }
        self.reply.spoken = answer;
        if !reasoning.is_empty() {
            self.emit(Event::Reasoning(reasoning), actions);
        }
    }

    fn judge_format(&mut self) -> Result<(), Violation> {
        let reply = &mut self.reply;
        if self.request.format.is_text() || !self.checked_calls.is_empty() || reply.is_cut() || reply.refused {
            return Ok(());
        }
        let (text, repairs) = self.request.format.check(&reply.spoken)?;
        if self.settings.stream_arguments && !repairs.is_empty() {
            let message = "the answer is not the JSON that response_format asks for";
            return Err(Violation::new(ViolationKind::InvalidFormat, message));
        }
        for repair in repairs {
            self.checker.report.note(repair, Outcome::Repaired);
        }
        reply.spoken = text;
        Ok(())
    }

    fn complete(&mut self, actions: &mut Vec<Action>) {
        // Of broken calls beyond the one that is allowed.
        self.checker.report.settle_bad_calls(Outcome::Repaired);
        if let Some(violation) = self.streamed_fault() {
            return self.fail(violation, actions);
        }
        self.emit_held_text(actions);
        let cut = self.is_cut_while_streamed();
        let checked_calls = std::mem::take(&mut self.checked_calls);
        let finish = self.finish_reason(!checked_calls.is_empty() && !cut);
        for call in checked_calls.into_iter().skip(self.streamed.len()) {
            if let CheckedCall::Valid(call) = call {
                self.emit(Event::Call(call), actions);
            }
        }
        self.emit_other(actions);
        actions.push(Action::Finish(Ending::Complete { finish, usage: self.checker.usage.take() }));
    }

    fn emit_held_text(&mut self, actions: &mut Vec<Action>) {
        if self.holds_format() {
            let text = std::mem::take(&mut self.reply.spoken);
            if !text.is_empty() && !self.is_prose_beside_call(&text) {
                self.emit(Event::Text(text), actions);
            }
        } else if self.checked_calls.is_empty() && !self.held_text.is_empty() {
            let text = format!("\n\n{}", self.held_text.trim_start());
            self.emit(Event::Text(text), actions);
        }
    }

    /// Clients parse all text of such a reply as JSON, also beside a call.
    fn is_prose_beside_call(&mut self, text: &str) -> bool {
        let is_prose = !self.checked_calls.is_empty() && self.request.format.check(text).is_err();
        if is_prose && !text.trim().is_empty() {
            self.checker.report.note("text_beside_call", Outcome::Repaired);
        }
        is_prose
    }

    fn finish_reason(&mut self, calls: bool) -> Finish {
        let reported = self.reply.finish;
        let finish = match reported {
            _ if calls => Finish::ToolCalls,
            Some(Finish::ToolCalls) | None => Finish::Stop,
            Some(other) => other,
        };
        if reported != Some(finish) {
            self.checker.report.note("finish_reason", Outcome::Repaired);
        }
        finish
    }

    /// Whether the limit cut off a call that was partly streamed. The reply then ends as cut off, so that the client does not
    /// run a partial call.
    fn is_cut_while_streamed(&self) -> bool {
        self.reply.is_cut()
            && self.reply.cut_calls > 0
            && self.streamed.len() == self.checked_calls.len().saturating_add(1)
    }

    /// The streamed calls must equal the checked ones.
    fn streamed_fault(&self) -> Option<Violation> {
        let harmless = ["call_index", "call_id", "finish_reason", "cut_off_call"];
        let events = self.checker.report.events();
        let repaired = events.iter().any(|event| !harmless.contains(&event.violation));
        let fewer = self.checked_calls.len() < self.streamed.len() && !self.is_cut_while_streamed();
        (!self.streamed.is_empty() && (repaired || fewer)).then(|| {
            let message = "arguments that were already streamed turned out to need repair";
            Violation::new(ViolationKind::MalformedArguments, message)
        })
    }

    /// Asks again while the budget lasts, else fails.
    fn reask_or_fail(&mut self, spoken: &[CheckedCall], violation: Violation, actions: &mut Vec<Action>) {
        let streamed_format = self.settings.stream_arguments && violation.kind == ViolationKind::InvalidFormat;
        if self.reasks_made >= self.settings.reasks || !self.streamed.is_empty() || streamed_format {
            return self.fail(violation, actions);
        }
        self.checker.report.settle_bad_calls(Outcome::Reasked);
        self.note_all(spoken, &violation, Outcome::Reasked);
        self.reasks_made += 1;
        self.other = None;
        let text = std::mem::take(&mut self.reply.spoken);
        let choice = reask_request::choice(&self.request, spoken, &violation);
        self.appended.extend(reask_request::items(&self.request, spoken, &violation, text));
        self.reply = new_reply(&self.request, &self.settings);
        self.held_text.clear();
        self.forced = matches!(choice, ToolChoice::Force(_) | ToolChoice::Required);
        self.reason = Some(violation);
        self.call_model(choice, actions);
    }

    /// Every request may use the client's whole token limit: a re-ask with what is left of it could not succeed.
    fn call_model(&mut self, choice: ToolChoice, actions: &mut Vec<Action>) {
        self.last_call = ModelCall { appended: self.appended.clone(), choice, tokens_left: None };
        actions.push(Action::CallModel(self.last_call.clone()));
    }

    fn fail(&mut self, violation: Violation, actions: &mut Vec<Action>) {
        self.checker.report.settle_bad_calls(Outcome::Refused);
        self.checker.report.note(violation.kind.code(), Outcome::Refused);
        actions.push(Action::Finish(Ending::Failed(violation)));
    }

    fn note_all(&mut self, spoken: &[CheckedCall], violation: &Violation, outcome: Outcome) {
        let mut kinds: Vec<ViolationKind> = spoken.iter().filter_map(CheckedCall::violation).map(|v| v.kind).collect();
        if kinds.is_empty() {
            kinds.push(violation.kind);
        }
        for kind in kinds {
            self.checker.report.note(kind.code(), outcome);
        }
    }
}
