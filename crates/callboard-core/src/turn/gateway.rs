//! A turn whose tools are the client's: text goes out as it comes, calls are held until they are valid, broken promises
//! climb the ladder.
//!
//! The ladder: repair where nothing is guessed, ask the model again within the budget, give up with a named violation.
//! Streamed and whole replies take this one path.

use super::inspect::Inspector;
use super::ladder;
use super::live::LiveCalls;
use super::places::{Place, fill};
use super::reply::{Heard, Reply};
use super::{Action, Ask, AskChoice, Ending, Event, Input, TurnRequest, TurnSettings};
use crate::contract::{Outcome, Violation, ViolationKind};
use crate::model::{Delta, Finish, Item, RandomBytes};

/// One turn whose tools are the client's.
pub(super) struct GatewayTurn {
    request: TurnRequest,
    settings: TurnSettings,
    inspector: Inspector,
    reply: Reply,
    live: LiveCalls,
    heard: Vec<Heard>,
    places: Vec<Place>,
    appended: Vec<Item>,
    last_ask: Ask,
    asked_again: u32,
    /// Why the model was asked again last, and whether a tool was forced.
    reason: Option<Violation>,
    forced: bool,
    text_shown: bool,
    held_text: String,
}

impl GatewayTurn {
    /// A turn that has not begun.
    pub(super) fn new(request: TurnRequest, settings: TurnSettings, random: RandomBytes) -> Self {
        Self {
            reply: Reply::new(&request.tools),
            inspector: Inspector::new(&request.used_ids, settings.arguments_bytes, random),
            request,
            settings,
            live: LiveCalls::default(),
            heard: Vec::new(),
            places: Vec::new(),
            appended: Vec::new(),
            last_ask: Ask::default(),
            asked_again: 0,
            reason: None,
            forced: false,
            text_shown: false,
            held_text: String::new(),
        }
    }

    /// What was found out so far.
    pub(super) fn inspector(&self) -> &Inspector {
        &self.inspector
    }

    /// Bytes the model has written in all replies of this turn.
    pub(super) fn spoken_bytes(&self) -> usize {
        self.inspector.spoken_bytes + self.reply.bytes
    }

    /// Takes one input and appends what is to be done.
    pub(super) fn step(&mut self, input: Input, actions: &mut Vec<Action>) {
        match input {
            Input::Start => actions.push(Action::CallModel(Ask::default())),
            Input::Delta(delta) => self.delta(delta, actions),
            Input::ReplyEnded => self.reply_ended(actions),
            Input::ReaskRefused => self.reask_refused(actions),
            Input::ReplyLost => {
                self.reply = Reply::new(&self.request.tools);
                actions.push(Action::CallModel(self.last_ask.clone()));
            }
            Input::ToolsDone { .. } | Input::Interrupted { .. } => {}
        }
    }

    /// A server that cannot force a tool is asked without force; one that refuses that too leaves the promise broken.
    fn reask_refused(&mut self, actions: &mut Vec<Action>) {
        if std::mem::take(&mut self.forced) {
            self.call_model(AskChoice::AsRequested, actions);
        } else if let Some(violation) = self.reason.take() {
            self.fail(violation, actions);
        }
    }

