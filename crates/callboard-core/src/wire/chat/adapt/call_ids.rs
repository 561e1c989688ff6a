//! Ids of calls in the form that a server or model wants, the same for a call and its result.
//!
//! The clients' ids are never sent back by a server, so they need not be found again: it is enough that the same id
//! always becomes the same one, in every request of a conversation.

use std::collections::HashMap;

use serde_json::Value;

use super::message_accessors::{answered_id, call_id, call_name, calls, set};

/// How long Mistral wants ids.
const LENGTH: usize = 9;
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Whether an id has Mistral's form.
fn is_short(id: &str) -> bool {
    id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Gives every call an id of nine letters and digits.
pub(super) fn shorten(messages: &mut [Value]) {
    replace(messages, |id, _| if is_short(id) { id.to_owned() } else { short(id) });
}

/// Gives every call the id `functions.NAME:NUMBER`, counted through the conversation.
pub(super) fn number(messages: &mut [Value]) {
    let mut count = 0_usize;
    replace(messages, |_, name| {
        count += 1;
        format!("functions.{name}:{}", count - 1)
    });
}

/// A result has the new id of the last call before it that had the same old one.
fn replace(messages: &mut [Value], mut new_id: impl FnMut(&str, &str) -> String) {
    let mut known: HashMap<String, String> = HashMap::new();
    for message in messages {
        if let Some(new) = answered_id(message).and_then(|id| known.get(id)) {
            let new = new.clone();
            set(message, "tool_call_id", new);
        }
        if calls(message).is_empty() {
            continue;
        }
        let list = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in list.into_iter().flatten() {
            let Some(old) = call_id(call).map(str::to_owned) else { continue };
            let new = new_id(&old, call_name(call));
            set(call, "id", new.as_str());
            known.insert(old, new);
        }
    }
}

/// A hash of the id (FNV-1a, then mixed so that all digits depend on all bytes) in base 62.
fn short(id: &str) -> String {
    let hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut rest = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    rest ^= rest >> 27;
    let mut text = String::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        let digit = usize::try_from(rest % 62).unwrap_or_default();
        text.push(char::from(DIGITS.get(digit).copied().unwrap_or(b'0')));
        rest /= 62;
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    fn history() -> Vec<Value> {
        vec![
            json!({"role": "assistant", "tool_calls": [
                {"id": "call_abcdefghijklmnopqrstuvwx", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "a1B2c3D4e", "function": {"name": "g"}},
                {"id": 5},
            ]}),
            json!({"role": "tool", "tool_call_id": "a1B2c3D4e", "content": "1"}),
            json!({"role": "tool", "tool_call_id": "call_abcdefghijklmnopqrstuvwx", "content": "2"}),
            json!({"role": "tool", "tool_call_id": "orphan", "content": "3"}),
            json!({"role": "user", "tool_call_id": "a1B2c3D4e", "content": "3"}),
        ]
    }

    #[test]
    fn calls_and_results_keep_together() {
        let mut messages = history();
        shorten(&mut messages);
        let id = messages[0]["tool_calls"][0]["id"].as_str().unwrap().to_owned();
        assert!(is_short(&id), "{id}");
        assert_eq!(messages[2]["tool_call_id"], json!(id));
        assert_eq!(messages[0]["tool_calls"][1]["id"], "a1B2c3D4e");
        assert_eq!(messages[1]["tool_call_id"], "a1B2c3D4e");
        assert_eq!(messages[3]["tool_call_id"], "orphan");
        let again = messages.clone();
        shorten(&mut messages);
        assert_eq!(messages, again);
    }

    #[test]
    fn calls_are_numbered_through() {
        let mut messages = history();
        messages.extend(history());
        number(&mut messages);
        let ids: Vec<&str> = messages.iter().flat_map(|message| calls(message).iter().filter_map(call_id)).collect();
        assert_eq!(ids, ["functions.f:0", "functions.g:1", "functions.f:2", "functions.g:3"]);
        let answered: Vec<&str> = messages.iter().filter_map(answered_id).collect();
        assert_eq!(answered, ["functions.g:1", "functions.f:0", "orphan", "functions.g:3", "functions.f:2", "orphan"]);
    }

    #[test]
    fn near_ids_stay_apart() {
        let ids: HashSet<String> = (0..20_000).map(|number| short(&format!("call_{number:024}"))).collect();
        assert_eq!(ids.len(), 20_000);
        assert!(ids.iter().all(|id| is_short(id)));
    }
}
