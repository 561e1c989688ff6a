//! Invariants of every reply that keeps the contract: the format of a stream, and of its calls.

use std::collections::HashSet;

use serde_json::Value;

use super::ids::has_valid_format;
use super::reply_events::{Event, Folded};
use super::strict_json::fault_of_object;

/// Faults in the format of a stream.
pub(super) fn faults_of_stream(events: &[Event], model: &str, usage_requested: bool) -> Vec<String> {
    let chunks: Vec<&Value> =
        events.iter().filter_map(|event| if let Event::Data(chunk) = event { Some(chunk) } else { None }).collect();
    let failed = chunks.last().is_some_and(|chunk| chunk.get("error").is_some());
    let said: Vec<&Value> = chunks.iter().copied().filter(|chunk| chunk.get("error").is_none()).collect();
    let mut faults = Vec::new();
    let mut must = |holds: bool, words: &str| {
        if !holds {
            faults.push(format!("the stream: {words}"));
        }
    };
    must(!events.iter().any(|event| matches!(event, Event::Odd(_))), "something is neither a chunk nor a comment");
    must(
        chunks.iter().filter(|chunk| chunk.get("error").is_some()).count() == usize::from(failed),
        "an error is not the last event",
    );
    must(
        said.iter().all(|chunk| chunk["object"] == "chat.completion.chunk" && chunk["model"] == model),
        "object or model is wrong",
    );
    must(
        said.windows(2).all(|pair| pair[0]["id"] == pair[1]["id"] && pair[0]["created"] == pair[1]["created"]),
        "id or created changes",
    );
    let roles: Vec<bool> = said.iter().map(|chunk| chunk["choices"][0]["delta"].get("role").is_some()).collect();
    must(
        !roles.iter().skip(1).any(|role| *role) && roles.first() != Some(&false),
        "the role is not in the first chunk alone",
    );
    must(calls_are_in_order(&said), "call deltas are not one per chunk, in order, with their head once");
    let done = events.iter().filter(|event| matches!(event, Event::Done)).count();
    if failed {
        must(done == 0, "[DONE] after an error");
    } else {
        must(done == 1 && matches!(events.last(), Some(Event::Done)), "[DONE] is not once and last");
        must(ends_well(&said, usage_requested), "finish and usage are not where they belong");
    }
    faults
}

/// One delta per chunk; index 0, 1, 2 … one call after the other; id, type and name in the first delta of a call only.
fn calls_are_in_order(chunks: &[&Value]) -> bool {
    let mut begun = 0;
    for list in chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"].get("tool_calls")) {
        let Some([call]) = list.as_array().map(Vec::as_slice) else { return false };
        let head = [call.get("id"), call.get("type"), call["function"].get("name")];
        if head.iter().all(Option::is_some) {
            begun += 1;
        } else if head.iter().any(Option::is_some) {
            return false;
        }
        if begun == 0 || call["index"] != begun - 1 || !call["function"]["arguments"].is_string() {
            return false;
        }
    }
    true
}

/// One finish, in the last chunk that has a choice; usage in a separate chunk after it, exactly when requested.
fn ends_well(chunks: &[&Value], usage_requested: bool) -> bool {
    let finishes: Vec<usize> =
        (0..chunks.len()).filter(|place| !chunks[*place]["choices"][0]["finish_reason"].is_null()).collect();
    let counted: Vec<usize> =
        (0..chunks.len()).filter(|place| chunks[*place].get("usage").is_some_and(|usage| !usage.is_null())).collect();
    let last = chunks.len().saturating_sub(1);
    let choices = chunks.iter().filter(|chunk| chunk["choices"].as_array().is_some_and(|list| list.len() == 1)).count();
    if usage_requested {
        counted == [last]
            && finishes == [last.saturating_sub(1)]
            && choices == last
            && chunks[last]["choices"] == Value::Array(Vec::new())
    } else {
        counted.is_empty() && finishes == [last] && choices == chunks.len()
    }
}

/// Faults in the calls of a reply, given its request.
pub(super) fn faults_of_calls(reply: &Folded, request: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let offered: HashSet<&str> = request["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    let mut ids = HashSet::new();
    for [id, name, arguments] in &reply.calls {
        if !offered.contains(name.as_str()) {
            faults.push(format!("{name:?} was not offered"));
        }
        if !has_valid_format(id) || !ids.insert(id) || request["messages"].to_string().contains(&format!("\"{id}\"")) {
            faults.push(format!("the id {id:?} is malformed or not unique"));
        }
        faults.extend(fault_of_object(arguments));
    }
    if (reply.finish_reason == "tool_calls") == reply.calls.is_empty() {
        faults.push(format!("finish_reason is {} with {} calls", reply.finish_reason, reply.calls.len()));
    }
    if !count_is_allowed(reply, request) {
        faults.push(format!("{} calls are not what tool_choice and parallel_tool_calls allow", reply.calls.len()));
    }
    faults
}

fn count_is_allowed(reply: &Folded, request: &Value) -> bool {
    let (choice, count) = (&request["tool_choice"], reply.calls.len());
    let demanded =
        choice == "required" || choice["type"] == "function" || choice["allowed_tools"]["mode"] == "required";
    let cut = reply.finish_reason == "length" || reply.finish_reason == "content_filter";
    let single = request["parallel_tool_calls"] == false;
    !(choice == "none" && count > 0 || single && count > 1 || demanded && count == 0 && !cut)
}
