//! A whole history: each message healed, results directly behind the calls they answer, and one for every call.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::message::heal_message;
use crate::wire::chat::adapt::message_accessors::{answered_id, call_id, calls};

const NO_RESULT: &str = "Error: no result was recorded for this call";

/// Heals a history. A valid one stays as it is.
pub fn heal(messages: &mut Vec<Value>) {
    messages.iter_mut().for_each(heal_message);
    if !is_ordered(messages) {
        order_results(messages);
    }
}

fn order_results(messages: &mut Vec<Value>) {
    let owners = owners(messages);
    let mut results: HashMap<usize, Vec<Value>> = HashMap::new();
    let mut others = Vec::with_capacity(messages.len());
    for (place, (message, owner)) in messages.drain(..).zip(owners).enumerate() {
        match owner {
            Some(owner) => results.entry(owner).or_default().push(message),
            None => others.push((place, message)),
        }
    }
    let last = others.last().map(|(place, _)| *place);
    for (place, message) in others {
        let mut answers = results.remove(&place).unwrap_or_default();
        if last != Some(place) || !answers.is_empty() {
            answers.extend(missing(&message, &answers));
        }
        messages.push(message);
        messages.extend(answers);
    }
}

/// Whether every call is followed by its results; those of the last message are still to come.
fn is_ordered(messages: &[Value]) -> bool {
    let mut open: HashSet<&str> = HashSet::new();
    let mut answers = 0_usize;
    for message in messages {
        if answered_id(message).is_some_and(|id| open.remove(id)) {
            answers += 1;
        } else if !open.is_empty() || answered_id(message).is_some() {
            return false;
        } else {
            (open, answers) = (ids(message).into_iter().collect(), 0);
        }
    }
    open.is_empty() || answers == 0
}

/// For every result, the place of the message whose call it answers: the last before it with that id.
fn owners(messages: &[Value]) -> Vec<Option<usize>> {
    let mut callers: HashMap<&str, usize> = HashMap::new();
    let mut owners = Vec::with_capacity(messages.len());
    for (place, message) in messages.iter().enumerate() {
        owners.push(answered_id(message).and_then(|id| callers.get(id).copied()));
        callers.extend(ids(message).into_iter().map(|id| (id, place)));
    }
    owners
}

/// Each id once.
fn ids(message: &Value) -> Vec<&str> {
    let mut seen = HashSet::new();
    calls(message).iter().filter_map(call_id).filter(|id| seen.insert(*id)).collect()
}

fn missing(message: &Value, answers: &[Value]) -> Vec<Value> {
    let answered: HashSet<&str> = answers.iter().filter_map(answered_id).collect();
    let open = ids(message).into_iter().filter(|id| !answered.contains(id));
    open.map(|id| json!({"role": "tool", "tool_call_id": id, "content": NO_RESULT})).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results in the reverse order of their calls. Looking for each among all open calls would take minutes.
    #[test]
    fn many_results_are_matched_in_linear_time() {
        let numbers = 0..200_000;
        let calls: Vec<Value> = numbers.clone().map(|number| json!({"id": format!("call_{number}")})).collect();
        let result = |number| json!({"role": "tool", "tool_call_id": format!("call_{number}"), "content": ""});
        let mut messages = vec![json!({"role": "assistant", "tool_calls": calls})];
        messages.extend(numbers.rev().map(result));
        assert!(is_ordered(&messages));
        messages.pop();
        assert!(!is_ordered(&messages), "one call has no result");
    }
}
