//! Models in this process. They take the same requests and give the same replies as model servers do.

use std::fmt;

use callboard_core::rehearsal;
use serde_json::Value;

use crate::random;

/// A model in this process.
pub trait LocalModel: Send + Sync {
    /// Answers the body of a chat request with the body of a whole chat reply.
    fn reply(&self, request: &[u8]) -> Vec<u8>;
}

impl fmt::Debug for dyn LocalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalModel")
    }
}

/// The built-in rule-based model.
pub(super) struct Rehearsal;

impl LocalModel for Rehearsal {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let request = serde_json::from_slice(request).unwrap_or_default();
        let mut reply = rehearsal::reply(&request);
        add_call_ids(&mut reply);
        reply.to_string().into_bytes()
    }
}

/// The rules are deterministic, so the ids of calls are added here.
fn add_call_ids(reply: &mut Value) {
    let calls = reply.pointer_mut("/choices/0/message/tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten() {
        if let Some(fields) = call.as_object_mut() {
            fields.insert("id".to_owned(), format!("call_{}", random::letters::<24>()).into());
        }
    }
}
