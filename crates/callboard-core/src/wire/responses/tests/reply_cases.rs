//! Replies of every kind, as the events of a turn, and the two ways to write them.

use serde_json::{Value, json};

use super::super::{Framing, NewId, ResponseObject, ResponseStamp, ResponseWriter, ResponsesRequest};
use super::client_and_character_tools;
use crate::contract::{
    Call, CallRules, CheckBudget, RawCall, Report, SchemaLimits, ToolCache, ToolSet, check_arguments,
};
use crate::model::{BadRequest, CallId, Finish, Usage};
use crate::turn::{Event, ModelCall, ToolOutcome, ToolResult};
use crate::wire::{ApiError, ReplyEnd, ReplyWriter as _};

/// One reply: what happens in the turn, how it ends, and the kinds of its items.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) request: Value,
    pub(super) events: Vec<Event>,
    pub(super) end: End,
    pub(super) items: &'static [&'static str],
}

pub(super) enum End {
    Finish(Finish),
    Fail,
    /// All was said, and then it could not be stored.
    NotKept(Finish),
}

pub(super) fn call_id(letter: char) -> CallId {
    CallId::accept(&format!("call_{}", letter.to_string().repeat(24))).unwrap()
}

fn call(letter: char, name: &str) -> Call {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tools = json!([{"type": "function", "function": {"name": name, "parameters": schema}}]);
    let tools = ToolSet::compile(&tools, SchemaLimits::default()).unwrap();
    let raw = RawCall { name: name.to_owned(), arguments: "{\"n\": 5}".to_owned(), ..RawCall::default() };
    let checked = check_arguments(&raw, &tools, &CallRules::default(), &mut CheckBudget::new(1024)).unwrap();
    let arguments = checked.into_iter().next().unwrap().arguments;
    Call { id: call_id(letter), name: name.to_owned(), arguments, other: serde_json::Map::new() }
}

fn result(letter: char, outcome: ToolOutcome) -> Event {
    Event::RanTool(ToolResult { id: call_id(letter), text: "five".to_owned(), outcome, ran: None, remark: None })
}

pub(super) fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

fn thought(text: &str) -> Event {
    Event::Reasoning(text.to_owned())
}

