//! Streams and whole objects from the same events: they must agree with each other, and with what a client makes of them.

use serde_json::{Map, Value, json};

use super::super::{Framing, ResponseWriter, ResponsesRequest};
use super::chat_json;
use super::reply_cases::{Case, End, call_id, case, cases, folded, object, stream, text, usage};
use crate::contract::{Report, ToolCache};
use crate::model::{CallFragment, Delta, Finish, Usage};
use crate::turn::{Action, Ending, Event, Input, Turn, TurnSettings};
use crate::wire::{ReplyEnd, ReplyWriter as _};

/// The events of a server-sent stream; the name before each must be the one inside.
fn events(stream: &str) -> Vec<Value> {
    let stream = stream.strip_suffix("data: [DONE]\n\n").expect("the end of every stream");
    let blocks = stream.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':'));
    blocks
        .map(|block| {
            let (name, data) = block.split_once("\ndata: ").unwrap();
            let event: Value = serde_json::from_str(data).unwrap();
            assert_eq!(name.strip_prefix("event: "), event.get("type").and_then(Value::as_str));
            event
        })
        .collect()
}

fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    value.pointer(path).unwrap_or_else(|| panic!("{path} of {value}"))
}

fn kind(value: &Value) -> &str {
    at(value, "/type").as_str().unwrap()
}

#[test]
fn folded_equals_streamed() {
    for case in cases() {
        let events = events(&stream(&case, Framing::ServerSent));
        let last = at(events.last().unwrap(), "/response");
        assert_eq!(*last, folded(&case), "{}", case.name);
        let kinds: Vec<&str> = at(last, "/output").as_array().unwrap().iter().map(kind).collect();
        assert_eq!(kinds, case.items, "{}", case.name);
    }
}

#[test]
fn events_are_numbered_without_gaps_and_framed_either_way() {
    for case in cases() {
        let events = events(&stream(&case, Framing::ServerSent));
        let numbers: Vec<u64> = events.iter().map(|event| at(event, "/sequence_number").as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..u64::try_from(events.len()).unwrap()).collect::<Vec<_>>(), "{}", case.name);
        let lines = stream(&case, Framing::Lines);
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // The last event is the only end on a WebSocket: there is no error before it.
        let mut expected: Vec<Value> = events.iter().filter(|event| kind(event) != "error").cloned().collect();
        for (number, event) in expected.iter_mut().enumerate() {
            event["sequence_number"] = json!(number);
        }
        assert_eq!(lines, expected, "{}", case.name);
        assert_eq!((kind(&events[0]), kind(&events[1])), ("response.created", "response.in_progress"));
    }
}

/// A client that believes only deltas: it puts the output together and must get what the last event says.
#[derive(Default)]
struct Client {
    items: Vec<Value>,
    done: usize,
}

impl Client {
    fn take(&mut self, event: &Value) {
        let Some(index) = event.get("output_index").and_then(Value::as_u64) else { return };
        let index = usize::try_from(index).unwrap();
        if kind(event) == "response.output_item.added" {
            assert_eq!(index, self.items.len());
            return self.items.push(at(event, "/item").clone());
        }
        let item = &mut self.items[index];
        let id = event.get("item_id").unwrap_or_else(|| at(event, "/item/id"));
        assert_eq!(at(item, "/id"), id);
        match kind(event) {
            "response.output_item.done" => {
                self.done += 1;
                assert_eq!(said(item), said(at(event, "/item")), "{event}");
                *item = at(event, "/item").clone();
            }
            name if name.ends_with("part.added") => {
                let list = if name.contains("summary") { "summary" } else { "content" };
                item[list].as_array_mut().unwrap().push(at(event, "/part").clone());
            }
            name if name.ends_with(".delta") => grow(item, event),
            name if name.ends_with("part.done") => assert_eq!(bare(part(item, event)), bare(at(event, "/part"))),
            name if name.ends_with(".done") => {
                let whole =
                    ["text", "refusal", "arguments", "input"].into_iter().find_map(|key| event.get(key)).unwrap();
                assert_eq!(text_of(item, event), whole, "{event}");
            }
            _ => {}
        }
    }
}

/// What of an item came by deltas; results and statuses come with its end.
fn said(item: &Value) -> Map<String, Value> {
    let mut item = bare(item).as_object().unwrap().clone();
    item.retain(|key, _| !matches!(key.as_str(), "status" | "output" | "error"));
    item
}

/// Deltas tell the probabilities of tokens without their bytes.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.iter().filter(|(key, _)| *key != "bytes").map(|(key, value)| (key.clone(), bare(value))).collect()
        }
        Value::Array(list) => list.iter().map(bare).collect(),
        other => other.clone(),
    }
}

fn part<'a>(item: &'a Value, event: &Value) -> &'a Value {
    let (list, index) = match event.get("summary_index") {
        Some(index) => ("summary", index),
        None => ("content", at(event, "/content_index")),
    };
    at(item, &format!("/{list}/{index}"))
}

