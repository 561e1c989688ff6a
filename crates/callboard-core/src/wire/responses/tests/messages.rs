//! Items of every kind and order as chat messages.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::ResponsesRequest;
use super::super::chat_item::ChatItem;
use super::super::chat_messages::{ChatMessages, SEE_BELOW};
use super::super::tools::Tools;
use super::chat_json;
use crate::contract::ToolCache;
use crate::model::BadRequest;
use crate::wire::chat::ChatRequest;

fn messages(items: &Value) -> Result<Value, BadRequest> {
    let tools = Tools::default();
    let mut messages = ChatMessages::new(&tools, Some("be kind"));
    for (number, item) in items.as_array().unwrap().iter().enumerate() {
        let place = format!("input[{number}]");
        messages.push(&ChatItem::read(item, &place)?, &place)?;
    }
    let (list, facts) = messages.finish()?;
    let list = Value::Array(list);
    let body = json!({"model": "m", "messages": list}).to_string().into_bytes();
    let (chat, turn) = ChatRequest::read(body, &ToolCache::default()).unwrap();
    assert_eq!((facts.needs_healing, facts.ends_with_result), (chat.needs_healing, chat.continues));
    assert_eq!(BTreeSet::from_iter(facts.ids), BTreeSet::from_iter(turn.used_ids));
    Ok(list)
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"})
}

fn ran(letters: &str) -> Value {
    let id = format!("mcp_{letters}");
    json!({"type": "mcp_call", "id": id, "server_label": "c", "name": "f", "arguments": "{}", "output": id})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": id})
}

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

fn calls(content: &Value, ids: &[&str]) -> Value {
    let list: Vec<Value> = ids
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}))
        .collect();
    json!({"role": "assistant", "content": content, "tool_calls": list})
}

fn tool(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": id})
}

