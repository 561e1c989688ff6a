//! A character's turn: text is passed on as it arrives, tools are run in rounds, results go back to the model.
//!
//! A broken call gets an error that the model can act on. When the rounds or the time are used up, the model is asked for an
//! answer without tools. A valid call of a client's tool ends the turn, after the tools of the same reply have run and the
//! model was asked again for broken calls. The transcript keeps everything in order; calls that went to the client have no
//! result in it yet.

use super::calls_by_handler::{CallsByHandler, Refusal, RoundResults};
use super::checked_calls::CheckedCall;
use super::held_back_client_calls::HeldBackClientCalls;
use super::model_reply::{ModelReply, ReplyText};
use super::reask_request::{self, unmet_choice};
use super::reply_checker::ReplyChecker;
use super::result_summary::{all_succeeded, summarize_results};
use super::{
    Action, CharacterRules, Ending, Event, Input, ModelCall, ToolChoice, ToolResult, TurnRequest, TurnSettings,
};
use crate::contract::{Call, Outcome, Violation, act_message, choice_message, text_only_message};
use crate::model::{Delta, Finish, Item, RandomBytes};

/// The result of a call that was not run because of an interruption.
pub(super) const CANCELLED: &str = "Error: Cancelled: the user interrupted before this tool ran";

/// One turn of a character.
pub(super) struct CharacterTurn {
    request: TurnRequest,
    rules: CharacterRules,
    reply_calls: usize,
    checker: ReplyChecker,
    reply: ModelReply,
    text_so_far: String,
    transcript: Vec<Item>,
    last_call: ModelCall,
    waiting: CallsByHandler,
    pending: HeldBackClientCalls,
    round: u32,
    /// How many tools were run.
    ran: u64,
    /// Whether any valid call was made.
    called: bool,
    spoke_before: bool,
    /// The text of the last reply, if it is not delivered, for a re-ask.
    pub(super) withheld: String,
    /// Appended to the next request only.
    reask_items: Vec<Item>,
    asked_again: bool,
    /// Whether the model called tools that were no longer offered, and whether a remark was sent about it.
    ignored: bool,
    remarked: bool,
}

impl CharacterTurn {
    pub(super) fn new(
        request: TurnRequest,
        settings: TurnSettings,
        rules: CharacterRules,
        random: RandomBytes,
    ) -> Self {
        Self {
            reply: ModelReply::with_text_read(&request.tools, settings.reply_calls),
            checker: ReplyChecker::new(&request.used_ids, settings.check_budget(), random),
            request,
            rules,
            reply_calls: settings.reply_calls,
            text_so_far: String::new(),
            transcript: Vec::new(),
            last_call: ModelCall::default(),
            waiting: CallsByHandler::default(),
            pending: HeldBackClientCalls::default(),
            round: 0,
            ran: 0,
            called: false,
            spoke_before: false,
            withheld: String::new(),
            reask_items: Vec::new(),
            asked_again: false,
            ignored: false,
            remarked: false,
        }
    }

    pub(super) fn checker(&self) -> &ReplyChecker {
        &self.checker
    }

    pub(super) fn transcript(&self) -> &[Item] {
        &self.transcript
    }

    pub(super) fn spoken_bytes(&self) -> usize {
        self.checker.spoken_bytes + self.reply.bytes
    }

    pub(super) fn step(&mut self, input: Input, actions: &mut Vec<Action>) {
        match input {
            Input::Start => {
                let rules = &self.request.rules;
                let asks = self.rules.requires_call && !rules.required && !rules.forbidden;
                self.call_model(if asks { ToolChoice::Required } else { ToolChoice::AsRequested }, actions);
            }
            Input::Delta(delta) => self.delta(delta, actions),
            Input::ExtraUsage(usage) => self.checker.add_usage(usage),
            Input::ReplyEnded => self.reply_ended(actions),
            Input::ToolsDone { results, out_of_time } => self.tools_done(&results, out_of_time, actions),
            Input::Interrupted { results } => self.interrupted(&results, actions),
            Input::ReplyLost => {
                self.reply = ModelReply::with_text_read(&self.request.tools, self.reply_calls);
                actions.push(Action::CallModel(self.last_call.clone()));
            }
            Input::ReaskRefused => {}
        }
    }

