//! A scripted model, tools that return immediately, and a record of all actions.
//!
//! Calls are written as `roll:5`, where 5 is the argument `n`, a number. The character has `roll` and `look`, the client has
//! `show` and `save`.

use std::sync::Arc;

use callboard_core::contract::{Call, CallRules, SchemaLimits, ToolSet};
use callboard_core::model::{CallFragment, Delta, Finish, Item, Usage};
use callboard_core::turn::{
    Action, CharacterRules, Ending, Event, Input, ModelCall, ToolOutcome, ToolResult, Turn, TurnRequest, TurnSettings,
};
use serde_json::json;

pub(crate) const OWN: [&str; 2] = ["roll", "look"];
pub(crate) const CLIENTS: [&str; 2] = ["show", "save"];

/// One reply of the model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) calls: Vec<String>,
    pub(crate) cut: bool,
}

/// The setup of a turn.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    pub(crate) replies: Vec<Reply>,
    pub(crate) stage: CharacterRules,
    pub(crate) rules: CallRules,
    /// The round of tools in which the user interrupts.
    pub(crate) interrupted_in: Option<usize>,
    /// The round of tools after which the turn is out of time.
    pub(crate) late_after: Option<usize>,
    /// The client's token limit; every reply costs one.
    pub(crate) most_tokens: Option<u64>,
}

/// The recorded actions of a turn.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub(crate) asks: Vec<ModelCall>,
    pub(crate) rounds: Vec<Vec<Call>>,
    pub(crate) events: Vec<Event>,
    pub(crate) ending: Option<Ending>,
    pub(crate) transcript: Vec<Item>,
    pub(crate) report: String,
}

impl Reply {
    /// Parses `"words | roll:1 show:2"`: a text, and calls after a bar.
    pub(crate) fn read(text: &str) -> Self {
        let (text, calls) = text.split_once('|').unwrap_or((text, ""));
        let calls = calls.split_whitespace().map(str::to_owned).collect();
        Self { text: text.trim().to_owned(), calls, cut: false }
    }
}

impl Play {
    pub(crate) fn new(replies: &[&str]) -> Self {
        let stage = CharacterRules { client_tools: CLIENTS.map(str::to_owned).to_vec(), ..CharacterRules::default() };
        let replies = replies.iter().map(|reply| Reply::read(reply)).collect();
        Self { replies, stage, rules: CallRules::default(), interrupted_in: None, late_after: None, most_tokens: None }
    }

    /// Runs the turn to its end; after the end of the script the model replies `done`.
    pub(crate) fn play(&self) -> Played {
        let mut played = Played::default();
        let mut turn = Turn::for_character(self.request(), TurnSettings::default(), self.stage.clone(), random());
        let mut next = Some(Input::Start);
        let mut steps = 0;
        while let Some(input) = next.take() {
            steps += 1;
            assert!(steps < 1000, "a turn without end: {self:?}");
            let mut actions = Vec::new();
            turn.step(input, &mut actions);
            for action in actions {
                assert!(played.ending.is_none() && next.is_none(), "{action:?} after the end of a step: {self:?}");
                next = self.perform(action, &mut turn, &mut played);
            }
        }
        played.transcript = turn.transcript().to_vec();
        played.report = turn.report().to_string();
        played
    }

    fn perform(&self, action: Action, turn: &mut Turn, played: &mut Played) -> Option<Input> {
        match action {
            Action::Emit(event) => played.events.push(event),
            Action::Finish(ending) => played.ending = Some(ending),
            Action::CallModel(ask) => {
                let reply = self.replies.get(played.asks.len()).cloned().unwrap_or_else(|| Reply::read("done"));
                played.asks.push(ask);
                let mut actions = Vec::new();
                deltas(&reply).into_iter().for_each(|delta| turn.step(Input::Delta(delta), &mut actions));
                played.events.extend(actions.into_iter().map(|action| match action {
                    Action::Emit(event) => event,
                    other => panic!("{other:?} in the middle of a reply"),
                }));
                return Some(Input::ReplyEnded);
            }
            Action::RunTools(calls) => {
                let number = played.rounds.len();
                played.rounds.push(calls.clone());
                if self.interrupted_in == Some(number) {
                    let results = calls.iter().take(1).map(ran).collect();
                    return Some(Input::Interrupted { results });
                }
                let out_of_time = self.late_after == Some(number);
                return Some(Input::ToolsDone { results: calls.iter().map(ran).collect(), out_of_time });
            }
        }
        None
    }

    fn request(&self) -> TurnRequest {
        let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
        let list = OWN.into_iter().chain(CLIENTS).map(tool).collect();
        let tools = Arc::new(ToolSet::compile(&list, SchemaLimits::default()).unwrap());
        TurnRequest { tools, rules: self.rules.clone(), most_tokens: self.most_tokens, ..TurnRequest::default() }
    }
}

fn random() -> callboard_core::model::RandomBytes {
    let mut drawn = 0_u8;
    Box::new(move || {
        drawn = drawn.checked_add(1).expect("fewer calls than that");
        let mut bytes = [0; 24];
        (bytes[0], bytes[1]) = (drawn % 62, drawn / 62);
        bytes
    })
}

fn ran(call: &Call) -> ToolResult {
    let text = format!("{} ran", call.name);
    ToolResult { id: call.id.clone(), text, outcome: ToolOutcome::Success, ran: None, remark: None }
}

fn deltas(reply: &Reply) -> Vec<Delta> {
    let text = (!reply.text.is_empty()).then(|| Delta::Text(reply.text.clone()));
    let call = |(number, words): (usize, &String)| {
        let (name, n) = words.split_once(':').unwrap_or((words, ""));
        let arguments = Some(format!("{{\"n\":{n}}}"));
        let index = u64::try_from(number).ok();
        Delta::Call(CallFragment { index, name: Some(name.to_owned()), arguments, ..CallFragment::default() })
    };
    let usage = Usage { prompt_tokens: 2, completion_tokens: 1, ..Usage::default() };
    let finish = if reply.cut { Finish::Length } else { Finish::ToolCalls };
    let calls = reply.calls.iter().enumerate().map(call);
    text.into_iter().chain(calls).chain([Delta::Finish(finish), Delta::Usage(usage)]).collect()
}
