//! A turn whose tools are run here: text goes out as it comes, calls are run in rounds, results go back to the model.
//!
//! A call that breaks a promise is answered with an error the model can act on; the conversation goes on. When the rounds
//! or the time are used up, the model is asked for an answer without tools. A valid call of a tool of the client ends the
//! turn, after the tools of the same reply have run and the broken calls beside it were asked for again. Everything that was said, called and answered is kept in order for the
//! conversation; calls that went to the client have no answer in it yet.

use super::held::HeldCalls;
use super::inspect::Inspector;
use super::ladder::{self, spoken_call};
use super::places::Place;
use super::reply::{Heard, Reply};
use super::round::{Refusal, Round};
use super::{Action, Ask, AskChoice, Ending, Event, Input, StageRules, ToolResult, TurnRequest, TurnSettings};
use crate::contract::{Call, Outcome, Violation, ViolationKind, choice_message, history_call, text_only_message};
use crate::model::{Delta, Finish, Item, RandomBytes};

/// The text that marks calls which an interruption kept from running.
pub(super) const CANCELLED: &str = "Error: Cancelled: the user interrupted before this tool ran";

/// One turn of a character.
pub(super) struct StageTurn {
    request: TurnRequest,
    rules: StageRules,
    inspector: Inspector,
    reply: Reply,
    said: String,
    transcript: Vec<Item>,
    last_ask: Ask,
    waiting: Round,
    held: HeldCalls,
    round: u32,
    /// How many tools were run.
    ran: u64,
    /// Whether any call was made that could be carried out.
    called: bool,
    spoke_before: bool,
    insisted: bool,
    /// Whether calls were made although no tool was on offer any more, and whether that was remarked on.
    ignored: bool,
    remarked: bool,
}

impl StageTurn {
    pub(super) fn new(request: TurnRequest, settings: TurnSettings, rules: StageRules, random: RandomBytes) -> Self {
        Self {
            reply: Reply::new(&request.tools),
            inspector: Inspector::new(&request.used_ids, settings.arguments_bytes, random),
            request,
            rules,
            said: String::new(),
            transcript: Vec::new(),
            last_ask: Ask::default(),
            waiting: Round::default(),
            held: HeldCalls::default(),
            round: 0,
            ran: 0,
            called: false,
            spoke_before: false,
            insisted: false,
            ignored: false,
            remarked: false,
        }
    }

    pub(super) fn inspector(&self) -> &Inspector {
        &self.inspector
    }

    pub(super) fn transcript(&self) -> &[Item] {
        &self.transcript
    }

    pub(super) fn spoken_bytes(&self) -> usize {
        self.inspector.spoken_bytes + self.reply.bytes
    }

    pub(super) fn step(&mut self, input: Input, actions: &mut Vec<Action>) {
        match input {
            Input::Start => {
                let rules = &self.request.rules;
                let asks = self.rules.requires_call && !rules.required && !rules.forbidden;
                self.call_model(if asks { AskChoice::Required } else { AskChoice::AsRequested }, actions);
            }
            Input::Delta(delta) => self.delta(delta, actions),
            Input::ReplyEnded => self.reply_ended(actions),
            Input::ToolsDone { results, hurry } => self.tools_done(&results, hurry, actions),
            Input::Interrupted { results } => self.interrupted(&results, actions),
            Input::ReplyLost => {
                self.reply = Reply::new(&self.request.tools);
                actions.push(Action::CallModel(self.last_ask.clone()));
            }
            Input::ReaskRefused => {}
        }
    }

    fn delta(&mut self, delta: Delta, actions: &mut Vec<Action>) {
        let mut heard = Vec::new();
        match delta {
            Delta::Text(text) => self.reply.text(text, &mut heard),
            Delta::Reasoning(text) => heard.push(Heard::Reasoning(text)),
            Delta::Refusal(text) => actions.push(Action::Emit(Event::Refusal(text))),
            Delta::Logprobs(_) => {}
            Delta::Finish(finish) => self.reply.finish = Some(finish),
            Delta::Usage(usage) => self.reply.usage = Some(usage),
            Delta::Call(_) => {
                self.reply.call(delta, &self.request.tools);
            }
        }
        self.pass_on(heard, actions);
    }

    fn pass_on(&mut self, heard: Vec<Heard>, actions: &mut Vec<Action>) {
        for heard in heard {
            match heard {
                Heard::Reasoning(text) => actions.push(Action::Emit(Event::Reasoning(text))),
                Heard::Text(text) => self.text(text, actions),
            }
        }
    }

    /// Texts of different rounds are told apart by a blank line.
    fn text(&mut self, text: String, actions: &mut Vec<Action>) {
        let first = self.said.is_empty();
        self.said.push_str(&text);
        let text = if first && self.spoke_before { format!("\n\n{}", text.trim_start()) } else { text };
        actions.push(Action::Emit(Event::Text(text)));
    }