    fn delta(&mut self, delta: Delta, actions: &mut Vec<Action>) {
        let mut texts = Vec::new();
        match delta {
            Delta::Text(text) => self.reply.text(text, &mut texts),
            Delta::Reasoning(text) => texts.push(ReplyText::Reasoning(text)),
            Delta::Refusal(text) => actions.push(Action::Emit(Event::Refusal(text))),
            Delta::Logprobs(_) | Delta::Other(_) => {}
            Delta::Finish(finish) => self.reply.finish = Some(finish),
            Delta::Usage(usage) => self.reply.usage = Some(usage),
            Delta::Call(_) => {
                self.reply.call(delta, &self.request.tools);
            }
        }
        self.pass_on(texts, actions);
    }

    fn pass_on(&mut self, texts: Vec<ReplyText>, actions: &mut Vec<Action>) {
        for text in texts {
            match text {
                ReplyText::Reasoning(text) => actions.push(Action::Emit(Event::Reasoning(text))),
                ReplyText::Text(text) => self.text(text, actions),
            }
        }
    }

    /// A blank line separates the texts of different rounds.
    fn text(&mut self, text: String, actions: &mut Vec<Action>) {
        let first = self.text_so_far.is_empty();
        self.text_so_far.push_str(&text);
        if !self.rules.delivers_text {
            return;
        }
        let text = if first && self.spoke_before { format!("\n\n{}", text.trim_start()) } else { text };
        actions.push(Action::Emit(Event::Text(text)));
    }

    fn reply_ended(&mut self, actions: &mut Vec<Action>) {
        let mut texts = Vec::new();
        self.reply.close(&mut texts);
        self.pass_on(texts, actions);
        if let Some(violation) = self.reply.over_limit() {
            self.record_text_and_calls(&[]);
            return self.fail(violation, actions);
        }
        let checked_calls = self.calls();
        let checked_calls = self.pending.new_among(&checked_calls);
        let silent = self.text_so_far.trim().is_empty();
        let talked = checked_calls.is_empty() && self.round == 0 && !silent;
        self.record_text_and_calls(&checked_calls);
        if !checked_calls.is_empty() || !self.pending.is_empty() {
            self.act(&checked_calls, actions);
        } else if silent && std::mem::take(&mut self.ignored) && !self.remarked && !self.is_spent() {
            self.ask_for_words(actions);
        } else if !(talked && self.asks_again(actions)) {
            self.answered(actions);
        }
    }

    /// Re-asks once if the model only called tools that are no longer offered: an empty turn is no answer.
    fn ask_for_words(&mut self, actions: &mut Vec<Action>) {
        self.remarked = true;
        self.transcript.push(Item::Remark(text_only_message().to_owned()));
        self.reply = ModelReply::with_text_read(&self.request.tools, self.reply_calls);
        self.call_model(ToolChoice::WithoutTools, actions);
    }

    /// The calls of the finished reply, as many as are allowed.
    fn calls(&mut self) -> Vec<CheckedCall> {
        let mut checked_calls = self.checker.check_reply(&mut self.reply, &self.request, false);
        if self.round >= self.rules.rounds && !checked_calls.is_empty() {
            checked_calls.clear();
            self.ignored = true;
            self.checker.report.settle_bad_calls(Outcome::Refused);
            self.checker.report.note("rounds", Outcome::Refused);
        }
        if !self.request.rules.parallel && checked_calls.len() > 1 {
            checked_calls.truncate(1);
            self.checker.report.note("parallel_tool_calls", Outcome::Repaired);
        }
        checked_calls
    }

    /// Runs the character's tools first; the client's calls follow.
    fn act(&mut self, checked_calls: &[CheckedCall], actions: &mut Vec<Action>) {
        let checked_calls = self.pending.join(checked_calls, &self.rules);
        self.waiting = CallsByHandler::sorted(checked_calls, &self.rules, self.ran);
        let (calls, for_client) = (self.waiting.here(), self.waiting.has_client_calls());
        self.ran = self.ran.saturating_add(u64::try_from(calls.len()).unwrap_or(u64::MAX));
        self.called |= for_client || !calls.is_empty();
        if for_client && calls.is_empty() {
            return self.tools_done(&[], false, actions);
        }
        actions.extend(calls.iter().cloned().map(|call| Action::Emit(Event::RunsTool(call))));
        actions.push(Action::RunTools(calls));
    }

    /// Whether the model is asked again for broken calls while the client's calls wait.
    fn reasks(&self, out_of_time: bool) -> bool {
        !out_of_time
            && !self.is_spent()
            && self.waiting.is_mixed_with_broken()
            && self.round.saturating_add(1) < self.rules.rounds
    }

