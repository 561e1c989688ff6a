//! What is healed, and that clean histories are not touched.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::heal;
use crate::wire::chat::adapt::message_accessors::{answered_id, call_id, calls, role};
use crate::wire::chat::adapt::tests::{any_json, any_messages};

fn user() -> Value {
    json!({"role": "user", "content": "Go on."})
}

fn assistant(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids.iter().map(|id| call(id, json!("{}"))).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn call(id: &str, arguments: Value) -> Value {
    let mut call = json!({"id": id, "type": "function", "function": {"name": "f"}});
    call["function"]["arguments"] = arguments;
    call
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": format!("result of {id}")})
}

fn none(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "Error: no result was recorded for this call"})
}

#[test]
fn arguments() {
    for (written, expected) in [
        (json!("{}"), "{}"),
        (json!(" {\"a\": 1.0, \"a\": 1e400}\n"), " {\"a\": 1.0, \"a\": 1e400}\n"),
        (json!({"a": 1.0, "b": [true]}), "{\"a\":1.0,\"b\":[true]}"),
        (json!(""), "{}"),
        (json!(" \n"), "{}"),
        (json!(null), "{}"),
        (json!("null"), "{}"),
        (json!("{'a': True,}"), "{\"a\":true}"),
        (json!("{\"a\": \"x\ny\"}"), "{\"a\":\"x\\ny\"}"),
        (json!("\"{\\\"a\\\": 1}\""), "{\"a\":1}"),
        (json!("```json\n{\"a\": 1}\n```"), "{\"a\":1}"),
        (json!("{\"a\": 1}{\"a\": 2}"), r#"{"malformed_arguments":"{\"a\": 1}{\"a\": 2}"}"#),
        (json!("{\"path\": \"/tm"), r#"{"malformed_arguments":"{\"path\": \"/tm"}"#),
        (json!("[1]"), r#"{"malformed_arguments":"[1]"}"#),
        (json!("look it up"), r#"{"malformed_arguments":"look it up"}"#),
        (json!([1]), r#"{"malformed_arguments":"[1]"}"#),
        (json!(3), r#"{"malformed_arguments":"3"}"#),
    ] {
        let mut messages = vec![json!({"role": "assistant", "tool_calls": [call("a", written.clone())]}), result("a")];
        heal(&mut messages);
        assert_eq!(messages[0]["tool_calls"][0]["function"]["arguments"], *expected, "{written}");
    }
}

#[test]
fn missing_arguments_are_none() {
    let mut messages =
        vec![json!({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}, {"id": "b"}, 7]})];
    heal(&mut messages);
    assert_eq!(
        messages[0]["tool_calls"],
        json!([{"id": "a", "function": {"name": "f", "arguments": "{}"}}, {"id": "b"}, 7])
    );
}

#[test]
fn order() {
    let (ab, cd) = (assistant(&["a", "b"]), assistant(&["c", "d"]));
    for (messages, expected) in [
        (vec![user(), ab.clone()], vec![user(), ab.clone()]),
        (vec![user(), ab.clone(), user()], vec![user(), ab.clone(), none("a"), none("b"), user()]),
        (vec![ab.clone(), result("b")], vec![ab.clone(), result("b"), none("a")]),
        (vec![ab.clone(), result("b"), user()], vec![ab.clone(), result("b"), none("a"), user()]),
        (vec![ab.clone(), user(), result("b"), result("a")], vec![ab.clone(), result("b"), result("a"), user()]),
        (
            vec![ab.clone(), result("a"), user(), result("b"), user()],
            vec![ab.clone(), result("a"), result("b"), user(), user()],
        ),
        (
            vec![ab.clone(), cd.clone(), result("c"), result("a"), user()],
            vec![ab.clone(), result("a"), none("b"), cd, result("c"), none("d"), user()],
        ),
        (
            vec![ab.clone(), ab.clone(), result("a"), result("b")],
            vec![ab.clone(), none("a"), none("b"), ab.clone(), result("a"), result("b")],
        ),
        (vec![assistant(&["a", "a"]), user()], vec![assistant(&["a", "a"]), none("a"), user()]),
        (vec![result("x"), user(), result("y")], vec![result("x"), user(), result("y")]),
        (
            vec![ab.clone(), result("x"), result("a"), result("b")],
            vec![ab.clone(), result("a"), result("b"), result("x")],
        ),
        (vec![result("a"), ab.clone()], vec![result("a"), ab]),
    ] {
        let mut healed = messages.clone();
        heal(&mut healed);
        assert_eq!(healed, expected, "{messages:?}");
    }
}

#[test]
fn contents() {
    for (message, expected) in [
        (json!({"role": "user", "content": null}), json!("")),
        (json!({"role": "system"}), json!("")),
        (json!({"role": "assistant", "content": null}), json!("")),
        (json!({"role": "assistant", "content": null, "refusal": "No."}), json!(null)),
        (json!({"role": "assistant", "content": null, "tool_calls": []}), json!("")),
        (json!({"role": "assistant", "content": "Hi", "tool_calls": null}), json!("Hi")),
        (json!({"role": "assistant", "content": "", "tool_calls": [call("a", json!("{}"))]}), json!("")),
        (json!({"role": "user", "content": {"temperature": 21.5}}), json!("{\"temperature\":21.5}")),
        (json!({"role": "user", "content": 5}), json!("5")),
        (json!({"role": "user", "content": {"type": "text", "text": "Hi"}}), json!([{"type": "text", "text": "Hi"}])),
        (json!({"role": "user", "content": [{"type": "image_url"}]}), json!([{"type": "image_url"}])),
    ] {
        let mut messages = vec![message.clone()];
        heal(&mut messages);
        assert_eq!(messages[0]["content"], expected, "{message}");
        let calls = messages[0].get("tool_calls");
        assert!(
            calls.is_none_or(|calls| *calls != json!([]) && !calls.is_null()),
            "an empty list is left out: {message}"
        );
    }
}

/// A history without a fault: turns of a user, calls, all their results in any order, an answer.
fn clean_history() -> impl Strategy<Value = Vec<Value>> {
    let turn = (0_usize..4, any::<bool>(), "\\PC{0,12}");
    prop::collection::vec(turn, 0..6).prop_map(|turns| {
        let mut messages = Vec::new();
        for (number, (count, reversed, text)) in turns.into_iter().enumerate() {
            let ids: Vec<String> = (0..count).map(|call| format!("call_{number}_{call}")).collect();
            messages.push(json!({"role": "user", "content": text}));
            if count > 0 {
                messages.push(assistant(&ids.iter().map(String::as_str).collect::<Vec<_>>()));
                let results = ids.iter().map(|id| result(id));
                if reversed { messages.extend(results.rev()) } else { messages.extend(results) }
            }
            messages.push(json!({"role": "assistant", "content": text}));
        }
        messages
    })
}

/// Whether every call but those of the last message has its result directly behind it.
fn answered(messages: &[Value]) -> bool {
    messages.iter().enumerate().all(|(place, message)| {
        let rest = &messages[place + 1..];
        let behind: Vec<_> =
            rest.iter().take_while(|message| role(message) == "tool").filter_map(answered_id).collect();
        rest.is_empty() || calls(message).iter().filter_map(call_id).all(|id| behind.contains(&id))
    })
}

proptest! {
    #[test]
    fn clean_histories_are_not_touched(messages in clean_history()) {
        let mut healed = messages.clone();
        heal(&mut healed);
        prop_assert_eq!(healed, messages);
    }

    #[test]
    fn damaged_histories_are_healed_once_and_for_all(
        messages in clean_history(),
        lost in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        swapped in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..4),
    ) {
        let mut messages = messages;
        for index in lost {
            if !messages.is_empty() {
                messages.remove(index.index(messages.len()));
            }
        }
        for (first, second) in swapped {
            if !messages.is_empty() {
                let length = messages.len();
                messages.swap(first.index(length), second.index(length));
            }
        }
        heal(&mut messages);
        prop_assert!(answered(&messages), "{messages:?}");
        let again = messages.clone();
        heal(&mut messages);
        prop_assert_eq!(messages, again);
    }

    #[test]
    fn nothing_breaks_it(messages in any_messages(), other in prop::collection::vec(any_json(), 0..4)) {
        for mut messages in [messages, other] {
            heal(&mut messages);
            let again = messages.clone();
            heal(&mut messages);
            prop_assert_eq!(messages, again);
        }
    }
}