#[test]
fn items_become_messages_in_an_order_that_chat_servers_take() {
    let null = Value::Null;
    let image = json!({"type": "input_image", "image_url": "data:,x", "detail": "low"});
    let picture = json!({"type": "image_url", "image_url": {"url": "data:,x", "detail": "low"}});
    let table = [
        (json!([said("developer", "d")]), json!([said("system", "be kind\n\nd")])),
        (
            json!([said("developer", "d"), said("user", "u"), said("system", "later")]),
            json!([said("system", "be kind\n\nd"), said("user", "u"), said("system", "later")]),
        ),
        (
            json!([said("user", "u"), said("assistant", "t"), {"type": "reasoning", "id": "rs_1", "summary": []}, call("a"), call("b"), output("b"), output("a"), said("user", "v")]),
            json!([
                said("system", "be kind"),
                said("user", "u"),
                calls(&json!("t"), &["a", "b"]),
                tool("b"),
                tool("a"),
                said("user", "v")
            ]),
        ),
        (
            json!([call("a"), output("a"), call("b"), output("b")]),
            json!([said("system", "be kind"), calls(&null, &["a"]), tool("a"), calls(&null, &["b"]), tool("b")]),
        ),
        (
            json!([call("a"), said("user", "between"), call("b"), output("a"), output("b")]),
            json!([
                said("system", "be kind"),
                calls(&null, &["a", "b"]),
                tool("a"),
                tool("b"),
                said("user", "between")
            ]),
        ),
        (
            json!([ran("1"), call("call_1"), output("call_1")]),
            json!([said("system", "be kind"), calls(&null, &["mcp_1", "call_1"]), tool("mcp_1"), tool("call_1")]),
        ),
        (
            json!([call("a"), {"type": "mcp_call", "id": "mcp_1", "server_label": "c", "name": "f", "arguments": "{}", "output": "mcp_1"}, output("a")]),
            json!([said("system", "be kind"), calls(&null, &["a", "mcp_1"]), tool("mcp_1"), tool("a")]),
        ),
        (
            json!([
                said("user", "u"),
                said("assistant", "t"),
                ran("1"),
                call("a"),
                output("a"),
                said("assistant", "v")
            ]),
            json!([
                said("system", "be kind"),
                said("user", "u"),
                calls(&json!("t"), &["mcp_1", "a"]),
                tool("mcp_1"),
                tool("a"),
                said("assistant", "v")
            ]),
        ),
        (
            json!([
                ran("1"),
                call("a"),
                call("b"),
                ran("2"),
                output("b"),
                output("a"),
                ran("3"),
                call("c"),
                output("c")
            ]),
            json!([
                said("system", "be kind"),
                calls(&null, &["mcp_1", "a", "b", "mcp_2"]),
                tool("mcp_1"),
                tool("mcp_2"),
                tool("b"),
                tool("a"),
                calls(&null, &["mcp_3", "c"]),
                tool("mcp_3"),
                tool("c")
            ]),
        ),
        (
            json!([ran("1"), ran("2"), said("assistant", "t"), ran("3"), said("user", "u"), call("a"), output("a")]),
            json!([
                said("system", "be kind"),
                calls(&null, &["mcp_1"]),
                tool("mcp_1"),
                calls(&null, &["mcp_2"]),
                tool("mcp_2"),
                calls(&json!("t"), &["mcp_3"]),
                tool("mcp_3"),
                said("user", "u"),
                calls(&null, &["a"]),
                tool("a")
            ]),
        ),
        (
            json!([ran("1"), {"type": "reasoning", "id": "rs_1", "summary": []}, call("a"), output("a")]),
            json!([
                said("system", "be kind"),
                calls(&null, &["mcp_1"]),
                tool("mcp_1"),
                calls(&null, &["a"]),
                tool("a")
            ]),
        ),
        (
            json!([
                said("user", "u"),
                said("assistant", ""),
                said("assistant", "s"),
                said("assistant", ""),
                said("assistant", "t")
            ]),
            json!([said("system", "be kind"), said("user", "u"), said("assistant", "s\n\nt")]),
        ),
        (
            json!([call("a"), {"type": "function_call_output", "call_id": "a", "output": [image]}]),
            json!([
                said("system", "be kind"), calls(&null, &["a"]),
                {"role": "tool", "tool_call_id": "a", "content": SEE_BELOW}, {"role": "user", "content": [picture]}
            ]),
        ),
        (
            json!([{"role": "user", "content": [{"type": "input_text", "text": "u"}, image]}]),
            json!([said("system", "be kind"), {"role": "user", "content": [{"type": "text", "text": "u"}, picture]}]),
        ),
        (
            json!([said("user", "u"), {"role": "assistant", "content": [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}]}]),
            json!([said("system", "be kind"), said("user", "u"), said("assistant", "ab")]),
        ),
    ];
    for (items, expected) in table {
        assert_eq!(messages(&items), Ok(expected), "{items}");
    }
}

#[test]
fn outputs_answer_calls_once_and_calls_are_answered() {
    let table = [
        (json!([said("user", "u"), output("a")]), "input[1].call_id", "invalid_tool_call_id"),
        (json!([call("a"), output("a"), output("a")]), "input[2].call_id", "invalid_tool_call_id"),
        (json!([output("a"), call("a")]), "input[0].call_id", "invalid_tool_call_id"),
        (json!([call("a"), output("a"), call("a")]), "input[2]", "missing_tool_output"),
        (json!([call("a"), call("a"), output("a")]), "input[1].call_id", "duplicate_tool_call_id"),
        (json!([call("a"), call("b"), output("a"), said("user", "u")]), "input[1]", "missing_tool_output"),
        (json!([ran("1"), call("a"), said("user", "u")]), "input[1]", "missing_tool_output"),
        (json!([ran("1"), output("mcp_1")]), "input[1].call_id", "invalid_tool_call_id"),
        (json!([ran("1"), ran("1")]), "input[1].id", "duplicate_tool_call_id"),
        (json!([]), "input", "missing_required_field"),
        (json!([{"type": "reasoning", "summary": []}]), "input", "missing_required_field"),
    ];
    for (items, param, code) in table {
        let error = messages(&items).expect_err(&items.to_string());
        assert_eq!((error.param.as_deref(), error.code), (Some(param), code), "{items}");
    }
}

/// What comes next in a conversation.
#[derive(Debug, Clone, Copy)]
enum Step {
    User,
    Answer,
    Thought,
    Ran,
    Call,
    /// The output of an open call; which one, counted from the oldest.
    Output(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::User),
        Just(Step::Answer),
        Just(Step::Thought),
        Just(Step::Ran),
        Just(Step::Call),
        any::<prop::sample::Index>().prop_map(Step::Output),
    ]
}