    fn reply_ended(&mut self, actions: &mut Vec<Action>) {
        let mut heard = Vec::new();
        self.reply.close(&mut heard);
        self.pass_on(heard, actions);
        let places = self.calls();
        let places = self.held.new_among(places);
        let silent = self.said.trim().is_empty();
        let talked = self.rules.tools_only && places.is_empty() && self.round == 0 && !silent;
        self.keep_said(&places);
        if !places.is_empty() || !self.held.is_empty() {
            self.act(&places, actions);
        } else if silent && std::mem::take(&mut self.ignored) && !self.remarked && !self.is_spent() {
            self.ask_for_words(actions);
        } else if !(talked && self.insist(actions)) {
            self.answered(actions);
        }
    }

    /// A model that called tools which are not on offer any more, and said nothing, is told so and asked once more: a turn
    /// without a word is no answer.
    fn ask_for_words(&mut self, actions: &mut Vec<Action>) {
        self.remarked = true;
        self.transcript.push(Item::Remark(text_only_message().to_owned()));
        self.reply = Reply::new(&self.request.tools);
        self.call_model(AskChoice::WithoutTools, actions);
    }

    /// The calls of the reply that is over, as many as may be made.
    fn calls(&mut self) -> Vec<Place> {
        let mut places = self.inspector.inspect(&mut self.reply, &self.request, false);
        if self.round >= self.rules.rounds && !places.is_empty() {
            places.clear();
            self.ignored = true;
            self.inspector.report.note("rounds", Outcome::Refused);
        }
        if !self.request.rules.parallel && places.len() > 1 {
            places.truncate(1);
            self.inspector.report.note("parallel_tool_calls", Outcome::Repaired);
        }
        places
    }

    /// Tools of the character are run; where the client has something to run as well, that comes after them.
    fn act(&mut self, places: &[Place], actions: &mut Vec<Action>) {
        let places = self.held.join(places, &self.rules);
        self.waiting = Round::sorted(places, &self.rules, self.ran);
        let (calls, for_client) = (self.waiting.here(), self.waiting.has_client_calls());
        self.ran = self.ran.saturating_add(u64::try_from(calls.len()).unwrap_or(u64::MAX));
        self.called |= for_client || !calls.is_empty();
        if for_client && calls.is_empty() {
            return self.tools_done(&[], false, actions);
        }
        actions.extend(calls.iter().cloned().map(|call| Action::Emit(Event::RunsTool(call))));
        actions.push(Action::RunTools(calls));
    }

    /// Whether the model is asked again for broken calls while those of the client wait.
    fn mends(&self, hurry: bool) -> bool {
        !hurry
            && !self.is_spent()
            && self.waiting.is_mixed_with_broken()
            && self.round.saturating_add(1) < self.rules.rounds
    }

    /// A model whose turn ends with calls for the client does not read its errors.
    fn note_refusals(&mut self, ends: bool) {
        let told = if ends { Outcome::Refused } else { Outcome::Reasked };
        for refusal in self.waiting.refusals() {
            match refusal {
                Refusal::Broken(kind) => self.inspector.report.note(kind.code(), told),
                Refusal::OverLimit => self.inspector.report.note("max_tool_calls", Outcome::Refused),
                Refusal::CalledOff => {}
            }
        }
    }

    /// A character that should act has talked: that is counted, and where the rules say so it is asked for a call, once.
    fn insist(&mut self, actions: &mut Vec<Action>) -> bool {
        let asks = self.rules.insists && !self.insisted && !self.is_spent();
        self.inspector.report.note("text_only", if asks { Outcome::Reasked } else { Outcome::Observed });
        if asks {
            self.ask_for_call(AskChoice::AsRequested, actions);
        }
        asks
    }

    fn ask_for_call(&mut self, choice: AskChoice, actions: &mut Vec<Action>) {
        self.insisted = true;
        self.transcript.push(Item::Remark(choice_message(&self.request.tools, &self.request.rules)));
        self.reply = Reply::new(&self.request.tools);
        self.call_model(choice, actions);
    }

    /// An answer in words ends the turn, unless the client asked for a call and none was made.
    fn answered(&mut self, actions: &mut Vec<Action>) {
        if !self.request.rules.required || self.called || self.reply.is_cut() {
            return self.complete(actions);
        }
        if self.is_spent() {
            return self.finish(Finish::Length, actions);
        }
        let message = "the model answered without a tool call although tool_choice asks for one";
        let violation = Violation::new(ViolationKind::ChoiceUnmet, message);
        let asks = !self.insisted && self.round < self.rules.rounds;
        self.inspector.report.note(violation.kind.code(), if asks { Outcome::Reasked } else { Outcome::Refused });
        if asks {
            self.ask_for_call(ladder::choice(&self.request, &[], &violation), actions);
        } else {
            actions.push(Action::Finish(Ending::Failed(violation)));
        }
    }

