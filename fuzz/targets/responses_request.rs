//! A client's request to the Responses API: it becomes a chat request that our own reader accepts, and its input can be stored
//! and continued.

use callboard_core::contract::ToolCache;
use callboard_core::turn::ModelCall;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::responses::{NewId, ResponsesRequest};
use serde_json::Value;

use super::fields::{fields, joined};
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "\"model\":\"m\"",
    "\"input\":\"a\"",
    "\"input\":[",
    "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"a\"}]}",
    "{\"type\":\"message\",\"id\":\"msg_1\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"a\"}]}",
    "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}",
    "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"a\"}",
    "{\"type\":\"custom_tool_call\",\"call_id\":\"c\",\"name\":\"f\",\"input\":\"a\"}",
    "{\"type\":\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":\"a\"}",
    "{\"type\":\"item_reference\",\"id\":\"msg_1\"}",
    "{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"a\"}]}",
    "{\"type\":\"function\",\"name\":\"f\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}",
    "{\"type\":\"custom\",\"name\":\"f\",\"format\":{\"type\":\"text\"}}",
    "{\"type\":\"namespace\",\"name\":\"n\",\"tools\":[",
    "{\"type\":\"web_search\"}",
    "\"tools\":[",
    "\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"}",
    "\"tool_choice\":\"required\"",
    "\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"a\",\"schema\":",
    "\"include\":[\"message.output_text.logprobs\"]",
    "\"reasoning\":{\"effort\":\"low\"}",
    "\"max_output_tokens\":1",
];

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    let bodies = golden.responses_requests.iter();
    bodies.map(|body| joined(&[body.as_bytes(), b"[]"])).chain(with_stored_items(golden)).collect()
}

fn with_stored_items(golden: &GoldenParts) -> impl Iterator<Item = Vec<u8>> {
    let body: &[u8] = br#"{"model":"m","input":"a"}"#;
    golden.stored_items.iter().map(move |items| joined(&[body, items.as_bytes()]))
}

/// Fields: the body, and the stored items of earlier turns.
pub(crate) fn run(data: &[u8]) {
    let [body, earlier] = fields(data);
    let request = match ResponsesRequest::read(body.to_vec()) {
        Ok(request) => request,
        Err(refusal) => return assert!(!refusal.message.is_empty()),
    };
    let stored = serde_json::from_slice::<Vec<Value>>(earlier).unwrap_or_default();
    let mut number = 0;
    let mut new_id: NewId = Box::new(move |prefix| {
        number += 1;
        format!("{prefix}_{number}")
    });
    let items = request.input_items(&mut new_id);
    let Ok((chat, _)) = request.chat_request(&stored, &ToolCache::default()) else { return };
    let sent = chat.upstream_body(&ModelCall::default());
    let read = ChatRequest::read(sent.clone(), &ToolCache::default());
    assert!(read.is_ok(), "{:?} in {}", read.err(), String::from_utf8_lossy(&sent));
    let continued: Vec<Value> = stored.into_iter().chain(items).collect();
    check_continued(&continued);
}

/// What was accepted and stored is accepted as the earlier part of the next request.
fn check_continued(items: &[Value]) {
    let next = ResponsesRequest::read(br#"{"model":"m","input":"more"}"#.to_vec()).expect("a plain request");
    let read = next.chat_request(items, &ToolCache::default());
    assert!(read.is_ok(), "{:?} after {items:?}", read.err());
}
