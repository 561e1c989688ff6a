//! The schemas of the specification: which fields responses, items, parts, events and error envelopes have, and of which types.
//!
//! They are strict about what must be there; further fields are allowed, as in the specification.

use serde_json::Value;

/// Fields with the types that JSON knows. A `?` stands before those of a field that may be missing.
type Fields = &'static [(&'static str, &'static str)];

const RESPONSE: Fields = &[
    ("id", "string"),
    ("object", "string"),
    ("created_at", "integer"),
    ("completed_at", "integer null"),
    ("status", "string"),
    ("incomplete_details", "object null"),
    ("model", "string"),
    ("previous_response_id", "string null"),
    ("instructions", "string null"),
    ("output", "array"),
    ("error", "object null"),
    ("tools", "array"),
    ("tool_choice", "string object"),
    ("truncation", "string"),
    ("parallel_tool_calls", "boolean"),
    ("text", "object"),
    ("top_p", "number integer"),
    ("presence_penalty", "number integer"),
    ("frequency_penalty", "number integer"),
    ("top_logprobs", "integer"),
    ("temperature", "number integer"),
    ("reasoning", "object null"),
    ("usage", "object null"),
    ("max_output_tokens", "integer null"),
    ("max_tool_calls", "integer null"),
    ("store", "boolean"),
    ("background", "boolean"),
    ("service_tier", "string"),
    ("metadata", "object"),
    ("safety_identifier", "string null"),
    ("prompt_cache_key", "string null"),
];

const ITEMS: &[(&str, Fields)] = &[
    ("message", &[("role", "string"), ("content", "array"), ("phase", "? string")]),
    ("function_call", &[("call_id", "string"), ("name", "string"), ("arguments", "string")]),
    ("function_call_output", &[("call_id", "string"), ("output", "string array")]),
    ("reasoning", &[("summary", "array"), ("content", "? array"), ("encrypted_content", "? string")]),
    ("compaction", &[("encrypted_content", "string")]),
];

const PARTS: &[(&str, Fields)] = &[
    ("output_text", &[("text", "string"), ("annotations", "array"), ("logprobs", "? array")]),
    ("refusal", &[("refusal", "string")]),
    ("summary_text", &[("text", "string")]),
    ("reasoning_text", &[("text", "string")]),
    ("input_text", &[("text", "string")]),
    ("input_image", &[("image_url", "string null"), ("detail", "string")]),
    ("input_file", &[("filename", "? string"), ("file_url", "? string")]),
    ("input_video", &[("video_url", "string")]),
];

const OF_RESPONSE: Fields = &[("response", "object")];
const OF_ITEM: Fields = &[("output_index", "integer"), ("item", "object null")];
const OF_PART: Fields =
    &[("item_id", "string"), ("output_index", "integer"), ("content_index", "integer"), ("part", "object")];

/// The events, by their types without `response.`.
const EVENTS: &[(&str, Fields)] = &[
    ("created", OF_RESPONSE),
    ("queued", OF_RESPONSE),
    ("in_progress", OF_RESPONSE),
    ("completed", OF_RESPONSE),
    ("failed", OF_RESPONSE),
    ("incomplete", OF_RESPONSE),
    ("output_item.added", OF_ITEM),
    ("output_item.done", OF_ITEM),
    ("content_part.added", OF_PART),
    ("content_part.done", OF_PART),
    (
        "output_text.delta",
        &[("item_id", "string"), ("content_index", "integer"), ("delta", "string"), ("logprobs", "? array")],
    ),
    (
        "output_text.done",
        &[("item_id", "string"), ("content_index", "integer"), ("text", "string"), ("logprobs", "? array")],
    ),
    (
        "output_text.annotation.added",
        &[("item_id", "string"), ("annotation_index", "integer"), ("annotation", "object null")],
    ),
    ("refusal.delta", &[("item_id", "string"), ("content_index", "integer"), ("delta", "string")]),
    ("refusal.done", &[("item_id", "string"), ("content_index", "integer"), ("refusal", "string")]),
    // Under the name of OpenAI's SDKs.
    ("reasoning_text.delta", &[("item_id", "string"), ("content_index", "integer"), ("delta", "string")]),
    ("reasoning_text.done", &[("item_id", "string"), ("content_index", "integer"), ("text", "string")]),
    ("reasoning_summary_part.added", &[("item_id", "string"), ("summary_index", "integer"), ("part", "object")]),
    ("reasoning_summary_part.done", &[("item_id", "string"), ("summary_index", "integer"), ("part", "object")]),
    ("reasoning_summary_text.delta", &[("item_id", "string"), ("summary_index", "integer"), ("delta", "string")]),
    ("reasoning_summary_text.done", &[("item_id", "string"), ("summary_index", "integer"), ("text", "string")]),
    ("function_call_arguments.delta", &[("item_id", "string"), ("output_index", "integer"), ("delta", "string")]),
    ("function_call_arguments.done", &[("item_id", "string"), ("output_index", "integer"), ("arguments", "string")]),
];