    fn delta(&mut self, delta: Delta, actions: &mut Vec<Action>) {
        match delta {
            Delta::Text(text) => {
                self.reply.text(text, &mut self.heard);
                self.pass_on_heard(actions);
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
            Delta::Finish(finish) => self.reply.finish = Some(finish),
            Delta::Usage(usage) => self.reply.usage = Some(usage),
            Delta::Call(_) => self.call_delta(delta, actions),
        }
    }

    fn emit(&mut self, event: Event, actions: &mut Vec<Action>) {
        actions.push(Action::Emit(event));
    }

    fn pass_on_heard(&mut self, actions: &mut Vec<Action>) {
        for heard in std::mem::take(&mut self.heard) {
            match heard {
                Heard::Reasoning(text) => self.emit(Event::Reasoning(text), actions),
                Heard::Text(text) => self.text(text, actions),
            }
        }
    }

    /// Text of the first reply goes out at once. Text of a re-ask does only where the client has none yet; else it waits for
    /// the end, when it is known to be the answer. Text that must fit a format waits until it does.
    fn text(&mut self, text: String, actions: &mut Vec<Action>) {
        let keeps = !self.request.tools.is_empty() || !self.request.format.is_text();
        if keeps {
            self.reply.spoken.push_str(&text);
        }
        if self.holds_format() {
            return;
        }
        if self.asked_again > 0 && self.text_shown {
            self.held_text.push_str(&text);
            return;
        }
        let blank = text.bytes().all(|b| b.is_ascii_whitespace());
        self.text_shown |= self.asked_again == 0 && !blank;
        self.emit(Event::Text(text), actions);
    }

    fn holds_format(&self) -> bool {
        !self.request.format.is_text() && !self.settings.stream_arguments
    }

    fn call_delta(&mut self, delta: Delta, actions: &mut Vec<Action>) {
        let Some(place) = self.reply.call(delta, &self.request.tools) else { return };
        let rules = &self.request.rules;
        let most = if rules.parallel { usize::MAX } else { 1 };
        if !self.settings.stream_arguments || rules.forbidden || place >= most || !self.live.is_next(place) {
            return;
        }
        let Some(slot) = self.reply.assembler.slot(place).filter(|slot| rules.allows(&slot.name)) else { return };
        let inspector = &mut self.inspector;
        let events = self.live.grow(place, slot, &self.request.tools, || inspector.id_for(slot.id.as_deref(), false));
        actions.extend(events.into_iter().map(Action::Emit));
    }

    fn reply_ended(&mut self, actions: &mut Vec<Action>) {
        let mut heard = std::mem::take(&mut self.heard);
        self.reply.close(&mut heard);
        self.heard = heard;
        self.pass_on_heard(actions);
        let live = !self.live.is_empty();
        let spoken = self.inspector.inspect(&mut self.reply, &self.request, live);
        match self.judge(&spoken) {
            Ok(()) => self.complete(actions),
            Err(violation) => self.climb(&spoken, violation, actions),
        }
    }

    /// Sorts the calls of this reply into the turn's order and says what is still broken.
    fn judge(&mut self, spoken: &[Place]) -> Result<(), Violation> {
        self.places = fill(&self.places, spoken);
        let rules = &self.request.rules;
        if rules.forbidden && !self.places.is_empty() {
            self.places.clear();
            let message = "the model made a tool call although tool_choice is \"none\"";
            return Err(Violation::new(ViolationKind::ChoiceUnmet, message));
        }
        if !rules.parallel && self.places.len() > 1 {
            self.places.truncate(1);
            self.inspector.report.note("parallel_tool_calls", Outcome::Repaired);
        }
        if let Some(violation) = self.places.iter().find_map(Place::violation) {
            return Err(violation.clone());
        }
        if rules.required && self.places.is_empty() && !self.reply.is_cut() {
            let message = "the model answered without a tool call although tool_choice asks for one";
            return Err(Violation::new(ViolationKind::ChoiceUnmet, message));
        }
        self.judge_format()
    }

    fn judge_format(&mut self) -> Result<(), Violation> {
        let reply = &mut self.reply;
        if self.request.format.is_text() || !self.places.is_empty() || reply.is_cut() || reply.refused {
            return Ok(());
        }
        let (text, repairs) = self.request.format.check(&reply.spoken)?;
        if self.settings.stream_arguments && !repairs.is_empty() {
            let message = "the answer is not the JSON that response_format asks for";
            return Err(Violation::new(ViolationKind::InvalidFormat, message));
        }
        for repair in repairs {
            self.inspector.report.note(repair, Outcome::Repaired);
        }
        reply.spoken = text;
        Ok(())
    }

    fn complete(&mut self, actions: &mut Vec<Action>) {
        if let Some(violation) = self.live_fault() {
            return self.fail(violation, actions);
        }
        self.emit_held_text(actions);
        let cut = self.is_cut_live();
        let places = std::mem::take(&mut self.places);
        let finish = self.finish_reason(!places.is_empty() && !cut);
        for place in places.into_iter().skip(self.live.len()) {
            if let Place::Valid(call) = place {
                self.emit(Event::Call(call), actions);
            }
        }
        actions.push(Action::Finish(Ending::Complete { finish, usage: self.inspector.usage.take() }));
    }

    fn emit_held_text(&mut self, actions: &mut Vec<Action>) {
        if self.holds_format() {
            let text = std::mem::take(&mut self.reply.spoken);
            if !text.is_empty() {
                self.emit(Event::Text(text), actions);
            }
        } else if self.places.is_empty() && !self.held_text.is_empty() {
            let text = format!("\n\n{}", self.held_text.trim_start());
            self.emit(Event::Text(text), actions);
        }
    }

    fn finish_reason(&mut self, calls: bool) -> Finish {
        let said = self.reply.finish;
        let finish = match said {
            _ if calls => Finish::ToolCalls,
            Some(Finish::ToolCalls) | None => Finish::Stop,
            Some(other) => other,
        };
        if said != Some(finish) {
            self.inspector.report.note("finish_reason", Outcome::Repaired);
        }
        finish
    }

    /// Whether the limit cut off a call of which something went out already. Then the reply ends as cut off: its client has half
    /// a call and must not take it for a whole one.
    fn is_cut_live(&self) -> bool {
        self.reply.is_cut() && self.reply.cut_calls > 0 && self.live.len() == self.places.len().saturating_add(1)
    }

    /// What went out live must be exactly what passed the check.
    fn live_fault(&self) -> Option<Violation> {
        let harmless = ["call_index", "call_id", "finish_reason", "cut_off_call"];
        let events = self.inspector.report.events();
        let repaired = events.iter().any(|event| !harmless.contains(&event.violation));
        let fewer = self.places.len() < self.live.len() && !self.is_cut_live();
        (!self.live.is_empty() && (repaired || fewer)).then(|| {
            let message = "arguments that were already streamed turned out to need repair";
            Violation::new(ViolationKind::MalformedArguments, message)
        })
    }

    /// The next rung: ask again while the budget lasts, else give up.
    fn climb(&mut self, spoken: &[Place], violation: Violation, actions: &mut Vec<Action>) {
        let streamed_format = self.settings.stream_arguments && violation.kind == ViolationKind::InvalidFormat;
        if self.asked_again >= self.settings.reasks || !self.live.is_empty() || streamed_format {
            return self.fail(violation, actions);
        }
        self.note_all(spoken, &violation, Outcome::Reasked);
        self.asked_again += 1;
        let text = std::mem::take(&mut self.reply.spoken);
        let choice = ladder::choice(&self.request, spoken, &violation);
        self.appended.extend(ladder::items(&self.request, spoken, &violation, text));
        self.reply = Reply::new(&self.request.tools);
        self.held_text.clear();
        self.forced = matches!(choice, AskChoice::Force(_) | AskChoice::Required);
        self.reason = Some(violation);
        self.call_model(choice, actions);
    }

    /// Every request has all the tokens that the client allows: what it gets is bounded by them, and a reply that is asked for
    /// again must have its chance.
    fn call_model(&mut self, choice: AskChoice, actions: &mut Vec<Action>) {
        self.last_ask = Ask { appended: self.appended.clone(), choice, tokens_left: None };
        actions.push(Action::CallModel(self.last_ask.clone()));
    }

    fn fail(&mut self, violation: Violation, actions: &mut Vec<Action>) {
        self.inspector.report.note(violation.kind.code(), Outcome::Refused);
        actions.push(Action::Finish(Ending::Failed(violation)));
    }

    fn note_all(&mut self, spoken: &[Place], violation: &Violation, outcome: Outcome) {
        let mut kinds: Vec<ViolationKind> = spoken.iter().filter_map(Place::violation).map(|v| v.kind).collect();
        if kinds.is_empty() {
            kinds.push(violation.kind);
        }
        for kind in kinds {
            self.inspector.report.note(kind.code(), outcome);
        }
    }
}