    fn keep_said(&mut self, places: &[Place]) {
        let text = std::mem::take(&mut self.said);
        self.spoke_before |= !text.trim().is_empty();
        let calls: Vec<_> = places
            .iter()
            .map(|place| match place {
                Place::Valid(call) => spoken_call(call),
                Place::Broken { raw, id, .. } => history_call(raw, id.clone()),
            })
            .collect();
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
        actions.push(Action::Finish(Ending::Complete { finish, usage: self.inspector.usage.take() }));
    }

    /// How many of the tokens that the client allows are left for the rest of the turn, as far as the server counts them.
    fn tokens_left(&self) -> Option<u64> {
        let spent = self.inspector.usage.as_ref().map_or(0, |usage| usage.completion_tokens);
        Some(self.request.most_tokens?.saturating_sub(spent))
    }

    /// True when nothing is left: counted, or known from a reply that was cut off.
    fn is_spent(&self) -> bool {
        let cut = self.request.most_tokens.is_some() && self.reply.finish == Some(Finish::Length);
        cut || self.tokens_left() == Some(0)
    }

    fn tools_done(&mut self, results: &[ToolResult], hurry: bool, actions: &mut Vec<Action>) {
        let mends = self.mends(hurry);
        self.note_refusals(!mends && self.waiting.has_client_calls());
        let for_client = self.keep_results(results, actions);
        match (for_client.is_empty(), mends) {
            (true, _) => self.held.release(),
            (false, true) => self.held.accept(&for_client, &mut self.transcript),
            (false, false) => return self.hand_over(for_client, actions),
        }
        if self.is_spent() {
            return self.finish(Finish::Length, actions);
        }
        self.round = self.round.saturating_add(1);
        self.reply = Reply::new(&self.request.tools);
        let choice = self.next_choice(hurry);
        self.call_model(choice, actions);
    }

    /// The turn ends with calls for the client.
    fn hand_over(&mut self, calls: Vec<Call>, actions: &mut Vec<Action>) {
        self.held.hand_over(&calls, &mut self.transcript);
        actions.extend(calls.into_iter().map(|call| Action::Emit(Event::Call(call))));
        self.finish(Finish::ToolCalls, actions);
    }

    /// What may be called in the next reply. A call that was due has been made, so none is due any more; tools that may not
    /// be run any more are not offered; and where nothing is left to offer, an answer is due.
    fn next_choice(&mut self, hurry: bool) -> AskChoice {
        let used_up = self.rules.most_calls.is_some_and(|most| self.ran >= most);
        let may = |name: &&str| self.request.rules.allows(name) && (!used_up || self.rules.is_clients(name));
        let names: Vec<String> = self.request.tools.names().filter(may).map(str::to_owned).collect();
        if hurry || self.round >= self.rules.rounds || names.is_empty() {
            self.round = self.rules.rounds;
            return AskChoice::WithoutTools;
        }
        let met = self.request.rules.required && self.called;
        if used_up || met { AskChoice::Only(names) } else { AskChoice::AsRequested }
    }

    fn call_model(&mut self, choice: AskChoice, actions: &mut Vec<Action>) {
        let tokens_left = self.tokens_left().filter(|left| Some(*left) != self.request.most_tokens);
        self.last_ask = Ask { appended: self.transcript.clone(), choice, tokens_left };
        actions.push(Action::CallModel(self.last_ask.clone()));
    }

    /// Puts the results behind their calls, in the order of the calls; what is the client's to run comes back.
    fn keep_results(&mut self, ran: &[ToolResult], actions: &mut Vec<Action>) -> Vec<Call> {
        let settled = std::mem::take(&mut self.waiting).settle(ran);
        for result in settled.results {
            let text = cut(&result.text, self.rules.result_characters);
            self.transcript.push(Item::ToolResult { id: result.id.clone(), text: text.clone() });
            actions.push(Action::Emit(Event::RanTool(ToolResult { text, ..result })));
        }
        settled.for_client
    }

    /// What ran is recorded, and told to whoever still listens; what did not is recorded as cancelled, the client's calls too,
    /// for they never reached it; half a sentence stays as it was said.
    fn interrupted(&mut self, results: &[ToolResult], actions: &mut Vec<Action>) {
        if self.waiting.is_empty() {
            self.keep_said(&[]);
        }
        self.note_refusals(true);
        self.held.call_off(CANCELLED, &mut self.transcript);
        self.waiting.call_off(|id| self.held.is_accepted(id));
        let mut told = Vec::new();
        self.keep_results(results, &mut told);
        let ran = |action: &Action| matches!(action, Action::Emit(Event::RanTool(result)) if result.ran.is_some());
        actions.extend(told.into_iter().filter(ran));
    }
}

/// At most so many characters, with the cut marked.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => {
            let all = text.chars().count();
            format!("{}… [cut: {most} of {all} characters]", text.get(..at).unwrap_or_default())
        }
    }
}
