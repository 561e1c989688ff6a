//! A model that does what a scenario says, reply by reply.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::scenario::{ScriptedCall, ScriptedReply};
use crate::upstream::LocalModel;

/// The scripted model, and what it was asked.
#[derive(Default)]
pub(super) struct Script {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    replies: VecDeque<ScriptedReply>,
    requests: Vec<Value>,
}

impl Script {
    /// Puts the replies of the next turn in place; what was left over of the last turn comes back.
    pub(super) fn arm(&self, replies: &[ScriptedReply]) -> usize {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let left = inner.replies.len();
        inner.replies = replies.iter().cloned().collect();
        inner.requests.clear();
        left
    }

    /// What the model was asked in this turn.
    pub(super) fn requests(&self) -> Vec<Value> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// Replies that nobody asked for.
    pub(super) fn left(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).replies.len()
    }
}

impl LocalModel for Script {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.requests.push(serde_json::from_slice(request).unwrap_or_default());
        match inner.replies.pop_front() {
            Some(reply) => body(&reply).to_string().into_bytes(),
            None => json!({"error": {"message": "the scenario has no further reply of the model for this turn"}})
                .to_string()
                .into_bytes(),
        }
    }
}

fn body(reply: &ScriptedReply) -> Value {
    let calls: Vec<Value> = reply.calls.iter().map(call).collect();
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let message = json!({"role": "assistant", "content": reply.text, "tool_calls": calls});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]})
}

fn call(call: &ScriptedCall) -> Value {
    let arguments = call.raw_arguments.clone().unwrap_or_else(|| json!(call.arguments).to_string());
    json!({"type": "function", "function": {"name": call.tool, "arguments": arguments}})
}
