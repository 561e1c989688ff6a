//! Invariants of every streamed response.

use serde_json::Value;

use super::assembly::Assembly;
use super::event_stream::EventStream;
use super::transport::Transport;

/// Faults in the events of a response. On a WebSocket, where more responses follow, no error precedes the last event.
pub(super) fn faults_of_events(events: &[Value], transport: Transport) -> Vec<String> {
    let mut faults = Vec::new();
    let mut must = |holds: bool, words: &str| {
        if !holds {
            faults.push(format!("the events: {words}"));
        }
    };
    let numbers = events.iter().enumerate().all(|(place, event)| event["sequence_number"] == place);
    must(numbers, "sequence_number is not 0, 1, 2 … without gaps");
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap_or_default()).collect();
    must(kinds.starts_with(&["response.created", "response.in_progress"]), "created and in_progress are not first");
    let about = |name: &&str| name.matches('.').count() == 1;
    must(kinds.iter().filter(|name| about(name)).count() == 3, "there is more than a beginning and an end");
    let failed = kinds.last() == Some(&"response.failed");
    let errors = kinds.iter().filter(|name| **name == "error").count();
    let has_error_event = failed && transport != Transport::Socket;
    must(errors == usize::from(has_error_event), "error and response.failed do not come together");
    must(
        !has_error_event || kinds.iter().rev().nth(1) == Some(&"error"),
        "the error is not right before response.failed",
    );
    let objects: Vec<&Value> = events.iter().filter_map(|event| event.get("response")).collect();
    let steady = |key: &str| objects.windows(2).all(|pair| pair[0][key] == pair[1][key]);
    must(["id", "object", "created_at", "model", "tools"].iter().all(|key| steady(key)), "the head changes");
    let begins = |object: &&&Value| object["status"] == "in_progress" && object["output"] == Value::Array(Vec::new());
    must(objects.iter().take(2).filter(begins).count() == 2, "it does not begin in progress and empty");
    let last = objects.last().copied().unwrap_or(&Value::Null);
    let status = kinds.last().and_then(|name| name.strip_prefix("response."));
    must(last["status"].as_str() == status, "the last event does not tell the status");
    must(failed != last["usage"].is_object() && failed == last["error"].is_object(), "usage or error is missing");
    let mut assembly = Assembly::default();
    events.iter().for_each(|event| assembly.take(event));
    faults.extend(assembly.faults_at_end(&last["output"], failed));
    faults
}

/// The object in the last event of a stream; its faults are added to `faults`.
pub(in super::super) fn last_object(body: &str, faults: &mut Vec<String>) -> Value {
    let stream = EventStream::read(body);
    faults.extend(stream.faults);
    faults.extend(faults_of_events(&stream.events, Transport::Streamed));
    stream.events.last().map_or(Value::Null, |event| event["response"].clone())
}
