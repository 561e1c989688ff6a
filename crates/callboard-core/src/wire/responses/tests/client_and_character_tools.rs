//! Turns of a character with functions of the client beside its own tools: played by the engine, written as a response, and
//! read again as the history of the next request.

use serde_json::{Value, json};

use super::super::ResponsesRequest;
use super::chat_json;
use super::reply_cases::{Case, End, case, folded};
use crate::contract::{Call, ToolCache};
use crate::model::{CallFragment, Delta, Finish};
use crate::turn::{
    Action, CharacterRules, Ending, Event, Input, ToolOutcome, ToolResult, Turn, TurnRequest, TurnSettings,
};
use crate::wire::chat::CharacterPart;

/// One reply: thoughts, words, and calls with their arguments.
type Reply = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

fn schema() -> Value {
    json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
}

/// What the client sends: a function in a namespace and one without.
fn request() -> Value {
    let function = |name: &str| json!({"type": "function", "name": name, "parameters": schema()});
    let namespace = json!({"type": "namespace", "name": "files", "tools": [function("read")]});
    json!({"tools": [namespace, {"type": "web_search"}, function("show")]})
}

fn read(extra: &Value) -> ResponsesRequest {
    let mut body = json!({"model": "narrator", "input": "go"});
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    ResponsesRequest::read(body.to_string().into_bytes()).unwrap()
}

/// The chat request of a character: its own tool `roll` before those of the client.
fn turn_request(request: &ResponsesRequest, earlier: &[Value]) -> (Value, TurnRequest) {
    let own = json!({"type": "function", "function": {"name": "roll", "parameters": schema()}});
    let part = CharacterPart { id: "narrator", model: "m", prompt: "", tools: &[own] };
    let (chat, turn) = request.character_request(earlier, &part, &ToolCache::default()).unwrap();
    (serde_json::from_str(chat.messages_text()).unwrap(), turn)
}

/// Rolls of more than nine fail.
fn ran(call: &Call) -> ToolResult {
    let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap();
    let fine = arguments["n"].as_u64().is_some_and(|n| n <= 9);
    let outcome = if fine { ToolOutcome::Success } else { ToolOutcome::Execution };
    ToolResult { id: call.id.clone(), text: format!("rolled {}", arguments["n"]), outcome, ran: None, remark: None }
}

fn deltas(reply: Reply) -> Vec<Delta> {
    let call = |(number, (name, arguments)): (usize, &(&str, &str))| {
        let (name, arguments) = (Some((*name).to_owned()), Some((*arguments).to_owned()));
        Delta::Call(CallFragment { index: u64::try_from(number).ok(), name, arguments, ..CallFragment::default() })
    };
    let (thought, text, calls) = reply;
    let thought = (!thought.is_empty()).then(|| Delta::Reasoning(thought.to_owned()));
    let text = (!text.is_empty()).then(|| Delta::Text(text.to_owned()));
    thought.into_iter().chain(text).chain(calls.iter().enumerate().map(call)).collect()
}

/// Plays a turn; what the client hears, and how it ends.
fn play(turn: TurnRequest, rules: CharacterRules, replies: &[Reply]) -> (Vec<Event>, Finish) {
    let mut drawn = 0;
    let random = Box::new(move || {
        drawn += 1;
        [drawn - 1; 24]
    });
    let mut turn = Turn::for_character(turn, TurnSettings::default(), rules, random);
    let (mut events, mut replies) = (Vec::new(), replies.iter());
    let mut inputs = vec![Input::Start];
    loop {
        let mut actions = Vec::new();
        inputs.drain(..).for_each(|input| turn.step(input, &mut actions));
        for action in actions {
            match action {
                Action::Emit(event) => events.push(event),
                Action::CallModel(_) => {
                    inputs.extend(deltas(*replies.next().expect("a reply")).into_iter().map(Input::Delta));
                    inputs.push(Input::ReplyEnded);
                }
                Action::RunTools(calls) => {
                    inputs.push(Input::ToolsDone { results: calls.iter().map(ran).collect(), out_of_time: false });
                }
                Action::Finish(Ending::Complete { finish, .. }) => return (events, finish),
                Action::Finish(failed) => panic!("{failed:?}"),
            }
        }
    }
}