/// A conversation in which every call gets its output at last.
fn conversation(steps: &[Step]) -> Vec<Value> {
    let (mut items, mut open) = (Vec::new(), Vec::new());
    for (number, step) in steps.iter().enumerate() {
        let id = number.to_string();
        match step {
            Step::User => items.push(said("user", &id)),
            Step::Answer => items.push(said("assistant", &id)),
            Step::Thought => items.push(json!({"type": "reasoning", "id": id, "summary": []})),
            Step::Ran => items.push(ran(&id)),
            Step::Call => {
                items.push(call(&id));
                open.push(id);
            }
            Step::Output(which) if !open.is_empty() => items.push(output(&open.remove(which.index(open.len())))),
            Step::Output(_) => {}
        }
    }
    items.extend(open.iter().map(|id| output(id)));
    items.insert(0, said("user", "first"));
    items
}

/// Every result stands behind its own call with nothing but other results between; the ids in the order of their results.
fn answered(messages: &[Value]) -> Vec<String> {
    let (mut open, mut answered) = (Vec::<String>::new(), Vec::new());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for message in messages {
        if message["role"] == "tool" {
            let id = text(&message["tool_call_id"]);
            open.remove(open.iter().position(|open| *open == id).expect("a result behind its call"));
            answered.push(id);
            continue;
        }
        assert!(open.is_empty(), "{open:?} before {message}");
        let calls = message.get("tool_calls").and_then(Value::as_array);
        open = calls.into_iter().flatten().map(|call| text(&call["id"])).collect();
        assert!(calls.is_none_or(|calls| !calls.is_empty()));
    }
    assert!(open.is_empty(), "{open:?} at the end");
    answered
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_items_makes_messages_that_chat_servers_take(steps in prop::collection::vec(step(), 0..20)) {
        let items = conversation(&steps);
        let messages = messages(&items.clone().into()).unwrap();
        let messages = messages.as_array().unwrap();
        let expected: Vec<String> = items
            .iter()
            .filter_map(|item| match item["type"].as_str() {
                Some("function_call_output") => Some(item["call_id"].as_str()?.to_owned()),
                Some("mcp_call") => Some(item["output"].as_str()?.to_owned()),
                _ => None,
            })
            .collect();
        prop_assert_eq!(answered(messages), expected);
        let pairs = messages.windows(2).filter(|pair| pair[0]["role"] == "assistant" && pair[1]["role"] == "assistant");
        prop_assert_eq!(pairs.count(), 0);
        let users = |list: &[Value]| list.iter().filter(|entry| entry["role"] == "user").map(|entry| entry["content"].clone()).collect::<Vec<_>>();
        prop_assert_eq!(users(messages), users(&items));
    }
}

#[test]
fn custom_tools_go_to_the_model_as_functions_and_come_back_as_they_were() {
    let tool = json!({"type": "custom", "name": "patch", "description": "Edits."});
    let inside = json!({"type": "namespace", "name": "files", "tools": [&tool]});
    let body = json!({
        "model": "m",
        "tools": [tool, inside],
        "tool_choice": {"type": "custom", "name": "patch"},
        "input": [
            {"role": "user", "content": "u"},
            {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "patch", "input": "a\n\"b\""},
            {"type": "custom_tool_call_output", "id": "ctco_1", "call_id": "c", "output": "done"},
        ],
    });
    let request = ResponsesRequest::read(body.to_string().into_bytes()).unwrap();
    let chat = chat_json(&request, &[]).unwrap();
    let names: Vec<&Value> = chat["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["patch", "files__patch"]);
    assert_eq!(chat["tool_choice"], json!({"type": "function", "function": {"name": "patch"}}));
    let call = &chat["messages"][1]["tool_calls"][0]["function"];
    assert_eq!(call, &json!({"name": "patch", "arguments": "{\"input\":\"a\\n\\\"b\\\"\"}"}));
    assert_eq!(chat["messages"][2], json!({"role": "tool", "tool_call_id": "c", "content": "done"}));
}