const ERROR: Fields =
    &[("message", "string"), ("type", "? string"), ("code", "string null"), ("param", "? string null")];

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check_fields(value: &Value, fields: Fields) {
    for (name, types) in fields {
        match value.get(name) {
            None => assert!(types.starts_with('?'), "{name} is missing: {value}"),
            Some(field) => assert!(types.split(' ').any(|one| one == type_of(field)), "{name} is {field}: {value}"),
        }
    }
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The names of the fields of a response.
pub(super) fn response_fields() -> impl Iterator<Item = &'static str> {
    RESPONSE.iter().map(|(name, _)| *name)
}

/// Checks a response object.
pub(super) fn check_response(response: &Value) {
    check_fields(response, RESPONSE);
    assert_eq!(response["object"], "response");
    for tool in list(response, "tools").filter(|tool| tool["type"] == "function") {
        let fields: Fields = &[
            ("name", "string"),
            ("description", "string null"),
            ("parameters", "object null"),
            ("strict", "boolean null"),
        ];
        check_fields(tool, fields);
    }
    for item in list(response, "output") {
        check_item(item);
        assert!(item["status"] != "incomplete" || response["status"] == "incomplete", "{response}");
    }
    let usage = &response["usage"];
    if !usage.is_null() {
        check_usage(usage);
    }
}

pub(super) fn check_usage(usage: &Value) {
    check_fields(usage, &[("input_tokens", "integer"), ("output_tokens", "integer"), ("total_tokens", "integer")]);
    check_fields(&usage["input_tokens_details"], &[("cached_tokens", "integer")]);
    check_fields(&usage["output_tokens_details"], &[("reasoning_tokens", "integer")]);
}

/// Checks an item and its parts.
pub(super) fn check_item(item: &Value) {
    let kind = item["type"].as_str().unwrap_or_default();
    // One of OpenAI's, or of Callboard's: its fields are documented.
    let fields = ITEMS.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, fields)| fields);
    assert!(!fields.is_empty() || OWN_ITEMS.contains(&kind), "an unknown item: {item}");
    check_fields(item, &[("type", "string"), ("id", "string"), ("status", "string")]);
    check_fields(item, fields);
    let statuses = if kind == "mcp_call" { &["failed", "calling"][..] } else { &[] };
    let status = item["status"].as_str().unwrap();
    assert!(["in_progress", "completed", "incomplete"].iter().chain(statuses).any(|known| *known == status), "{item}");
    list(item, "content").chain(list(item, "summary")).for_each(check_part);
}

/// Items that the specification does not have.
pub(super) const OWN_ITEMS: [&str; 2] = ["mcp_call", "custom_tool_call"];

fn check_part(part: &Value) {
    let kind = part["type"].as_str().unwrap_or_default();
    let found = PARTS.iter().find(|(known, _)| *known == kind);
    check_fields(part, found.unwrap_or_else(|| panic!("an unknown part: {part}")).1);
    for annotation in list(part, "annotations") {
        check_fields(
            annotation,
            &[("url", "string"), ("title", "string"), ("start_index", "integer"), ("end_index", "integer")],
        );
    }
}

/// Checks an event, with what is in it. One of Callboard's own has a type and a number.
pub(super) fn check_event(event: &Value) {
    check_fields(event, &[("type", "string")]);
    let kind = event["type"].as_str().unwrap();
    if kind == "error" {
        return check_fields(&event["error"], ERROR);
    }
    check_fields(event, &[("sequence_number", "integer")]);
    let known = kind.strip_prefix("response.").and_then(|kind| EVENTS.iter().find(|(known, _)| *known == kind));
    match known {
        Some((_, fields)) => check_fields(event, fields),
        None => assert!(OWN_EVENTS.iter().any(|own| kind.starts_with(own)), "an unknown event: {event}"),
    }
    event.get("response").into_iter().for_each(check_response);
    event.get("item").into_iter().for_each(check_item);
    event.get("part").into_iter().for_each(check_part);
}

/// How events begin that the specification does not have.
pub(super) const OWN_EVENTS: [&str; 3] =
    ["response.mcp_call.", "response.mcp_call_arguments.", "response.custom_tool_call_input."];

/// Checks the envelope of an error on a WebSocket.
pub(super) fn check_envelope(event: &Value) {
    check_fields(event, &[("type", "string"), ("status", "integer"), ("error", "object")]);
    assert!(event["type"] == "error" && event.get("sequence_number").is_none(), "{event}");
    check_fields(&event["error"], &[("code", "string"), ("message", "string")]);
}

/// Checks the object that a compaction returns.
pub(super) fn check_compaction(object: &Value) {
    check_fields(
        object,
        &[("id", "string"), ("object", "string"), ("created_at", "integer"), ("output", "array"), ("usage", "object")],
    );
    assert_eq!(object["object"], "response.compaction");
    list(object, "output").for_each(check_item);
    check_usage(&object["usage"]);
}