    /// Reports broken calls as refused if the turn ends with calls for the client: the model never reads their errors.
    fn note_refusals(&mut self, ends: bool) {
        let outcome = if ends { Outcome::Refused } else { Outcome::Reasked };
        self.checker.report.settle_bad_calls(outcome);
        for refusal in self.waiting.refusals() {
            match refusal {
                Refusal::Broken(kind) => self.checker.report.note(kind.code(), outcome),
                Refusal::OverLimit => self.checker.report.note("max_tool_calls", Outcome::Refused),
                Refusal::CalledOff => {}
            }
        }
    }

    /// Counts a text-only answer of a character that acts, and re-asks once if its rules say so.
    fn asks_again(&mut self, actions: &mut Vec<Action>) -> bool {
        if self.rules.delivers_text && !self.rules.asks_again {
            return false;
        }
        let is_free = !self.request.rules.required && !self.request.rules.forbidden;
        let asks = self.rules.asks_again && is_free && !self.asked_again && !self.is_spent();
        self.checker.report.note("text_only", if asks { Outcome::Reasked } else { Outcome::Observed });
        if asks {
            self.ask_for_call(act_message().to_owned(), ToolChoice::AsRequested, actions);
        }
        asks
    }

    fn ask_for_call(&mut self, message: String, choice: ToolChoice, actions: &mut Vec<Action>) {
        self.asked_again = true;
        if self.rules.delivers_text {
            self.transcript.push(Item::Remark(message));
        } else {
            let text = std::mem::take(&mut self.withheld);
            self.reask_items = vec![Item::Assistant { text, calls: Vec::new() }, Item::Remark(message)];
        }
        self.reply = ModelReply::with_text_read(&self.request.tools, self.reply_calls);
        self.call_model(choice, actions);
    }

    /// A text answer ends the turn, unless the client requires a call and none was made.
    fn answered(&mut self, actions: &mut Vec<Action>) {
        if !self.request.rules.required || self.called {
            return self.complete(actions);
        }
        let violation = unmet_choice(self.reply.is_cut() || self.is_spent());
        if self.is_spent() || self.asked_again || self.round >= self.rules.rounds {
            return self.fail(violation, actions);
        }
        self.checker.report.note(violation.kind.code(), Outcome::Reasked);
        let message = choice_message(&self.request.tools, &self.request.rules);
        self.ask_for_call(message, reask_request::choice(&self.request, &[], &violation), actions);
    }

    fn fail(&mut self, violation: Violation, actions: &mut Vec<Action>) {
        self.checker.report.note(violation.kind.code(), Outcome::Refused);
        actions.push(Action::Finish(Ending::Failed(violation)));
    }

    /// Text that is not delivered is not part of the conversation either: it would teach the model to talk.
    fn record_text_and_calls(&mut self, checked_calls: &[CheckedCall]) {
        let mut text = std::mem::take(&mut self.text_so_far);
        if !self.rules.delivers_text {
            self.withheld = std::mem::take(&mut text);
        }
        self.spoke_before |= !text.trim().is_empty();
        let calls: Vec<_> = checked_calls.iter().map(CheckedCall::in_history).collect();
        if !text.is_empty() || !calls.is_empty() {
            self.transcript.push(Item::Assistant { text, calls });
        }
    }

    fn complete(&mut self, actions: &mut Vec<Action>) {
        let finish = match self.reply.finish {
            Some(Finish::Length) => Finish::Length,
            Some(Finish::ContentFilter) => Finish::ContentFilter,
            _ => Finish::Stop,
        };
        self.finish(finish, actions);
    }

    fn finish(&mut self, finish: Finish, actions: &mut Vec<Action>) {
        actions.push(Action::Finish(Ending::Complete { finish, usage: self.checker.usage.take() }));
    }

    /// Tokens left of the client's limit, as far as the server counts them.
    fn tokens_left(&self) -> Option<u64> {
        let spent = self.checker.usage.as_ref().map_or(0, |usage| usage.completion_tokens);
        Some(self.request.most_tokens?.saturating_sub(spent))
    }

    /// True when no tokens are left: by count, or because a reply was cut off.
    fn is_spent(&self) -> bool {
        let cut = self.request.most_tokens.is_some() && self.reply.finish == Some(Finish::Length);
        cut || self.tokens_left() == Some(0)
    }

