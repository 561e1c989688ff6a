//! A turn whose tools are run here: text goes out as it comes, calls are run in rounds, results go back to the model.
//!
//! A call that breaks a promise is answered with an error the model can act on; the conversation goes on. When the rounds
//! or the time are used up, the model is asked for an answer without tools. Everything that was said, called and answered
//! is kept in order for the conversation.

use super::inspect::Inspector;
use super::ladder::spoken_call;
use super::places::Place;
use super::reply::{Heard, Reply};
use super::{Action, Ask, AskChoice, Ending, Event, Input, StageRules, ToolResult, TurnRequest, TurnSettings};
use crate::contract::{Outcome, choice_words, cleaned_call, stage_words};
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
    waiting: Vec<Place>,
    round: u32,
    spoke_before: bool,
    insisted: bool,
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
            waiting: Vec::new(),
            round: 0,
            spoke_before: false,
            insisted: false,
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
                let choice = if self.rules.requires_call { AskChoice::Required } else { AskChoice::AsRequested };
                self.call_model(choice, actions);
            }
            Input::Delta(delta) => self.delta(delta, actions),
            Input::ReplyEnded => self.reply_ended(actions),
            Input::ToolsDone { results, hurry } => self.tools_done(&results, hurry, actions),
            Input::Interrupted { results } => self.interrupted(&results),
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
        let mut places = self.inspector.inspect(&mut self.reply, &self.request, false);
        if self.round >= self.rules.rounds && !places.is_empty() {
            places.clear();
            self.inspector.report.note("rounds", Outcome::Refused);
        }
        let talked = self.rules.tools_only && places.is_empty() && self.round == 0 && !self.said.trim().is_empty();
        self.keep_said(&places);
        if talked && self.insist(actions) {
            return;
        }
        if places.is_empty() {
            return self.complete(actions);
        }
        let calls: Vec<_> = places.iter().filter_map(Place::valid).cloned().collect();
        self.waiting = places;
        actions.extend(calls.iter().cloned().map(|call| Action::Emit(Event::RunsTool(call))));
        actions.push(Action::RunTools(calls));
    }

    /// A character that should act has talked: that is counted, and where the rules say so it is asked for a call, once.
    fn insist(&mut self, actions: &mut Vec<Action>) -> bool {
        let asks = self.rules.insists && !self.insisted;
        self.inspector.report.note("text_only", if asks { Outcome::Reasked } else { Outcome::Observed });
        if !asks {
            return false;
        }
        self.insisted = true;
        self.transcript.push(Item::Remark(choice_words(&self.request.tools, &self.request.rules)));
        self.reply = Reply::new(&self.request.tools);
        self.call_model(AskChoice::AsRequested, actions);
        true
    }

    fn keep_said(&mut self, places: &[Place]) {
        let text = std::mem::take(&mut self.said);
        self.spoke_before |= !text.trim().is_empty();
        let calls: Vec<_> = places
            .iter()
            .map(|place| match place {
                Place::Valid(call) => spoken_call(call),
                Place::Broken { raw, id, .. } => cleaned_call(raw, id.clone()),
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
        actions.push(Action::Finish(Ending::Complete { finish, usage: self.inspector.usage.take() }));
    }

    fn tools_done(&mut self, results: &[ToolResult], hurry: bool, actions: &mut Vec<Action>) {
        self.keep_results(results, actions);
        self.round += 1;
        let last = hurry || self.round >= self.rules.rounds;
        if last {
            self.round = self.rules.rounds;
        }
        self.reply = Reply::new(&self.request.tools);
        let choice = if last { AskChoice::WithoutTools } else { AskChoice::AsRequested };
        self.call_model(choice, actions);
    }

    fn call_model(&mut self, choice: AskChoice, actions: &mut Vec<Action>) {
        self.last_ask = Ask { appended: self.transcript.clone(), choice };
        actions.push(Action::CallModel(self.last_ask.clone()));
    }

    /// Puts the results behind their calls, in the order of the calls; broken calls get their error.
    fn keep_results(&mut self, results: &[ToolResult], actions: &mut Vec<Action>) {
        for place in std::mem::take(&mut self.waiting) {
            let result = match place {
                Place::Broken { raw, id, violation } => {
                    self.inspector.report.note(violation.kind.code(), Outcome::Reasked);
                    ToolResult { id, text: stage_words(&raw, &violation), outcome: violation.kind.into(), ran: None }
                }
                Place::Valid(call) => match results.iter().find(|result| result.id == call.id) {
                    Some(result) => result.clone(),
                    None => ToolResult::cancelled(call.id),
                },
            };
            let text = cut(&result.text, self.rules.result_characters);
            self.transcript.push(Item::ToolResult { id: result.id.clone(), text: text.clone() });
            actions.push(Action::Emit(Event::RanTool(ToolResult { text, ..result })));
        }
    }

    /// What ran is recorded; what did not is recorded as cancelled; half a sentence stays as it was said.
    fn interrupted(&mut self, results: &[ToolResult]) {
        if self.waiting.is_empty() {
            self.keep_said(&[]);
        }
        self.keep_results(results, &mut Vec::new());
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