fn text_of<'a>(item: &'a Value, event: &Value) -> &'a Value {
    if let Some(key) = call_key(event) {
        return at(item, &format!("/{key}"));
    }
    let part = part(item, event);
    part.get("text").or_else(|| part.get("refusal")).unwrap()
}

/// Where a call holds what an event adds to it.
fn call_key(event: &Value) -> Option<&'static str> {
    let name = kind(event);
    [("arguments", "arguments"), ("custom_tool_call_input", "input")]
        .into_iter()
        .find(|(part, _)| name.contains(part))
        .map(|(_, key)| key)
}

fn grow(item: &mut Value, event: &Value) {
    let text = format!("{}{}", text_of(item, event).as_str().unwrap(), at(event, "/delta").as_str().unwrap());
    if let Some(key) = call_key(event) {
        item[key] = text.into();
        return;
    }
    let (list, index) = match event.get("summary_index") {
        Some(index) => ("summary", index),
        None => ("content", at(event, "/content_index")),
    };
    let part = &mut item[list][usize::try_from(index.as_u64().unwrap()).unwrap()];
    let key = if part.get("refusal").is_some() { "refusal" } else { "text" };
    part[key] = text.into();
    if let Some(more) = event.get("logprobs").and_then(Value::as_array) {
        part["logprobs"].as_array_mut().unwrap().extend(more.iter().cloned());
    }
}

#[test]
fn deltas_add_up_to_the_object_and_ids_never_change() {
    for case in cases() {
        let mut client = Client::default();
        let events = events(&stream(&case, Framing::ServerSent));
        events.iter().for_each(|event| client.take(event));
        if !matches!(case.end, End::Fail) {
            assert_eq!(client.done, client.items.len(), "{}", case.name);
            assert_eq!(Value::Array(client.items), *at(events.last().unwrap(), "/response/output"), "{}", case.name);
        }
    }
}

#[test]
fn each_end_has_its_event_and_status() {
    let table = [
        (End::Finish(Finish::Stop), "response.completed", "completed", Value::Null),
        (End::Finish(Finish::ToolCalls), "response.completed", "completed", Value::Null),
        (End::Finish(Finish::Length), "response.incomplete", "incomplete", json!({"reason": "max_output_tokens"})),
        (End::Finish(Finish::ContentFilter), "response.incomplete", "incomplete", json!({"reason": "content_filter"})),
        (End::Fail, "response.failed", "failed", Value::Null),
    ];
    for (end, name, status, details) in table {
        let case = Case { end, ..case(name, vec![text("Hel")], &["message"]) };
        let events = events(&stream(&case, Framing::ServerSent));
        let last = events.last().unwrap();
        assert_eq!((kind(last), at(last, "/response/status").as_str()), (name, Some(status)));
        assert_eq!(*at(last, "/response/incomplete_details"), details);
        let item_status = if status == "failed" { "in_progress" } else { status };
        assert_eq!(*at(last, "/response/output/0/status"), item_status);
        assert_eq!(at(last, "/response/usage").is_null(), status == "failed");
    }
}

#[test]
fn a_failure_is_told_as_an_error_and_as_an_object() {
    let case = Case { end: End::Fail, ..case("failed", vec![text("Hel")], &["message"]) };
    let events = events(&stream(&case, Framing::ServerSent));
    let error = &events[events.len() - 2];
    assert_eq!((kind(error), at(error, "/code").as_str()), ("error", Some("invalid_tool_arguments")));
    assert_eq!(at(error, "/error/message"), at(error, "/message"));
    let object = at(&events[events.len() - 1], "/response/error");
    let message = "the model broke its promise (invalid_tool_arguments)";
    assert_eq!(*object, json!({"code": "server_error", "message": message}));
}

