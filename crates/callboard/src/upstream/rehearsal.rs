//! The rehearsal model: rule-based, in this process, always there.

use callboard_core::rehearsal;
use serde_json::Value;

use super::LocalModel;
use crate::random;

/// Callboard's own model.
pub struct Rehearsal;

impl LocalModel for Rehearsal {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let request = serde_json::from_slice(request).unwrap_or_default();
        let mut reply = rehearsal::reply(&request);
        name_calls(&mut reply);
        reply.to_string().into_bytes()
    }
}

/// Rules have no randomness of their own, so the ids of calls are added here.
fn name_calls(reply: &mut Value) {
    let calls = reply.pointer_mut("/choices/0/message/tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten() {
        if let Some(fields) = call.as_object_mut() {
            fields.insert("id".to_owned(), format!("call_{}", random::letters::<24>()).into());
        }
    }
}
