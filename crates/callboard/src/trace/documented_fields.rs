//! The fields of a trace are those that its documentation lists, each once.

use std::collections::BTreeSet;

use callboard_core::contract::CallTally;
use callboard_core::turn::ToolOutcome;
use serde_json::Value;

use super::content::recorded_json;
use super::{
    BadCall, ContractNote, Millis, PassedThrough, RecordedCall, RecordedInput, RecordedOutput, RunBy, TokenUsage,
    ToolCall, TraceContext, TraceError, TurnOutcome, TurnTrace, UpstreamRequest,
};

const PAGE: &str = include_str!("../../../../docs/traces.md");

/// A trace in which nothing is left out.
fn full() -> TurnTrace {
    let text = || "x".to_owned();
    let mut context = TraceContext::default();
    context.parent_span_id = Some(text());
    TurnTrace {
        character: Some(text()),
        model: text(),
        id: text(),
        object: "trace",
        context,
        started_at_ms: 1,
        duration_ms: Millis::default(),
        first_word_ms: Some(Millis::default()),
        endpoint: "chat",
        passed_through: Some(PassedThrough { method: "POST", path: text() }),
        request_id: text(),
        conversation: Some(text()),
        response: Some(text()),
        outcome: TurnOutcome::Failed,
        finish_reason: Some("stop"),
        error: Some(TraceError { code: text(), status: 400 }),
        tools_offered: true,
        continues: true,
        rounds: 1,
        calls: CallTally::default(),
        usage: Some(TokenUsage::default()),
        client: Some(text()),
        input: RecordedInput {
            request: recorded_json("6"),
            named_conversation: Some(text()),
            ..RecordedInput::new(1, Some("5"))
        },
        output: RecordedOutput { bytes: 1, text: Some(text()) },
        upstream_requests: vec![request()],
        contract: vec![ContractNote { violation: "x", outcome: "x", at_ms: Millis::default() }],
        bad_calls: vec![BadCall {
            tool: text(),
            call_ids: vec![text()],
            outcome: "x",
            violations: vec!["x"],
            paths: vec![text()],
            reason: Some(text()),
            before: Some(RecordedCall { name: text(), arguments: text() }),
            after: vec![RecordedCall { name: text(), arguments: text() }],
        }],
        tool_calls: vec![call()],
        left_out: 1,
        passed_on: true,
        sampled: true,
        counted_as: text(),
    }
}

fn request() -> UpstreamRequest {
    UpstreamRequest {
        url: String::new(),
        model: String::new(),
        goes_on: true,
        start_ms: Millis::default(),
        first_byte_ms: Some(Millis::default()),
        duration_ms: Millis::default(),
        answered_by: Some(String::new()),
        outcome: "refused",
        status: Some(400),
        retry_after_seconds: Some(1),
        finish_reason: Some("stop"),
        usage: Some(TokenUsage::default()),
        span_id: String::new(),
        learned: vec!["x"],
        reply: Some(String::new()),
        reply_bytes: Some(1),
        reply_broken: true,
    }
}

fn call() -> ToolCall {
    ToolCall {
        outcome: Some(ToolOutcome::Execution),
        queued_ms: Some(Millis::default()),
        duration_ms: Some(Millis::default()),
        changed_state: Some(true),
        arguments: Some(String::new()),
        result_bytes: Some(1),
        result: Some(String::new()),
        ..ToolCall::new("x", "x", RunBy::Character, Millis::default())
    }
}

/// The paths to all values, such as `tool_calls[].name`. A list of plain values is one itself.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            fields.iter().for_each(|(name, value)| paths(value, &below(name), found));
        }
        Value::Array(list) if list.iter().all(Value::is_object) => {
            list.iter().for_each(|value| paths(value, &format!("{path}[]"), found));
        }
        _ => found.push(path.to_owned()),
    }
}

/// The first cells of the tables under the first heading.
fn documented() -> Vec<String> {
    let section = PAGE.split("\n## ").nth(1).unwrap();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    cells.flat_map(|cell| cell.split('`').step_by(2).filter(|name| !name.is_empty())).map(str::to_owned).collect()
}

#[test]
fn every_field_is_documented_once() {
    let (mut given, listed) = (Vec::new(), documented());
    paths(&serde_json::from_str(&full().to_json()).unwrap(), "", &mut given);
    let (given, once): (BTreeSet<String>, BTreeSet<String>) =
        (given.into_iter().collect(), listed.iter().cloned().collect());
    assert_eq!(listed.len(), once.len(), "a field is listed twice: {listed:?}");
    let only =
        |these: &BTreeSet<String>, those: &BTreeSet<String>| these.difference(those).cloned().collect::<Vec<_>>();
    assert_eq!((only(&given, &once), only(&once, &given)), (vec![], vec![]), "not in docs/traces.md; only there");
}
