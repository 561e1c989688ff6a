//! Ids of responses and of their items. An item's id contains its response's id, so an item is found by its id alone.

use std::collections::HashSet;

use callboard_core::wire::responses::{NewId, ResponsesRequest, id_prefix};
use serde_json::Value;

use crate::clock;
use crate::random::{self, TIME_LETTERS};

/// Length of a response's id after its prefix: time, then random letters.
const LETTERS: usize = TIME_LETTERS as usize + RANDOM_LETTERS;
const RANDOM_LETTERS: usize = 15;
const RESPONSE: &str = "resp_";
/// No response has so many items of its own.
const FIRST_OF_COMPACTION: u64 = 1_000_000_000;

/// A new id of a response.
pub fn new_response_id() -> String {
    format!("{RESPONSE}{}", new_letters())
}

/// A new id of a conversation.
pub fn new_conversation_id() -> String {
    format!("conv_{}", new_letters())
}

fn new_letters() -> String {
    random::letters_by_time::<RANDOM_LETTERS>(clock::milliseconds())
}

/// Makes ids for the items of a response: its letters and a number.
pub fn item_ids(response: &str) -> NewId {
    item_ids_from(response, 0)
}

fn item_ids_from(response: &str, before: u64) -> NewId {
    let letters = response.strip_prefix(RESPONSE).unwrap_or(response).to_owned();
    let mut number = before;
    Box::new(move |prefix| {
        number += 1;
        format!("{prefix}_{letters}{number:04}")
    })
}

/// A new id of a compaction.
pub fn new_compaction_id() -> String {
    format!("cmpr_{}", new_letters())
}

/// Makes ids for the items of a compaction. They lead to the newest response that is compacted, as the ids of its own items do, so
/// that a character's state is found by them.
pub fn compaction_item_ids(request: &ResponsesRequest, earlier: &[Value]) -> NewId {
    let earlier = earlier.iter().rev().filter_map(|item| item.get("id")?.as_str());
    let newest = request.input_ids().rev().chain(earlier).find_map(response_of);
    let response = request.previous_response_id.clone().or(newest).unwrap_or_else(new_response_id);
    // Random, because a response can be compacted twice.
    item_ids_from(&response, FIRST_OF_COMPACTION + u64::from(u32::from_be_bytes(random::bytes())))
}

/// Gives items new ids where those they bring are taken by earlier ones.
pub fn renew_taken(items: &mut [Value], earlier: &[Value], new_id: &mut NewId) {
    let id_of = |item: &Value| item.get("id").and_then(Value::as_str).map(str::to_owned);
    let taken: HashSet<String> = earlier.iter().filter_map(id_of).collect();
    for item in items {
        if id_of(item).is_some_and(|id| taken.contains(&id))
            && let Some(fields) = item.as_object_mut()
        {
            let kind = fields.get("type").and_then(Value::as_str).unwrap_or("message");
            let id = new_id(id_prefix(kind));
            fields.insert("id".to_owned(), id.into());
        }
    }
}

/// The response that an item of this id belongs to, if it was made here.
pub(super) fn response_of(item: &str) -> Option<String> {
    let (_, rest) = item.split_once('_')?;
    let letters = rest.get(..LETTERS)?;
    let number = rest.get(LETTERS..)?;
    let is_number = number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("{RESPONSE}{letters}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_lead_back_to_their_response() {
        let response = new_response_id();
        let mut ids = item_ids(&response);
        let (first, second) = (ids("msg"), ids("fc"));
        assert_ne!(first, second);
        assert_eq!(response_of(&first), Some(response.clone()));
        assert_eq!(response_of(&second), Some(response));
        for foreign in ["", "msg", "msg_", "msg_1", "msg_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b", "msg_é"] {
            assert_eq!(response_of(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn ids_that_are_taken_are_renewed() {
        let call = |id: &str| json!({"id": id, "type": "function_call"});
        let mut items = [json!({"id": "msg_1"}), json!({"id": "msg_2"}), json!({"type": "message"}), call("own")];
        let earlier = [json!({"id": "msg_1"}), json!({}), json!({"id": "own"})];
        renew_taken(&mut items, &earlier, &mut item_ids("resp_a"));
        let renewed =
            [json!({"id": "msg_a0001"}), json!({"id": "msg_2"}), json!({"type": "message"}), call("fc_a0002")];
        assert_eq!(items, renewed);
    }
}
