//! A whole turn of the gateway: the same events however the replies are cut, only valid calls, and an end.

use std::sync::Arc;

use callboard_core::contract::{Call, CallRules, CheckBudget, RawCall, ToolCache, ToolSet, check_arguments};
use callboard_core::model::Delta;
use callboard_core::turn::{Action, Event, Input, Turn, TurnRequest, TurnSettings};
use callboard_core::wire::chat::{ChatRequest, ReplyFault, ReplyReader};

use super::fields::{fields, joined, options, pieces};
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"",
    "\"},\"finish_reason\":null}]}\n\n",
    "\"finish_reason\":\"tool_calls\"",
    "\"finish_reason\":\"length\"",
    "data: [DONE]\n\n",
    "\"arguments\":\"",
    "<tool_call>",
    "\"tool_choice\":\"required\"",
    "\"tool_choice\":\"none\"",
    "\"parallel_tool_calls\":false",
];

/// The options: how often the model may be asked again, and whether arguments are streamed.
const REASKS: u8 = 3;
const STREAM_ARGUMENTS: u8 = 4;
const MOST_BYTES: usize = 1 << 20;

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    let turn = |turn: &Vec<String>| {
        let [request, replies @ ..] = turn.as_slice() else { return Vec::new() };
        let replies = replies.iter().map(String::as_bytes);
        let all: Vec<&[u8]> = [b"\x09".as_slice(), b"\x07", request.as_bytes()].into_iter().chain(replies).collect();
        joined(&all)
    };
    golden.turns.iter().map(turn).collect()
}

/// Fields: options, lengths of pieces, the request, and up to three replies.
pub(crate) fn run(data: &[u8]) {
    let [chosen, lengths, request, replies @ ..] = fields::<6>(data);
    let settings = TurnSettings {
        reasks: u32::from(options(chosen) & REASKS),
        stream_arguments: options(chosen) & STREAM_ARGUMENTS != 0,
        ..TurnSettings::default()
    };
    let Some(whole) = read_request(request) else { return };
    let Some(cut) = read_request(request) else { return };
    let whole = Trace::of(whole, settings, &replies.map(|reply| vec![reply]));
    let cut = Trace::of(cut, settings, &replies.map(|reply| pieces(reply, lengths)));
    assert_eq!(cut.lines, whole.lines, "cut in other places");
}

fn read_request(body: &[u8]) -> Option<TurnRequest> {
    ChatRequest::read(body.to_vec(), &ToolCache::default()).ok().map(|(_, turn)| turn)
}

/// What a turn did, one line for each action; adjacent pieces of one kind are joined.
struct Trace {
    tools: Arc<ToolSet>,
    forbidden: bool,
    lines: Vec<(&'static str, String)>,
    ids: Vec<String>,
    requests: u32,
    ended: bool,
}

impl Trace {
    fn of(request: TurnRequest, settings: TurnSettings, replies: &[Vec<&[u8]>]) -> Self {
        let (tools, forbidden) = (Arc::clone(&request.tools), request.rules.forbidden);
        let mut trace =
            Self { tools, forbidden, lines: Vec::new(), ids: request.used_ids.clone(), requests: 0, ended: false };
        let mut drawn = 0_u8;
        let random = Box::new(move || {
            drawn = drawn.wrapping_add(1);
            [drawn; 24]
        });
        let mut turn = Turn::new(request, settings, random);
        trace.step(&mut turn, Input::Start);
        for (number, reply) in (1..).zip(replies) {
            if trace.requests == number && !trace.ended {
                trace.reply(&mut turn, reply);
            }
        }
        assert!(trace.requests <= settings.reasks + 1, "{} requests with {} re-asks", trace.requests, settings.reasks);
        trace
    }

    fn reply(&mut self, turn: &mut Turn, pieces: &[&[u8]]) {
        let (deltas, end) = read(pieces);
        deltas.into_iter().for_each(|delta| self.step(turn, Input::Delta(delta)));
        match end {
            Err(fault) => {
                self.lines.push(("fault", fault.to_string()));
                self.ended = true;
            }
            Ok(()) => {
                let before = self.requests;
                self.step(turn, Input::ReplyEnded);
                assert!(
                    self.ended || self.requests > before,
                    "a reply has ended, but the turn neither ends nor goes on"
                );
            }
        }
    }

    fn step(&mut self, turn: &mut Turn, input: Input) {
        let mut actions = Vec::new();
        turn.step(input, &mut actions);
        for action in actions {
            assert!(!self.ended, "{action:?} after the end");
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::CallModel(call) => {
                self.requests += 1;
                self.lines.push(("asks", format!("{call:?}")));
            }
            Action::Emit(Event::Text(text)) => self.append("text", &text),
            Action::Emit(Event::Reasoning(text)) => self.append("reasoning", &text),
            Action::Emit(Event::CallGrows(text)) => self.append("arguments", &text),
            Action::Emit(Event::Call(call)) => self.call(&call),
            Action::Finish(ending) => {
                self.ended = true;
                self.lines.push(("end", format!("{ending:?}")));
            }
            other => self.lines.push(("other", format!("{other:?}"))),
        }
    }

    fn append(&mut self, kind: &'static str, text: &str) {
        match self.lines.last_mut().filter(|(last, _)| *last == kind) {
            Some((_, line)) => line.push_str(text),
            None => self.lines.push((kind, text.to_owned())),
        }
    }

    /// A call that leaves is valid as it is, allowed, and has an id of its own.
    fn call(&mut self, call: &Call) {
        assert!(!self.forbidden, "{call:?} although no call is allowed");
        let raw =
            RawCall { name: call.name.clone(), arguments: call.arguments.as_str().to_owned(), ..RawCall::default() };
        let checked = check_arguments(&raw, &self.tools, &CallRules::default(), &mut CheckBudget::new(usize::MAX))
            .expect("a valid call");
        let same = checked.iter().all(|checked| checked.arguments == call.arguments && checked.repairs.is_empty());
        assert!(same && checked.len() == 1, "{call:?} is checked again as {checked:?}");
        let id = call.id.as_str().to_owned();
        assert!(!self.ids.contains(&id), "{id} is taken");
        self.ids.push(id);
        self.lines.push(("call", format!("{call:?}")));
    }
}

fn read(pieces: &[&[u8]]) -> (Vec<Delta>, Result<(), ReplyFault>) {
    let (mut reader, mut deltas) = (ReplyReader::stream(MOST_BYTES), Vec::new());
    let fed = pieces.iter().try_for_each(|piece| reader.feed(piece, &mut deltas));
    let end = fed.and_then(|()| if reader.is_ended() { Ok(()) } else { reader.finish(&mut deltas) });
    (deltas, end)
}