fn mixed(name: &'static str, replies: &[Reply], items: &'static [&'static str]) -> Case {
    let request = request();
    let client_tools = read(&request).client_tools();
    let (_, turn) = turn_request(&read(&request), &[]);
    let rules = CharacterRules { client_tools, most_calls: Some(3), ..CharacterRules::default() };
    let (events, finish) = play(turn, rules, replies);
    Case { request, end: End::Finish(finish), ..case(name, events, items) }
}

const FIVE: &str = "{\"n\": 5}";

pub(super) fn cases() -> Vec<Case> {
    vec![
        mixed(
            "mixed in one reply",
            &[("", "Go.", &[("files__read", FIVE), ("roll", FIVE)])],
            &["message", "mcp_call", "function_call"],
        ),
        mixed(
            "mixed with broken calls",
            &[
                ("", "", &[("show", "{}"), ("roll", FIVE), ("fly", FIVE), ("show", FIVE)]),
                ("", "", &[("show", "{\"n\": 6}")]),
            ],
            &["mcp_call", "function_call", "function_call"],
        ),
        mixed(
            "mixed over rounds",
            &[
                ("hm", "I roll.", &[("roll", "{\"n\": 10}"), ("roll", "{}")]),
                ("so", "", &[("roll", FIVE)]),
                ("", "Now you.", &[("show", FIVE), ("roll", FIVE), ("roll", FIVE), ("files__read", FIVE)]),
            ],
            &[
                "reasoning",
                "message",
                "mcp_call",
                "reasoning",
                "mcp_call",
                "message",
                "mcp_call",
                "function_call",
                "function_call",
            ],
        ),
    ]
}

/// A message of a history in short: the role, then the names of calls with the first letter of their ids, or what is said.
fn short(message: &Value) -> String {
    let text = message["content"].as_str().unwrap_or_default();
    let id = |value: &Value| value.as_str().unwrap_or_default().chars().nth(5).unwrap_or('?');
    match message["role"].as_str().unwrap_or_default() {
        "assistant" => {
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let calls: Vec<String> = calls
                .map(|call| format!("{} {}", call["function"]["name"].as_str().unwrap_or_default(), id(&call["id"])))
                .collect();
            format!("assistant {text}[{}]", calls.join(", "))
        }
        "tool" => format!("tool {} {text}", id(&message["tool_call_id"])),
        role => format!("{role} {text}"),
    }
}

#[test]
fn a_turn_with_both_kinds_of_calls_is_the_history_of_the_next() {
    let table: [(&str, &[&str]); 3] = [
        ("mixed in one reply", &["user go", "assistant Go.[roll B, files__read A]", "tool B rolled 5", "tool A done"]),
        (
            "mixed with broken calls",
            &["user go", "assistant [roll B, show E, show D]", "tool B rolled 5", "tool E done", "tool D done"],
        ),
        (
            "mixed over rounds",
            &[
                "user go",
                "assistant I roll.[roll A]",
                "tool A rolled 10",
                "assistant [roll C]",
                "tool C rolled 5",
                "assistant Now you.[roll E, show D, files__read G]",
                "tool E rolled 5",
                "tool D done",
                "tool G done",
            ],
        ),
    ];
    for (name, expected) in table {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let first = read(&case.request).input_items(&mut (Box::new(|prefix| format!("{prefix}_first")) as _));
        let output = folded(&case)["output"].as_array().unwrap().clone();
        let earlier = [first, output].concat();
        let asked = earlier.iter().filter(|item| item["type"] == "function_call");
        let answers: Vec<Value> = asked
            .map(|call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "done"}))
            .collect();
        let mut next = case.request.clone();
        (next["input"], next["previous_response_id"]) = (answers.into(), "resp_1".into());
        let (messages, turn) = turn_request(&read(&next), &earlier);
        let told: Vec<String> = messages.as_array().unwrap().iter().map(short).collect();
        assert_eq!(told, expected, "{name}");
        let calls = expected.iter().filter(|line| line.starts_with("tool")).count();
        assert_eq!(turn.used_ids.len(), calls, "{name}: ids of the past are not given again");
    }
}

#[test]
fn what_a_failed_response_left_behind_can_be_continued() {
    let call = |status: &str| json!({"type": "function_call", "id": "fc_1", "status": status, "call_id": "call_a", "name": "show", "arguments": "{"});
    let tool = json!({"type": "mcp_call", "id": format!("mcp_{}", "b".repeat(24)), "status": "incomplete", "server_label": "narrator", "name": "roll",
        "arguments": "{}", "output": null, "error": null, "approval_request_id": null});
    let text = json!([{"type": "output_text", "text": "Hel", "annotations": [], "logprobs": []}]);
    let half = json!({"type": "message", "id": "msg_1", "status": "incomplete", "role": "assistant", "content": text});
    let thought = json!({"type": "reasoning", "id": "rs_1", "status": "incomplete", "summary": [], "content": []});
    let answer = json!({"type": "function_call_output", "call_id": "call_a", "output": "done"});
    let again = json!({"role": "user", "content": "again"});
    let table: [(Vec<Value>, Vec<Value>, &[&str]); 4] = [
        (vec![half.clone(), call("incomplete")], vec![again.clone()], &["assistant Hel[]", "user again"]),
        (
            vec![thought, half, tool.clone()],
            vec![again.clone()],
            &["assistant Hel[roll b]", "tool b Error: the turn ended before this tool gave a result", "user again"],
        ),
        (
            vec![tool, call("incomplete")],
            vec![answer.clone()],
            &[
                "assistant [roll b, show a]",
                "tool b Error: the turn ended before this tool gave a result",
                "tool a done",
            ],
        ),
        (vec![call("completed")], vec![again, answer], &["assistant [show a]", "tool a done", "user again"]),
    ];
    for (earlier, input, expected) in table {
        let request = read(&json!({"input": input}));
        let body = chat_json(&request, &earlier).unwrap();
        let told: Vec<String> = body["messages"].as_array().unwrap().iter().map(short).collect();
        assert_eq!(told, expected);
    }
}
