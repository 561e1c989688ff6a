//! Requests of this suite, and the events of a stream.

use callboard_test_support::{Answer, Program, ask};
use serde_json::{Value, json};

pub(super) const JSON: [&str; 1] = ["content-type: application/json"];

/// Asks the model `m` for a response with these fields.
pub(super) fn create(program: &Program, fields: &Value) -> Answer {
    let mut body = json!({"model": "m", "input": "Hi"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    ask(&program.address, "POST", "/v1/responses", &JSON, &body.to_string())
}

/// The events of a stream with their names, without comments and the end.
pub(super) fn events(answer: &Answer) -> Vec<(String, Value)> {
    let body =
        answer.body.strip_suffix("data: [DONE]\n\n").unwrap_or_else(|| panic!("no [DONE] at the end: {answer:?}"));
    let blocks = body.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':'));
    let read = |block: &str| {
        let (name, data) = block.split_once("\ndata: ").unwrap_or_else(|| panic!("{block:?}"));
        (name.strip_prefix("event: ").unwrap().to_owned(), serde_json::from_str(data).unwrap())
    };
    blocks.map(read).collect()
}
