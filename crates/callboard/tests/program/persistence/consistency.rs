//! Invariants of a conversation after any number of kills: state, journal and items agree, and every acknowledged change is
//! stored once and in order.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use callboard_core::journal::{Entry, replay};
use serde_json::{Value, json};

use super::client::{get, get_all};

static CLOCK: AtomicU64 = AtomicU64::new(0);

/// The next value of a logical clock that all clients share.
pub(super) fn tick() -> u64 {
    CLOCK.fetch_add(1, Ordering::SeqCst)
}

/// A change that a client requested.
#[derive(Debug, Clone)]
pub(super) struct RequestedChange {
    /// Identifies the change: a note's token, or the call id of an undo.
    pub(super) token: String,
    pub(super) sent: u64,
    /// None without an answer: it may be stored or not.
    pub(super) acknowledged: Option<u64>,
}

/// Checks a conversation and returns the number of its changes.
pub(super) fn check(address: &str, conversation: &str, asked: &[RequestedChange]) -> usize {
    let path = format!("/v1/conversations/{conversation}");
    let entries = get_all(address, &format!("{path}/journal?limit=100"), |entry| entry["sequence"].to_string());
    let entries: Vec<Entry> = entries.into_iter().map(|entry| serde_json::from_value(entry).unwrap()).collect();
    let state = get(address, &format!("{path}/state"))["state"].clone();
    check_state(&entries, &state);
    check_changes(&entries, asked);
    let items =
        get_all(address, &format!("{path}/items?limit=100&order=asc"), |item| item["id"].as_str().unwrap().to_owned());
    check_items(&entries, &items);
    entries.len()
}

/// The state equals the replay of the journal, and the result of the calls that are not undone.
fn check_state(entries: &[Entry], state: &Value) {
    let numbers: Vec<u64> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(numbers, (1..=entries.len() as u64).collect::<Vec<_>>());
    if entries.is_empty() {
        assert!(*state == Value::Null || *state == json!({"notes": []}), "{state}");
        return;
    }
    assert_eq!(replay(&json!({"notes": []}), entries).unwrap(), *state);
    let effective = entries.iter().filter(|entry| entry.undoes.is_none() && entry.undone_by.is_none());
    let notes: Vec<String> = effective.map(token).collect();
    assert_eq!(json!({"notes": notes}), *state);
}

/// No acknowledged change is missing, none is stored twice, and those sent after an answer are stored after it.
fn check_changes(entries: &[Entry], asked: &[RequestedChange]) {
    let asked: HashMap<&str, &RequestedChange> = asked.iter().map(|asked| (asked.token.as_str(), asked)).collect();
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut newest = 0;
    for entry in entries {
        *times.entry(token(entry)).or_default() += 1;
        // The token of an unacknowledged undo is unknown.
        let Some(asked) = asked.get(token(entry).as_str()) else {
            assert!(entry.undoes.is_some(), "not requested: {entry:?}");
            continue;
        };
        assert!(asked.acknowledged.is_none_or(|at| at > newest), "{asked:?} is stored after a later request");
        newest = newest.max(asked.sent);
    }
    let twice: Vec<_> = times.iter().filter(|(_, times)| **times != 1).collect();
    assert!(twice.is_empty(), "made twice: {twice:?}");
    let acknowledged = asked.values().filter(|asked| asked.acknowledged.is_some());
    let lost: Vec<_> = acknowledged.filter(|asked| !times.contains_key(&asked.token)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
}

/// Every turn has its items, with the same calls in the same order.
fn check_items(entries: &[Entry], items: &[Value]) {
    let calls: Vec<String> = entries.iter().filter(|entry| entry.undoes.is_none()).map(token).collect();
    let of_kind = |kind: &'static str| items.iter().filter(move |item| item["type"] == kind);
    let made = of_kind("mcp_call").map(|item| argument(item["arguments"].as_str().unwrap()));
    assert_eq!(made.collect::<Vec<_>>(), calls, "calls among the items");
    let inputs = of_kind("message").filter(|item| item["role"] == "user").map(|item| {
        let words = item["content"].as_str().or_else(|| item["content"][0]["text"].as_str()).unwrap();
        words.trim_start_matches("note ").to_owned()
    });
    assert_eq!(inputs.collect::<Vec<_>>(), calls, "user messages among the items");
    let answers = of_kind("message").filter(|item| item["role"] == "assistant");
    assert_eq!(answers.count(), calls.len(), "answers among the items");
}

fn token(entry: &Entry) -> String {
    if entry.undoes.is_some() { entry.call.call_id.clone() } else { argument(&entry.call.arguments) }
}

fn argument(arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    arguments["token"].as_str().unwrap().to_owned()
}