pub(super) fn case(name: &'static str, events: Vec<Event>, items: &'static [&'static str]) -> Case {
    Case { name, request: json!({}), events, end: End::Finish(Finish::Stop), items }
}

fn spoken_cases() -> Vec<Case> {
    let logprobs = json!({"content": [{"token": "é", "logprob": -0.5, "bytes": null, "top_logprobs": []}]});
    vec![
        case("text", vec![text("Hel"), text("lo "), text("")], &["message"]),
        case("nothing", vec![], &["message"]),
        case("blank text", vec![text("\n"), text(" ")], &["message"]),
        case("blank text before a call", vec![text("\n\n"), Event::Call(call('a', "f"))], &["function_call"]),
        case("thinking", vec![thought("hm"), thought("m"), text("\n\nyes")], &["reasoning", "message"]),
        Case {
            request: json!({"reasoning": {"effort": "low", "summary": "auto"}}),
            ..case("thinking as summary", vec![thought("hm"), text("yes")], &["reasoning", "message"])
        },
        case("refusal", vec![Event::Refusal("I ".into()), Event::Refusal("won't".into())], &["message"]),
        case("text and refusal", vec![text("a"), Event::Refusal("b".into()), text("c")], &["message"]),
        case("probabilities", vec![text("é"), Event::Logprobs(logprobs.clone()), text("!")], &["message"]),
        case("probabilities first", vec![Event::Logprobs(logprobs), text("é")], &["message"]),
        Case { end: End::Finish(Finish::Length), ..case("cut off", vec![text("Hel")], &["message"]) },
        Case { end: End::Finish(Finish::ContentFilter), ..case("withheld", vec![], &[]) },
        Case { end: End::Fail, ..case("failed in text", vec![text("Hel")], &["message"]) },
        Case { end: End::NotKept(Finish::Stop), ..case("not kept", vec![text("Hel")], &["message"]) },
        Case { end: End::NotKept(Finish::Length), ..case("cut off and not kept", vec![text("Hel")], &["message"]) },
        Case { request: json!({"generate": false}), ..case("not to be answered", vec![], &[]) },
    ]
}

fn calling_cases() -> Vec<Case> {
    let inside = json!([{"type": "function", "name": "read", "parameters": {"type": "object", "properties": {}}}]);
    let namespace = json!({"type": "namespace", "name": "files", "description": "d", "tools": inside});
    let begins = || Event::CallBegins { id: call_id('a'), name: "f".to_owned(), other: serde_json::Map::new() };
    let grows = |text: &str| Event::CallGrows(text.to_owned());
    vec![
        Case {
            end: End::Finish(Finish::ToolCalls),
            ..case(
                "text and calls",
                vec![text("Look: "), Event::Call(call('a', "f")), Event::Call(call('b', "f"))],
                &["message", "function_call", "function_call"],
            )
        },
        Case {
            request: json!({"tools": [namespace, {"type": "web_search"}]}),
            ..case("namespace", vec![Event::Call(call('a', "files__read"))], &["function_call"])
        },
        case(
            "blank text around a call",
            vec![text("\n"), Event::Call(call('a', "f")), text("after")],
            &["function_call", "message"],
        ),
        case("live call", vec![begins(), grows("{\"n\""), grows(": 5}")], &["function_call"]),
        Case {
            request: json!({"tools": [{"type": "custom", "name": "f", "format": {"type": "text"}}]}),
            ..case(
                "custom call",
                vec![begins(), grows("{\"input\": \"two\\n"), grows("lines\"}")],
                &["custom_tool_call"],
            )
        },
        Case {
            end: End::Fail,
            ..case("failed in a live call", vec![text("a"), begins(), grows("{")], &["message", "function_call"])
        },
        case(
            "tools run here",
            vec![
                text("I roll."),
                Event::RunsTool(call('a', "roll")),
                Event::RunsTool(call('b', "roll")),
                result('b', ToolOutcome::Success),
                result('a', ToolOutcome::Timeout),
                result('c', ToolOutcome::UnknownTool),
                text("\n\nFive"),
                text("!"),
            ],
            &["message", "mcp_call", "mcp_call", "message"],
        ),
        Case {
            end: End::Fail,
            ..case("failed while a tool runs", vec![Event::RunsTool(call('a', "roll"))], &["mcp_call"])
        },
        case(
            "both kinds of calls",
            vec![Event::RunsTool(call('a', "roll")), result('a', ToolOutcome::Success), Event::Call(call('b', "f"))],
            &["mcp_call", "function_call"],
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    spoken_cases().into_iter().chain(calling_cases()).chain(client_and_character_tools::cases()).collect()
}

fn new_ids() -> NewId {
    let mut number = 0;
    Box::new(move |prefix| {
        number += 1;
        format!("{prefix}_{number}")
    })
}

pub(super) fn object(case: &Case) -> ResponseObject {
    let mut body = json!({"model": "m", "input": "hi"});
    body.as_object_mut().unwrap().extend(case.request.as_object().unwrap().clone());
    let request = ResponsesRequest::read(body.to_string().into_bytes()).unwrap();
    let (server_label, new_id) = ("narrator".to_owned(), new_ids());
    let stamp = ResponseStamp { id: "resp_1".to_owned(), created_at: 7, conversation: None, server_label, new_id };
    ResponseObject::new(&request, stamp)
}

pub(super) fn usage() -> Usage {
    let details =
        json!({"prompt_tokens_details": {"cached_tokens": 2}, "completion_tokens_details": {"reasoning_tokens": 1}});
    let Value::Object(details) = details else { unreachable!() };
    Usage { prompt_tokens: 5, completion_tokens: 3, details, ..Usage::default() }
}

fn failure() -> ApiError {
    ApiError::new(502, "invalid_tool_arguments", "the model broke its promise")
}

pub(super) fn stream(case: &Case, framing: Framing) -> String {
    let mut writer = ResponseWriter::new(object(case), Some(framing));
    let mut out = String::new();
    writer.start(&mut out);
    for event in &case.events {
        writer.event(event.clone(), &mut out);
    }
    match case.end {
        End::Fail => writer.fail(&failure(), &Report::default(), &mut out),
        End::Finish(finish) => {
            writer.complete(ReplyEnd { finish, usage: &usage(), completed_at: 9 }, &mut out);
            writer.finish(&Report::default(), &mut out);
        }
        End::NotKept(finish) => {
            writer.complete(ReplyEnd { finish, usage: &usage(), completed_at: 9 }, &mut out);
            writer.fail(&failure(), &Report::default(), &mut out);
        }
    }
    out
}

pub(super) fn folded(case: &Case) -> Value {
    let mut object = object(case);
    for event in &case.events {
        object.event(event.clone());
    }
    match case.end {
        End::Fail => object.fail(&failure()),
        End::Finish(finish) => object.finish(&ReplyEnd { finish, usage: &usage(), completed_at: 9 }),
        End::NotKept(finish) => {
            object.finish(&ReplyEnd { finish, usage: &usage(), completed_at: 9 });
            object.fail(&failure());
        }
    }
    serde_json::from_str(object.to_text().get()).unwrap()
}

/// The chat request that goes to the model.
pub(in super::super) fn chat_json(request: &ResponsesRequest, earlier: &[Value]) -> Result<Value, BadRequest> {
    let (chat, _) = request.chat_request(earlier, &ToolCache::default())?;
    Ok(serde_json::from_slice(&chat.upstream_body(&ModelCall::default())).unwrap())
}
