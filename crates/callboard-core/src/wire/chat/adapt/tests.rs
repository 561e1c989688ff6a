//! What adapting does to requests, row by row, and that nothing breaks it.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Family, Quirk, adapt};

fn check(rows: &[(Vec<Quirk>, Value, Value)]) {
    for (quirks, body, expected) in rows {
        let quirks: BTreeSet<Quirk> = quirks.iter().cloned().collect();
        let mut adapted = body.clone();
        adapt(&mut adapted, &quirks, Family::Hermes);
        assert_eq!(adapted.to_string(), expected.to_string(), "{quirks:?} of {body}");
        adapt(&mut adapted, &quirks, Family::Hermes);
        assert_eq!(adapted.to_string(), expected.to_string(), "{quirks:?} twice of {body}");
    }
}

fn messages(list: Value) -> Value {
    let mut body = json!({"model": "m"});
    body["messages"] = list;
    body
}

#[test]
fn fields() {
    let named = json!({"type": "function", "function": {"name": "f"}});
    check(&[
        (vec![], json!({"a": 1.50, "tool_choice": "required"}), json!({"a": 1.50, "tool_choice": "required"})),
        (
            vec![Quirk::ParallelToolCalls, Quirk::StreamOptions, Quirk::Field("top_k".to_owned())],
            json!({"top_k": 1, "model": "m", "parallel_tool_calls": true, "x": 1, "stream_options": {}, "y": 2}),
            json!({"model": "m", "x": 1, "y": 2}),
        ),
        (vec![Quirk::Field("messages".to_owned())], json!({"messages": []}), json!({"messages": []})),
        (vec![Quirk::ToolChoice], json!({"a": 1, "tool_choice": "required", "b": 2}), json!({"a": 1, "b": 2})),
        (vec![Quirk::ToolChoice], json!({"tool_choice": named}), json!({})),
        (vec![Quirk::ToolChoice], json!({"tool_choice": "none"}), json!({"tool_choice": "none"})),
        (vec![Quirk::ToolChoice], json!({"tool_choice": "auto"}), json!({"tool_choice": "auto"})),
        (
            vec![Quirk::Strict],
            json!({"tools": [{"function": {"name": "f", "strict": true, "parameters": {"strict": 1}}}, 5], "strict": 1}),
            json!({"tools": [{"function": {"name": "f", "parameters": {"strict": 1}}}, 5], "strict": 1}),
        ),
        (
            vec![Quirk::MaxTokens],
            json!({"a": 1, "max_tokens": 5, "b": 2}),
            json!({"a": 1, "max_completion_tokens": 5, "b": 2}),
        ),
        (
            vec![Quirk::MaxCompletionTokens],
            json!({"max_completion_tokens": 5, "b": 2}),
            json!({"max_tokens": 5, "b": 2}),
        ),
        (
            vec![Quirk::MaxCompletionTokens],
            json!({"max_completion_tokens": 5, "max_tokens": 4}),
            json!({"max_tokens": 4}),
        ),
        (
            vec![Quirk::MaxTokens],
            json!({"max_completion_tokens": null, "max_tokens": 4}),
            json!({"max_completion_tokens": 4}),
        ),
        (
            vec![Quirk::MaxTokens, Quirk::MaxCompletionTokens],
            json!({"max_completion_tokens": 5, "max_tokens": 4}),
            json!({}),
        ),
    ]);
}

#[test]
fn formats() {
    let only = "Write nothing but that JSON: no other words, no code fence.";
    let schema = json!({"type": "json_schema", "json_schema": {"name": "a", "description": "An age.", "schema": {"type": "integer"}}});
    let by_schema = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}});
    let user = json!({"role": "user", "content": "Hi"});
    check(&[
        (
            vec![Quirk::ResponseFormat],
            json!({"messages": [{"role": "system", "content": "Be brief.", "name": "s"}, user], "response_format": schema}),
            json!({"messages": [{"role": "system", "content":
                format!("Be brief.\n\nAnswer with JSON that is valid against this JSON Schema. {only}\nAn age.\n{{\"type\":\"integer\"}}"), "name": "s"}, user]}),
        ),
        (
            vec![Quirk::ResponseFormat],
            json!({"response_format": {"type": "json_object"}, "messages": [user]}),
            json!({"messages": [{"role": "system", "content": format!("Answer with one JSON object. {only}")}, user]}),
        ),
        (
            vec![Quirk::ResponseFormat],
            json!({"response_format": {"type": "text"}, "messages": [user]}),
            json!({"messages": [user]}),
        ),
        (
            vec![Quirk::SchemaInJsonObject, Quirk::ResponseFormat],
            json!({"response_format": schema}),
            json!({"response_format": {"type": "json_object", "schema": {"type": "integer"}}}),
        ),
        (
            vec![Quirk::SchemaInJsonObject],
            json!({"response_format": {"type": "json_object"}}),
            json!({"response_format": {"type": "json_object"}}),
        ),
        (vec![Quirk::JsonObject], json!({"response_format": {"type": "text"}}), json!({})),
        (
            vec![Quirk::JsonObject],
            json!({"response_format": {"type": "json_object"}}),
            json!({"response_format": by_schema}),
        ),
        (vec![Quirk::JsonObject], json!({"response_format": schema}), json!({"response_format": schema})),
    ]);
}