#[test]
fn calls_carry_the_clients_own_names_and_results_and_stand_apart_from_text() {
    let by_name = |name: &str| folded(&cases().into_iter().find(|case| case.name == name).unwrap());
    let call = by_name("namespace");
    assert_eq!(*at(&call, "/output/0/namespace"), "files");
    assert_eq!(*at(&call, "/output/0/name"), "read");
    assert_eq!(at(&call, "/tools").as_array().unwrap().len(), 2);
    assert_eq!(*at(&by_name("blank text around a call"), "/output/1/content/0/text"), "after");
    let ran = by_name("tools run here");
    let error = json!({"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "five"}]});
    assert_eq!((at(&ran, "/output/1/error"), at(&ran, "/output/1/output")), (&error, &Value::Null));
    assert_eq!((at(&ran, "/output/2/error"), at(&ran, "/output/2/output")), (&Value::Null, &json!("five")));
    assert_eq!(*at(&ran, "/output/2/id"), format!("mcp_{}", "b".repeat(24)));
    assert_eq!(*at(&ran, "/output/2/server_label"), "narrator");
    assert_eq!(*at(&ran, "/output/3/content/0/text"), "Five!");
}

#[test]
fn usage_has_all_its_counts() {
    let expected = json!({
        "input_tokens": 5, "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 0},
        "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 8,
    });
    assert_eq!(*at(&folded(&case("usage", vec![], &[])), "/usage"), expected);
}

#[test]
fn the_tier_is_what_the_server_says_at_the_end() {
    let case = case("tier", vec![text("Hel")], &["message"]);
    let mut writer = ResponseWriter::new(object(&case), Some(Framing::Lines));
    let (mut out, told) = (String::new(), Usage { service_tier: Some("flex".to_owned()), ..usage() });
    writer.start(&mut out);
    writer.complete(ReplyEnd { finish: Finish::Stop, usage: &told, completed_at: 9 }, &mut out);
    writer.finish(&Report::default(), &mut out);
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let tiers: Vec<Value> = lines.filter_map(|event| event.pointer("/response/service_tier").cloned()).collect();
    assert_eq!(tiers, ["default", "default", "flex"]);
}

#[test]
fn the_output_of_one_turn_is_the_history_of_the_next() {
    let case = cases().into_iter().find(|case| case.name == "both kinds of calls").unwrap();
    let items = at(&folded(&case), "/output").as_array().unwrap().clone();
    let answer = json!({"type": "function_call_output", "call_id": call_id('b').as_str(), "output": "six"});
    let body = json!({"model": "m", "input": [answer], "previous_response_id": "resp_1"});
    let request = ResponsesRequest::read(body.to_string().into_bytes()).unwrap();
    let body = chat_json(&request, &items).unwrap();
    let roles: Vec<&str> = at(&body, "/messages")
        .as_array()
        .unwrap()
        .iter()
        .map(|message| at(message, "/role").as_str().unwrap())
        .collect();
    assert_eq!(roles, ["assistant", "tool", "tool"]);
    assert_eq!(*at(&body, "/messages/0/tool_calls/0/id"), call_id('a').as_str());
    assert_eq!(*at(&body, "/messages/1/content"), "five");
}

#[test]
fn a_turn_of_the_engine_goes_in_and_out_over_this_wire() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let inside = json!([{"type": "function", "name": "read", "parameters": schema}]);
    let tools = json!([{"type": "web_search"}, {"type": "namespace", "name": "files", "tools": inside}]);
    let case = Case { request: json!({"tools": tools}), ..case("engine", vec![], &[]) };
    let body = json!({"model": "m", "input": "hi", "tools": tools});
    let request = ResponsesRequest::read(body.to_string().into_bytes()).unwrap();
    let (_, turn) = request.chat_request(&[], &ToolCache::default()).unwrap();
    let mut turn = Turn::new(turn, TurnSettings::default(), Box::new(|| [7; 24]));
    let (name, arguments) = (Some("files__read".to_owned()), Some("{'n': '5',}".to_owned()));
    let fragment = CallFragment { name, arguments, ..CallFragment::default() };
    let inputs = [Input::Start, Input::Delta(Delta::Call(fragment)), Input::ReplyEnded];
    let mut actions = Vec::new();
    inputs.into_iter().for_each(|input| turn.step(input, &mut actions));
    let mut object = object(&case);
    for action in actions {
        match action {
            Action::Emit(event) => object.event(event),
            Action::Finish(Ending::Complete { finish, .. }) => {
                object.finish(&ReplyEnd { finish, usage: &usage(), completed_at: 9 });
            }
            Action::CallModel(_) => {}
            other => panic!("{other:?}"),
        }
    }
    let object: Value = serde_json::from_str(object.to_text().get()).unwrap();
    assert_eq!(*at(&object, "/status"), "completed");
    let call = at(&object, "/output/0");
    let own = ["/type", "/namespace", "/name", "/arguments"].map(|path| at(call, path).as_str().unwrap());
    assert_eq!(own, ["function_call", "files", "read", "{\"n\":5}"]);
}

#[test]
fn calls_of_a_response_that_was_cut_short_need_no_answer() {
    let case = cases().into_iter().find(|case| case.name == "live call").unwrap();
    let mut object = object(&case);
    case.events.into_iter().for_each(|event| object.event(event));
    object.event(Event::Text("and".to_owned()));
    object.cancel();
    let object: Value = serde_json::from_str(object.to_text().get()).unwrap();
    assert_eq!(
        (at(&object, "/output/0/status"), at(&object, "/output/0/abandoned")),
        (&json!("completed"), &json!(true))
    );
    assert_eq!(*at(&object, "/output/1/status"), "in_progress", "what was cut ends in no way");
    let body = json!({"model": "m", "input": "Go on.", "previous_response_id": "resp_1"});
    let request = ResponsesRequest::read(body.to_string().into_bytes()).unwrap();
    let next = chat_json(&request, at(&object, "/output").as_array().unwrap()).unwrap();
    assert!(!next.to_string().contains("tool_calls"), "{next}");
}
