//! Requests of many items.

use callboard_core::contract::ToolCache;
use callboard_core::wire::responses::{CompactionRequest, CompactionStamp};
use serde_json::{Value, json};

use super::cpu_time::is_linear;

const SIZE: usize = 500;

fn compact(calls: usize) {
    let call =
        |number: usize| json!({"type": "function_call", "call_id": number.to_string(), "name": "f", "arguments": "{}"});
    let input: Vec<Value> = (0..calls).map(call).collect();
    let body = json!({"model": "m", "input": input}).to_string();
    let request = CompactionRequest::read(body.into_bytes()).unwrap();
    let stamp = CompactionStamp {
        id: "cmpr_1".to_owned(),
        created_at: 1,
        model: "m".to_owned(),
        new_id: Box::new(|prefix| format!("{prefix}_1")),
    };
    request.prepare(Vec::new(), stamp, &ToolCache::default()).unwrap();
}

#[test]
fn calls_without_outputs_are_compacted_in_linear_time() {
    assert!(is_linear(SIZE, &compact));
}
