//! Calls whose arguments are passed on as they grow, and which the token limit cuts off: on both wires, streamed and whole.

use serde_json::{Value, json};

use super::reply_cases::{Case, case, object, usage};
use crate::contract::{CallRules, SchemaLimits, ToolSet};
use crate::model::{CallFragment, CallId, Delta, Finish};
use crate::turn::{Action, Ending, Event, Input, Turn, TurnRequest, TurnSettings};
use crate::wire::ReplyEnd;
use crate::wire::chat::{CallForm, Completion, Stamp};

/// Plays a reply that is cut off behind these arguments; what goes out, and how it ends.
fn play(arguments: &[&str]) -> (Vec<Event>, Ending) {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]);
    let tools = ToolSet::compile(&tools, SchemaLimits::default()).unwrap().into();
    let request = TurnRequest { tools, rules: CallRules::default(), ..TurnRequest::default() };
    let mut drawn = 0;
    let random = Box::new(move || {
        drawn += 1;
        [drawn; 24]
    });
    let mut turn = Turn::new(request, TurnSettings { stream_arguments: true, ..TurnSettings::default() }, random);
    let mut actions = Vec::new();
    for (number, arguments) in arguments.iter().enumerate() {
        let (index, name) = (u64::try_from(number).ok(), Some("f".to_owned()));
        let fragment =
            CallFragment { index, name, arguments: Some((*arguments).to_owned()), ..CallFragment::default() };
        turn.step(Input::Delta(Delta::Call(fragment)), &mut actions);
    }
    turn.step(Input::Delta(Delta::Finish(Finish::Length)), &mut actions);
    turn.step(Input::ReplyEnded, &mut actions);
    let (mut events, mut ending) = (Vec::new(), None);
    for action in actions {
        match action {
            Action::Emit(event) => events.push(event),
            Action::Finish(end) => ending = Some(end),
            other => panic!("{other:?}"),
        }
    }
    (events, ending.unwrap())
}

#[test]
fn a_call_that_grew_until_the_limit_is_told_as_cut_off() {
    let table = [
        (vec!["{\"n\":"], Finish::Length, vec!["incomplete"], ("length", 0)),
        (vec!["{\"n\":1}", "{\"n\":"], Finish::Length, vec!["completed", "incomplete"], ("tool_calls", 1)),
        (vec!["{\"n\":1}", ""], Finish::ToolCalls, vec!["completed"], ("tool_calls", 1)),
        (vec!["{\"n\":1}"], Finish::ToolCalls, vec!["completed"], ("tool_calls", 1)),
    ];
    for (arguments, finish, statuses, (word, calls)) in table {
        let (events, ending) = play(&arguments);
        let Ending::Complete { finish: ended, .. } = ending else { panic!("{arguments:?}: {ending:?}") };
        assert_eq!(ended, finish, "{arguments:?}");

        let mut response = object(&Case { request: json!({}), ..case("live", vec![], &[]) });
        events.iter().cloned().for_each(|event| response.event(event));
        response.finish(&ReplyEnd { finish, usage: &usage(), completed_at: 9 });
        let response: Value = serde_json::from_str(response.to_text().get()).unwrap();
        let items = response["output"].as_array().unwrap();
        assert_eq!(items.iter().map(|item| &item["status"]).collect::<Vec<_>>(), statuses, "{arguments:?}");
        let cut = finish == Finish::Length;
        assert_eq!(response["status"], if cut { "incomplete" } else { "completed" }, "{arguments:?}");
        assert_eq!(response["incomplete_details"]["reason"] == "max_output_tokens", cut, "{arguments:?}");

        let mut completion = Completion::default();
        events.into_iter().for_each(|event| completion.event(event));
        let stamp = Stamp { id: "chatcmpl-1".to_owned(), created: 1, model: "m".to_owned(), form: CallForm::Tools };
        let body: Value = serde_json::from_str(&completion.finish(&stamp, finish, &usage())).unwrap();
        let told = body["choices"][0]["message"]["tool_calls"].as_array().map_or(0, Vec::len);
        assert_eq!((&body["choices"][0]["finish_reason"], told), (&word.into(), calls), "{arguments:?}");
    }
}

/// A custom tool takes plain text, and its calls have no status: half of one must not look like a whole one.
#[test]
fn half_a_call_of_a_custom_tool_has_no_item() {
    let request = json!({"tools": [{"type": "custom", "name": "f"}]});
    let events = |arguments: &str| {
        let id = CallId::from_random([7; 24]);
        [
            Event::CallBegins { id, name: "f".to_owned(), other: serde_json::Map::new() },
            Event::CallGrows(arguments.to_owned()),
        ]
    };
    let table = [
        ("{\"input\": \"ab", Finish::Length, vec![]),
        ("{\"input\": \"ab\"}", Finish::ToolCalls, vec![("custom_tool_call", "ab")]),
    ];
    for (arguments, finish, expected) in table {
        let mut response = object(&Case { request: request.clone(), ..case("live", vec![], &[]) });
        events(arguments).into_iter().for_each(|event| response.event(event));
        response.finish(&ReplyEnd { finish, usage: &usage(), completed_at: 9 });
        let response: Value = serde_json::from_str(response.to_text().get()).unwrap();
        let items = response["output"].as_array().unwrap().iter();
        let told: Vec<_> =
            items.map(|item| (item["type"].as_str().unwrap(), item["input"].as_str().unwrap())).collect();
        assert_eq!(told, expected, "{arguments}");
    }
}