    fn tools_done(&mut self, results: &[ToolResult], out_of_time: bool, actions: &mut Vec<Action>) {
        let reasks = self.reasks(out_of_time);
        self.note_refusals(!reasks && self.waiting.has_client_calls());
        let RoundResults { results, for_client } = self.record_results(results, actions);
        match (for_client.is_empty(), reasks) {
            (true, _) => self.pending.release(),
            (false, true) => self.pending.accept(&for_client, &mut self.transcript),
            (false, false) => return self.hand_over(for_client, actions),
        }
        if self.rules.confirms && !reasks && all_succeeded(&results) {
            return self.confirm(&results, actions);
        }
        if self.is_spent() {
            return self.finish(Finish::Length, actions);
        }
        self.round = self.round.saturating_add(1);
        self.reply = ModelReply::with_text_read(&self.request.tools, self.reply_calls);
        let choice = self.next_choice(out_of_time);
        self.call_model(choice, actions);
    }

    /// Ends the turn with a confirmation made from the results.
    fn confirm(&mut self, results: &[ToolResult], actions: &mut Vec<Action>) {
        let text = summarize_results(results.iter().map(|result| result.text.as_str()));
        let separator = if self.spoke_before { "\n\n" } else { "" };
        actions.push(Action::Emit(Event::Text(format!("{separator}{text}"))));
        self.transcript.push(Item::Assistant { text, calls: Vec::new() });
        self.finish(Finish::Stop, actions);
    }

    /// The turn ends with calls for the client.
    fn hand_over(&mut self, calls: Vec<Call>, actions: &mut Vec<Action>) {
        self.pending.hand_over(&calls, &mut self.transcript);
        actions.extend(calls.into_iter().map(|call| Action::Emit(Event::Call(call))));
        self.finish(Finish::ToolCalls, actions);
    }

    /// The tool choice of the next request. A required call was made, so none is required any more; tools over the limit are not
    /// offered; where none are left, the model must answer.
    fn next_choice(&mut self, out_of_time: bool) -> ToolChoice {
        let used_up = self.rules.most_calls.is_some_and(|most| self.ran >= most);
        let may = |name: &&str| self.request.rules.allows(name) && (!used_up || self.rules.is_clients(name));
        let names: Vec<String> = self.request.tools.names().filter(may).map(str::to_owned).collect();
        if out_of_time || self.round >= self.rules.rounds || names.is_empty() {
            self.round = self.rules.rounds;
            return ToolChoice::WithoutTools;
        }
        let met = self.request.rules.required && self.called;
        if used_up || met { ToolChoice::Only(names) } else { ToolChoice::AsRequested }
    }

    fn call_model(&mut self, choice: ToolChoice, actions: &mut Vec<Action>) {
        let tokens_left = self.tokens_left().filter(|left| Some(*left) != self.request.most_tokens);
        let appended = self.transcript.iter().cloned().chain(std::mem::take(&mut self.reask_items)).collect();
        self.last_call = ModelCall { appended, choice, tokens_left };
        actions.push(Action::CallModel(self.last_call.clone()));
    }

    /// Adds the results in the order of the calls.
    fn record_results(&mut self, ran: &[ToolResult], actions: &mut Vec<Action>) -> RoundResults {
        let settled = std::mem::take(&mut self.waiting).settle(ran);
        for result in &settled.results {
            let text = result.shortened_text(self.rules.result_characters);
            self.transcript.push(Item::ToolResult { id: result.id.clone(), text: text.clone() });
            actions.push(Action::Emit(Event::RanTool(ToolResult { text, ..result.clone() })));
        }
        settled
    }

    /// Records and emits the results of what ran. The rest is recorded as cancelled, including the client's calls, which never
    /// reached it. Text that was cut off stays as it is.
    fn interrupted(&mut self, results: &[ToolResult], actions: &mut Vec<Action>) {
        if self.waiting.is_empty() {
            self.record_text_and_calls(&[]);
        }
        self.note_refusals(true);
        self.pending.call_off(CANCELLED, &mut self.transcript);
        self.waiting.call_off(|id| self.pending.is_accepted(id));
        let mut emitted = Vec::new();
        self.record_results(results, &mut emitted);
        let ran = |action: &Action| matches!(action, Action::Emit(Event::RanTool(result)) if result.ran.is_some());
        actions.extend(emitted.into_iter().filter(ran));
    }
}