#[test]
fn roles() {
    let image = json!([{"type": "image_url", "image_url": {"url": "data:,"}}]);
    check(&[
        (
            vec![Quirk::DeveloperRole],
            messages(json!([{"role": "developer", "content": "a"}, {"role": "user", "content": "b"}])),
            messages(json!([{"role": "system", "content": "a"}, {"role": "user", "content": "b"}])),
        ),
        (
            vec![Quirk::SystemRole],
            messages(json!([{"role": "system", "content": "a"}, {"role": "user", "content": "b", "name": "Ada"}])),
            messages(json!([{"role": "user", "content": "a\n\nb", "name": "Ada"}])),
        ),
        (
            vec![Quirk::SystemRole],
            messages(
                json!([{"role": "developer", "content": [{"type": "text", "text": "a"}]}, {"role": "user", "content": image}]),
            ),
            messages(json!([{"role": "user", "content": [{"type": "text", "text": "a"}, image[0]]}])),
        ),
        (
            vec![Quirk::SystemRole],
            messages(
                json!([{"role": "system", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "system", "content": "c"}]),
            ),
            messages(
                json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]),
            ),
        ),
        (
            vec![Quirk::UserAfterTool],
            messages(json!([{"role": "tool", "content": "a"}, {"role": "user", "content": "b"}])),
            messages(
                json!([{"role": "tool", "content": "a"}, {"role": "assistant", "content": "I have the results."}, {"role": "user", "content": "b"}]),
            ),
        ),
        (
            vec![Quirk::Alternation],
            messages(json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])),
            messages(json!([{"role": "user", "content": "a\n\nb"}])),
        ),
    ]);
}

#[test]
fn contents() {
    let call = json!({"id": "a", "function": {"name": "f", "arguments": "{}"}});
    let assistant = |content: Value| json!({"role": "assistant", "content": content, "tool_calls": [call]});
    let tool = |content: Value| json!({"role": "tool", "tool_call_id": "a", "content": content});
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let mixed = json!([{"type": "text", "text": "a"}, {"type": "image_url"}]);
    check(&[
        (vec![Quirk::NullContent], messages(json!([assistant(json!(null))])), messages(json!([assistant(json!(""))]))),
        (
            vec![Quirk::NullContent],
            messages(json!([{"role": "assistant", "tool_calls": [call]}])),
            messages(json!([{"role": "assistant", "tool_calls": [call], "content": ""}])),
        ),
        (
            vec![Quirk::EmptyContent],
            messages(json!([assistant(json!("")), tool(json!(""))])),
            messages(json!([assistant(json!(null)), tool(json!("(no text)"))])),
        ),
        (
            vec![Quirk::EmptyContent, Quirk::NullContent],
            messages(json!([assistant(json!(null)), tool(json!(""))])),
            messages(json!([assistant(json!("(no text)")), tool(json!("(no text)"))])),
        ),
        (vec![Quirk::ContentParts], messages(json!([tool(parts)])), messages(json!([tool(json!("a\nb"))]))),
        (vec![Quirk::ContentParts], messages(json!([tool(mixed.clone())])), messages(json!([tool(mixed)]))),
        (
            vec![Quirk::MessageField("reasoning_content".to_owned()), Quirk::MessageField("role".to_owned())],
            messages(json!([{"role": "assistant", "reasoning_content": "x", "content": "y", "name": "z"}])),
            messages(json!([{"role": "assistant", "content": "y", "name": "z"}])),
        ),
        (
            vec![Quirk::IndexedCallIds],
            messages(json!([assistant(json!("")), tool(json!("1"))])),
            messages(json!([
                {"role": "assistant", "content": "", "tool_calls": [{"id": "functions.f:0", "function": call["function"]}]},
                {"role": "tool", "tool_call_id": "functions.f:0", "content": "1"},
            ])),
        ),
    ]);
}

