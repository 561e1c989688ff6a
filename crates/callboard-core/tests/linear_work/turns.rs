//! Whole turns: calls in many fragments, many calls, calls that are native and in the text, and many calls asked for again.

use std::sync::Arc;

use callboard_core::contract::{SchemaLimits, ToolSet};
use callboard_core::model::{CallFragment, Delta};
use callboard_core::turn::{Action, CharacterRules, Input, Turn, TurnRequest, TurnSettings};
use serde_json::json;

use super::cpu_time::is_linear;

const SIZE: usize = 2000;

/// The replies of a model, by their size.
type Replies = fn(usize) -> Vec<Vec<Delta>>;

fn fragment(index: Option<usize>, id: &str, name: &str, arguments: &str) -> Delta {
    let some = |text: &str| Some(text.to_owned());
    let index = index.and_then(|index| u64::try_from(index).ok());
    Delta::Call(CallFragment {
        index,
        id: some(id),
        name: some(name),
        arguments: some(arguments),
        ..CallFragment::default()
    })
}

fn deltas(size: usize, delta: impl Fn(usize) -> Delta) -> Vec<Delta> {
    (0..size).map(delta).collect()
}

fn written(size: usize) -> Delta {
    Delta::Text(
        (0..size)
            .map(|n| format!("<tool_call>{{\"name\": \"f\", \"arguments\": {{\"n\": {n}}}}}</tool_call>"))
            .collect(),
    )
}

fn numbered(size: usize) -> Vec<Delta> {
    deltas(size, |n| fragment(Some(n), &format!("c{n}"), "f", &format!("{{\"n\":{n}}}")))
}

const REPLIES: [(&str, Replies); 14] = [
    ("a call for each index", |size| vec![deltas(size, |n| fragment(Some(n + (1 << 32)), "", "f", "{}"))]),
    ("a call for each id", |size| vec![deltas(size, |n| fragment(Some(0), &format!("c{n}"), "f", "{}"))]),
    ("one id for all calls", |size| vec![deltas(size, |n| fragment(Some(n), "c", "f", "{}"))]),
    ("calls without index and id", |size| vec![deltas(size, |_| fragment(None, "", "f", "{}"))]),
    ("fragments of all calls in turn", |size| {
        let heads = deltas(size, |n| fragment(Some(n), &format!("c{n}"), "f", "{\"n\":"));
        vec![heads.into_iter().chain(deltas(size, |n| fragment(Some(n), "", "", "1}"))).collect()]
    }),
    ("fragments of the first of many calls", |size| {
        vec![numbered(size).into_iter().chain(deltas(size, |_| fragment(Some(0), "c0", "", " "))).collect()]
    }),
    ("arguments in single characters", |size| {
        vec![deltas(10 * size, |n| fragment(Some(0), "", if n == 0 { "f" } else { "" }, " "))]
    }),
    ("a name in single characters", |size| vec![deltas(10 * size, |_| fragment(Some(0), "", "n", ""))]),
    ("a long name before arguments in single characters", |size| {
        let name = fragment(Some(0), "", &"n".repeat(10 * size), "");
        vec![std::iter::once(name).chain(deltas(10 * size, |_| fragment(Some(0), "", "", "1"))).collect()]
    }),
    ("empty fragments and texts", |size| {
        vec![deltas(10 * size, |n| if n % 2 == 0 { fragment(Some(0), "", "", "") } else { Delta::Text(String::new()) })]
    }),
    ("calls in the text", |size| vec![vec![written(size)]]),
    ("calls both native and in the text", |size| vec![numbered(size).into_iter().chain([written(size)]).collect()]),
    ("many calls asked for again", |size| {
        let broken = deltas(size, |n| fragment(Some(n), &format!("c{n}"), "f", "{\"n\":\"x\"}"));
        vec![numbered(size).into_iter().chain(broken).collect(), numbered(2 * size)]
    }),
    ("calls of an unknown tool", |size| vec![deltas(size, |n| fragment(Some(n), "", "unknown", "{}")), numbered(size)]),
];

fn request() -> TurnRequest {
    let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tool = json!({"type": "function", "function": {"name": "f", "parameters": parameters}});
    let tools = ToolSet::compile(&json!([tool]), SchemaLimits::default()).unwrap();
    TurnRequest { tools: Arc::new(tools), ..TurnRequest::default() }
}

fn play(mut turn: Turn, replies: Vec<Vec<Delta>>) {
    let mut actions = Vec::new();
    turn.step(Input::Start, &mut actions);
    for reply in replies {
        if !actions.drain(..).any(|action| matches!(action, Action::CallModel(_))) {
            return;
        }
        reply.into_iter().for_each(|delta| turn.step(Input::Delta(delta), &mut actions));
        turn.step(Input::ReplyEnded, &mut actions);
    }
}

fn settings(stream_arguments: bool) -> TurnSettings {
    TurnSettings { stream_arguments, reply_calls: usize::MAX, arguments_bytes: usize::MAX, ..TurnSettings::default() }
}

/// Bytes that make a new id every time.
fn random() -> Box<dyn FnMut() -> [u8; 24] + Send + Sync> {
    let mut drawn = 0_u32;
    Box::new(move || {
        drawn += 1;
        let mut rest = drawn;
        [0; 24].map(|_: u8| {
            let digit = rest % 32;
            rest /= 32;
            u8::try_from(digit).unwrap()
        })
    })
}

#[test]
fn turns_with_a_clients_tools() {
    for stream_arguments in [false, true] {
        for (about, replies) in REPLIES {
            let work = |size| play(Turn::new(request(), settings(stream_arguments), random()), replies(size));
            assert!(is_linear(SIZE, &work), "{about}");
        }
    }
}

#[test]
fn turns_of_a_character() {
    let rules = || CharacterRules { client_tools: vec!["f".to_owned()], ..CharacterRules::default() };
    for (about, replies) in REPLIES {
        let work = |size| play(Turn::for_character(request(), settings(false), rules(), random()), replies(size));
        assert!(is_linear(SIZE, &work), "{about}");
    }
}
