//! User and assistant in turn, for chat templates that know no other order.

use serde_json::{Value, json};

use super::content;
use super::message_accessors::{calls, is_system, role, set, take};

/// The user message before an assistant that speaks first.
const OPENING: &str = "(The conversation begins.)";

/// The assistant message between results and a user, for templates that require one.
const NOTED: &str = "I have the results.";

/// One system message first, then user and assistant strictly in turn. Calls and their results stay as they are.
pub(super) fn alternate(messages: &mut Vec<Value>) {
    let leading = messages.iter().take_while(|message| is_system(message)).count();
    let spoken = messages.split_off(leading);
    let system = std::mem::take(messages).into_iter().reduce(merged);
    messages.extend(system);
    if spoken.first().is_some_and(|first| role(first) != "user" && !is_system(first)) {
        messages.push(json!({"role": "user", "content": OPENING}));
    }
    for mut message in spoken {
        if is_system(&message) {
            set(&mut message, "role", "user");
        }
        messages.push(message);
    }
    merge_neighbours(messages);
}

/// Lets the assistant speak between the result of a call and a user.
pub(super) fn answer_results(messages: &mut Vec<Value>) {
    let mut answered: Vec<Value> = Vec::with_capacity(messages.len());
    for message in messages.drain(..) {
        if role(&message) == "user" && answered.last().is_some_and(|last| role(last) == "tool") {
            answered.push(json!({"role": "assistant", "content": NOTED}));
        }
        answered.push(message);
    }
    *messages = answered;
}

/// Makes one message of several that the same side says in a row.
pub(super) fn merge_neighbours(messages: &mut Vec<Value>) {
    let mut together: Vec<Value> = Vec::with_capacity(messages.len());
    for message in messages.drain(..) {
        match together.pop() {
            Some(last) if one_voice(&last, &message) => together.push(merged(last, message)),
            last => together.extend(last.into_iter().chain([message])),
        }
    }
    *messages = together;
}

fn one_voice(first: &Value, second: &Value) -> bool {
    matches!(role(first), "user" | "assistant") && role(first) == role(second) && calls(first).is_empty()
}

fn merged(mut first: Value, mut second: Value) -> Value {
    content::append(&mut first, take(&mut second, "content").unwrap_or_default());
    if let (Some(fields), Some(more)) = (first.as_object_mut(), second.as_object_mut()) {
        for (key, value) in std::mem::take(more) {
            fields.entry(key).or_insert(value);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_becomes_strict() {
        let say = |role: &str, content: &str| json!({"role": role, "content": content});
        let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a"}]});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "1"});
        let rows = [
            (vec![say("user", "a"), say("user", "b")], vec![say("user", "a\n\nb")]),
            (
                vec![say("system", "a"), say("system", "b"), say("user", "c")],
                vec![say("system", "a\n\nb"), say("user", "c")],
            ),
            (
                vec![say("assistant", "a"), say("user", "b")],
                vec![say("user", OPENING), say("assistant", "a"), say("user", "b")],
            ),
            (
                vec![say("user", "a"), say("assistant", "b"), say("system", "c"), say("user", "d")],
                vec![say("user", "a"), say("assistant", "b"), say("user", "c\n\nd")],
            ),
            (
                vec![say("user", "a"), call.clone(), result.clone(), say("assistant", "b"), say("assistant", "c")],
                vec![say("user", "a"), call.clone(), result, say("assistant", "b\n\nc")],
            ),
            (
                vec![json!({"role": "user", "content": [{"type": "image_url"}]}), say("user", "b")],
                vec![json!({"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "b"}]})],
            ),
            (
                vec![say("user", "a"), say("assistant", "b"), call, say("assistant", "c")],
                vec![
                    say("user", "a"),
                    json!({"role": "assistant", "content": "b", "tool_calls": [{"id": "a"}]}),
                    say("assistant", "c"),
                ],
            ),
            (vec![say("system", "a")], vec![say("system", "a")]),
            (vec![], vec![]),
        ];
        for (mut messages, expected) in rows {
            alternate(&mut messages);
            assert_eq!(messages, expected);
            alternate(&mut messages);
            assert_eq!(messages, expected, "adapted twice");
        }
    }
}