/// Any JSON, made of words that mean something here.
pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any_word().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any_word(), inner), 0..5)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn any_word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "role",
        "content",
        "tool_calls",
        "tool_call_id",
        "id",
        "function",
        "name",
        "arguments",
        "type",
        "text",
        "a",
        "b",
        "user",
        "assistant",
        "system",
        "developer",
        "tool",
        "{}",
        "{'a': 1,}",
        "{",
        "",
        "required",
        "json_schema",
        "strict",
    ])
}

/// Messages that are nearly right.
pub(super) fn any_messages() -> impl Strategy<Value = Vec<Value>> {
    let role = prop::sample::select(vec!["user", "assistant", "assistant", "system", "developer", "tool", "tool"]);
    let call = (any_word(), any_json())
        .prop_map(|(id, arguments)| json!({"id": id, "function": {"name": "f", "arguments": arguments}}));
    let calls = prop_oneof![prop::collection::vec(call, 0..3).prop_map(Value::from), any_json()];
    let message = (role, any_json(), prop::option::of(calls), prop::option::of(any_word()));
    let message = message.prop_map(|(role, content, calls, id)| {
        let mut message = json!({"role": role, "content": content});
        if let Some(calls) = calls {
            message["tool_calls"] = calls;
        }
        if let Some(id) = id {
            message["tool_call_id"] = id.into();
        }
        message
    });
    prop::collection::vec(prop_oneof![9 => message, 1 => any_json()], 0..7)
}

/// Requests that are nearly right.
pub(super) fn any_body() -> impl Strategy<Value = Value> {
    let messages = prop_oneof![9 => any_messages().prop_map(Value::from), 1 => any_json()];
    (messages, any_json(), any_json(), any_json(), any_json()).prop_map(|(messages, tools, choice, format, other)| {
        json!({
            "model": "m", "messages": messages, "tools": [{"type": "function", "function": {"name": "f"}}, tools],
            "tool_choice": choice, "response_format": format, "max_tokens": other, "parallel_tool_calls": other,
        })
    })
}

fn any_quirks() -> impl Strategy<Value = BTreeSet<Quirk>> {
    let all = vec![
        Quirk::Tools,
        Quirk::ToolChoice,
        Quirk::ParallelToolCalls,
        Quirk::Strict,
        Quirk::StreamOptions,
        Quirk::ResponseFormat,
        Quirk::JsonObject,
        Quirk::SchemaInJsonObject,
        Quirk::DeveloperRole,
        Quirk::SystemRole,
        Quirk::Alternation,
        Quirk::UserAfterTool,
        Quirk::NullContent,
        Quirk::EmptyContent,
        Quirk::ContentParts,
        Quirk::ShortCallIds,
        Quirk::IndexedCallIds,
        Quirk::MaxCompletionTokens,
        Quirk::MaxTokens,
        Quirk::Field("model".to_owned()),
        Quirk::MessageField("name".to_owned()),
    ];
    let length = all.len();
    prop::sample::subsequence(all, 0..length).prop_map(BTreeSet::from_iter)
}

pub(super) const FAMILIES: [Family; 9] = [
    Family::Hermes,
    Family::QwenCoder,
    Family::Llama,
    Family::Mistral,
    Family::DeepSeek,
    Family::Dsml,
    Family::Kimi,
    Family::Glm,
    Family::MiniMax,
];

proptest! {
    #[test]
    fn nothing_breaks_it(
        body in prop_oneof![9 => any_body(), 1 => any_json()],
        quirks in any_quirks(),
        family in prop::sample::select(&FAMILIES[..]),
    ) {
        let mut adapted = body.clone();
        adapt(&mut adapted, &quirks, family);
        let again = adapted.clone();
        adapt(&mut adapted, &quirks, family);
        prop_assert_eq!(&adapted, &again, "adapting is done once and for all");
        if quirks.is_empty() {
            prop_assert_eq!(adapted, body);
        }
    }
}
