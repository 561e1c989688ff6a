//! A reply as events of the Responses API, from the same deltas as the chunks of Chat Completions.

use serde_json::{Value, json};

use crate::scenario::Scenario;

/// The events with their framing.
pub(crate) fn responses_events(scenario: Scenario) -> Vec<String> {
    let mut item = item(scenario, "");
    let mut events = vec![
        json!({ "type": "response.created", "response": response(scenario, "in_progress", &json!([])) }),
        json!({ "type": "response.in_progress", "response": response(scenario, "in_progress", &json!([])) }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
    ];
    let pieces = pieces(scenario);
    events.extend(pieces.iter().map(|piece| delta(scenario, piece)));
    item = self::item(scenario, &pieces.concat());
    events.push(json!({ "type": "response.output_item.done", "output_index": 0, "item": item }));
    events.push(json!({ "type": "response.completed", "response": response(scenario, "completed", &json!([item])) }));
    events.iter().enumerate().map(|(number, event)| framed(number, event)).collect()
}

/// The pieces of the text, or of the arguments.
fn pieces(scenario: Scenario) -> Vec<String> {
    let piece = |delta: &Value| {
        let arguments = delta.pointer("/tool_calls/0/function/arguments");
        arguments.or(delta.get("content"))?.as_str().filter(|piece| !piece.is_empty()).map(str::to_owned)
    };
    scenario.deltas().iter().filter_map(piece).collect()
}

fn delta(scenario: Scenario, piece: &str) -> Value {
    if scenario.is_call() {
        let kind = "response.function_call_arguments.delta";
        return json!({ "type": kind, "item_id": "item_1", "output_index": 0, "delta": piece });
    }
    json!({ "type": "response.output_text.delta", "item_id": "item_1", "output_index": 0, "content_index": 0,
        "delta": piece, "logprobs": [] })
}

fn item(scenario: Scenario, content: &str) -> Value {
    let status = if content.is_empty() { "in_progress" } else { "completed" };
    if scenario.is_call() {
        let message = scenario.message();
        let call = message.pointer("/tool_calls/0").unwrap_or(&Value::Null);
        return json!({ "id": "item_1", "type": "function_call", "status": status, "call_id": call["id"],
            "name": call["function"]["name"], "arguments": content });
    }
    let parts = json!([{ "type": "output_text", "text": content, "annotations": [] }]);
    json!({ "id": "item_1", "type": "message", "status": status, "role": "assistant", "content": parts })
}

fn response(scenario: Scenario, status: &str, output: &Value) -> Value {
    json!({ "id": "resp_4f0c9d2b7a6e41c3b85d", "object": "response", "created_at": 1_767_225_600, "status": status,
        "model": scenario.name(), "output": output, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "usage": { "input_tokens": 1450, "output_tokens": 200, "total_tokens": 1650 } })
}

fn framed(number: usize, event: &Value) -> String {
    let mut event = event.clone();
    event["sequence_number"] = number.into();
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_has_the_whole_reply() {
        for (scenario, expected) in
            [(Scenario::StreamedToolCall, "src/retry.rs"), (Scenario::ShortText, "The delay now doubles checked.")]
        {
            let events = responses_events(scenario);
            let last = events.last().expect("a last event");
            assert!(last.starts_with("event: response.completed\ndata: ") && last.contains(expected), "{last}");
        }
    }
}
